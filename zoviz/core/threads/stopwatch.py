"""The computing time of a run, pauses not counted."""

from __future__ import annotations

import time
from types import TracebackType


class Stopwatch:
    """A clock that runs within its ``with`` blocks only.

    Attributes
    ----------
    seconds : float
        The time of all blocks that have ended.
    """

    def __init__(self) -> None:
        self.seconds, self._since = 0.0, 0.0
        self._runs = False

    def __enter__(self) -> None:
        self._since, self._runs = time.perf_counter(), True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.seconds += time.perf_counter() - self._since
        self._runs = False

    @property
    def now(self) -> float:
        """The seconds so far, those of the block that has not ended included."""
        return self.seconds + (time.perf_counter() - self._since if self._runs else 0.0)
