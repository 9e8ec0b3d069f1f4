"""How long a run may go on."""

from __future__ import annotations

import math
from typing import NamedTuple


class Limits(NamedTuple):
    """Budgets of a run; None is unlimited."""

    iterations: int | None
    calls: int | None
    seconds: float | None

    def fraction(self, iterations: int, calls: int, seconds: float) -> float:
        """Share of the tightest budget that is used, at most 1; NaN without any."""
        shares = []
        if self.iterations is not None:
            shares.append(iterations / max(self.iterations, 1))
        if self.calls is not None:
            shares.append(calls / max(self.calls, 1))
        if self.seconds is not None:
            shares.append(seconds / max(self.seconds, 1e-9))
        return min(max(shares), 1.0) if shares else math.nan

    def spent(self, iteration: int, seconds: float) -> str | None:
        """Which budget is spent, as a sentence; that of calls is the oracle's to watch."""
        if self.iterations is not None and iteration >= self.iterations:
            return f"The budget of {self.iterations} iterations is spent."
        if self.seconds is not None and seconds >= self.seconds:
            return f"The budget of {self.seconds:g} s is spent."
        return None
