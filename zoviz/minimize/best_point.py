"""The best point at which a problem was ever evaluated."""

from __future__ import annotations

import numpy as np

from zoviz.core.ranking import first, ranks
from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation


class BestPoint:
    """The best point so far: the lowest f among feasible points; before the first of them the least violating.

    Parameters
    ----------
    tolerance : float
        Largest h that counts as feasible.
    domain : Set
        Points outside are passed over: where a problem does not keep its bounds, differences may probe there.

    Attributes
    ----------
    x : Array, shape (n,)
    f : float
    h : Array, shape (m,)
    violation : float
        The largest of 0 and h.
    points : int
        Points of the domain seen.
    """

    def __init__(self, tolerance: float, domain: Set) -> None:
        self.tolerance, self._domain, self.points = tolerance, domain, 0
        self.x, self.f, self.violation, self.h = np.empty(0), np.inf, np.inf, np.empty(0)
        self._rank = np.inf, np.inf

    @property
    def feasible(self) -> bool:
        """Whether some point had all h <= tolerance."""
        return self._rank[0] == 0.0

    def enter(self, x: Array, value: Evaluation) -> None:
        """Enter points (k, n) and their values; those that are not finite are passed over."""
        inside = self._domain.contains(x, 0.0)
        x, value = x[inside], Evaluation(value.f[inside], value.h[inside])
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
