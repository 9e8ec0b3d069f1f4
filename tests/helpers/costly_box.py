"""A black box whose calls take a time of their own, by a clock that nothing else advances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.core.threads import stopwatch
from zoviz.core.types import Array


class CostlyBox:
    """f = ||x - 0.3||^2, whose calls take ``cost`` seconds each, in whatever process they are made.

    Parameters
    ----------
    monkeypatch : MonkeyPatch
        Puts the clock in the place of a run's.
    path : Path
        A file that is to be: it has a byte for each call.
    cost : float
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path, cost: float = 0.05) -> None:
        self._path, self._cost = path, cost
        path.write_bytes(b"")
        monkeypatch.setattr(stopwatch, "time", self)

    def __reduce__(self) -> tuple[object, ...]:
        return _Calls, (self._path,)

    def perf_counter(self) -> float:
        """Return the time that all calls together have taken."""
        return self._cost * self.calls

    @property
    def calls(self) -> int:
        """The number of calls that were begun."""
        return self._path.stat().st_size

    def __call__(self, x: Array) -> float:
        """Return f at x (n,)."""
        return _Calls(self._path)(x)

    def at(self, x: Array) -> float:
        """Return f at x (n,), at no call."""
        return float(np.square(x - 0.3).sum())


class _Calls:
    """The function without its clock, as another process has it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, x: Array) -> float:
        with self._path.open("ab") as file:
            file.write(b".")
        return float(np.square(x - 0.3).sum())
