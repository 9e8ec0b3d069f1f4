"""A black box that records the best point at which it was ever evaluated."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from zoviz.core import defaults
from zoviz.core.ranking import first, ranks
from zoviz.core.types import Array, Evaluation
from zoviz.problems.user.blackbox import BlackBox


class BestPoint:
    """The best point so far: the lowest f among feasible points; before the first of them the least violating.

    Attributes
    ----------
    x : Array, shape (n,)
    f : float
    h : Array, shape (m,)
    violation : float
        The largest of 0 and h.
    points : int
        Points seen.
    failure_message : str
        Why the first evaluation that failed did so.
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance, self.points = tolerance, 0
        self.x, self.f, self.violation, self.h = np.empty(0), np.inf, np.inf, np.empty(0)
        self._rank = np.inf, np.inf
        self.failure_message = ""

    @property
    def feasible(self) -> bool:
        """Whether some point had all h <= tolerance."""
        return self._rank[0] == 0.0

    def enter(self, x: Array, value: Evaluation) -> None:
        """Enter points (k, n) of X and their values; those that are not finite are passed over."""
        self.points += len(x)
        if not len(x):
            return
        violation, f = ranks(value, self.tolerance)
        i = first(violation, f)
        rank = float(violation[i]), float(f[i])
        if rank < self._rank:
            self._rank = rank
            self.x, self.f, self.h = x[i].copy(), rank[1], value.h[i].copy()
            self.violation = float(self.h.max(initial=0.0))


class RecordingBlackBox(BlackBox):
    """A black box with a best point, which its clones share, as they do its processes: one evaluates at a time."""

    __abstract = True

    def __init__(self, *arguments: Any, best: BestPoint | None = None, **params: Any) -> None:
        super().__init__(*arguments, **params)
        self.best = BestPoint(defaults.FEASIBILITY_TOLERANCE) if best is None else best

    def clone(self) -> Self:
        """Return a clone that enters its values into the same best point."""
        clone = super().clone()
        clone.best, clone._evaluator = self.best, self._evaluator
        return clone

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return values at x (..., n), and enter those inside the bounds: differences may probe just outside."""
        value = super().evaluate(x, xi)
        self.best.failure_message = self.best.failure_message or self.failure_message
        inside = self.domain.contains(x, 0.0)
        self.best.enter(x[inside], Evaluation(value.f[inside], value.h[inside]))
        return value
