"""The best point at which a problem was ever evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zoviz.core import defaults
from zoviz.core.ranking import first, ranks
from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation

_SEEN = ("tolerance", "_unit", "x", "f", "h", "violation", "points", "_rank")


class BestPoint:
    """The best point so far: the lowest f among feasible points; before the first of them the least violating.

    Parameters
    ----------
    tolerance : float or None
        Largest h that counts as feasible. None: relative to the sizes of rows, which ``size`` tells; until then they
        count as 1, and all points are kept to be ranked again.
    domain : Set
        Points outside are passed over: where a problem does not keep its bounds, differences may probe there.

    Attributes
    ----------
    tolerance : float or Array, shape (m,)
        Largest h that counts as feasible.
    x : Array, shape (n,)
    f : float
    h : Array, shape (m,)
    violation : float
        The largest of 0 and h.
    points : int
        Points of the domain seen.
    """

    def __init__(self, tolerance: float | None, domain: Set) -> None:
        self._domain = domain
        self._waiting: list[tuple[Array, Evaluation]] | None = [] if tolerance is None else None
        self._begin(defaults.FEASIBILITY_TOLERANCE if tolerance is None else tolerance, 1.0)

    def _begin(self, tolerance: float | Array, unit: float | Array) -> None:
        self.tolerance, self._unit, self.points = tolerance, unit, 0
        self.x, self.f, self.violation, self.h = np.empty(0), np.inf, np.inf, np.empty(0)
        self._rank = np.inf, np.inf

    @property
    def feasible(self) -> bool:
        """Whether some point had all h <= tolerance."""
        return self._rank[0] == 0.0

    def in_units(self, value: Evaluation) -> tuple[Evaluation, float | Array]:
        """Return values with rows in units in which they can be compared, and the tolerance of these."""
        return Evaluation(value.f, value.h / self._unit), self.tolerance / self._unit

    def in_user_units(self, value: Evaluation) -> Evaluation:
        """Return the values of which ``in_units`` returned these, to the bit."""
        return Evaluation(value.f, value.h * self._unit)

    def size(self, tolerance: Array) -> None:
        """Take the tolerances (m,) that the sizes of the rows give, and rank again what came before."""
        if self._waiting is None:
            return
        waiting, self._waiting = self._waiting, None
        size = np.where(tolerance > 0.0, tolerance / defaults.FEASIBILITY_TOLERANCE, 1.0)
        self._begin(tolerance, np.exp2(np.round(np.log2(size))))  # powers of 2, so that nothing is rounded
        for x, value in waiting:
            self.enter(x, value)

    def enter(self, x: Array, value: Evaluation) -> None:
        """Enter points (k, n) and their values; those that are not finite are passed over."""
        if self._waiting is not None:
            self._waiting.append((x.copy(), value))
        inside = self._domain.contains(x, 0.0)
        x, value = x[inside], Evaluation(value.f[inside], value.h[inside])
        self.points += len(x)
        if not len(x):
            return
        violation, f = ranks(*self.in_units(value))
        i = first(violation, f)
        rank = float(violation[i]), float(f[i])
        if rank < self._rank:
            self._rank = rank
            self.x, self.f, self.h = x[i].copy(), rank[1], value.h[i].copy()
            self.violation = float(self.h.max(initial=0.0))

    def snapshot(self) -> dict[str, Any]:
        """Return the best point and how points are compared, as checkpoints hold it."""
        return {name: getattr(self, name) for name in _SEEN}

    def restore(self, seen: Mapping[str, Any]) -> None:
        """Go on from a ``snapshot``."""
        self._waiting = None
        for name in _SEEN:
            setattr(self, name, seen[name])

    def words(self, h: Array) -> str:
        """Return the words on by how much h (m,) violates in the worst of its rows, and what is allowed there.

        It is a row beyond its tolerance where there is one.
        """
        beyond = h > self.tolerance
        j = int(np.argmax(np.where(beyond | ~beyond.any(), h / self._unit, -np.inf)))
        allowed = np.full(h.shape, self.tolerance)[j]
        return f"by {h[j]:.3g} (row {j + 1}, where {allowed:.3g} is allowed)"
