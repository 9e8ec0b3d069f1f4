"""Where calls fail: the points that failed, those that did not, and the wall between them near a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import SQPConstants
from zoviz.solvers.sqp.elastic_qp import Linearisation, solve

_NEIGHBOURS = 4
"""The nearest points of either kind that define the wall: this number, and two for each variable."""
_KEPT = 400
"""Points of either kind that are kept, the newest."""
_MORE_OFTEN = 3.0
"""How much more often trials fail than differences where failures are local."""
_SOFT = 1e3
"""Price of a point on the wrong side, over the width of the gap."""


class Failures(NamedTuple):
    """The points that failed, and those tried that did not, (f, n) and (g, n).

    A *wall* is parallel to the plane in the middle of the widest gap between them near a point, as a support vector
    machine finds it (Cortes and Vapnik, 1995): where normal @ x >= offset calls are expected to succeed.

    They are taken to tell where calls fail only if trials fail far more often than the differences around points that
    did not fail: else they fail by chance, or for a reason that is not the place.
    """

    failed: Array
    good: Array
    differences: tuple[int, int] = (0, 0)
    """How many calls of differences were made, and how many of them failed."""

    @classmethod
    def none(cls, n: int) -> Failures:
        """Return an empty record of failures, for n variables."""
        return cls(np.empty((0, n)), np.empty((0, n)))

    def add(self, points: Array, values: Array) -> Failures:
        """Return it after calls at points (q, n) gave values (q, 1 + m), not finite where they failed."""
        made = np.isfinite(values).all(axis=1)
        parts = ((self.failed, points[~made]), (self.good, points[made]))
        failed, good = (np.concatenate(part)[-_KEPT:] for part in parts)
        return self._replace(failed=failed, good=good)

    def add_differences(self, values: Array) -> Failures:
        """Return it after differences around a point gave values (q, 1 + m)."""
        made, failed = self.differences
        return self._replace(differences=(made + len(values), failed + int((~np.isfinite(values).all(axis=1)).sum())))

    @property
    def local(self) -> bool:
        """Whether calls fail by place."""
        made, failed = self.differences
        tried = len(self.failed) + len(self.good)
        return bool(len(self.failed) / max(tried, 1) > _MORE_OFTEN * (failed + 1) / (made + 1))

    def expects(self, x: Array, scale: Array) -> bool:
        """Return whether a call at x (n,) is expected to fail, as the one nearest to it did, in units of scale (n,)."""
        if not self.local:
            return False
        failed, good = (
            np.square((points - x) / scale).sum(axis=1).min(initial=np.inf) for points in (self.failed, self.good)
        )
        return bool(failed < good)

    def near(self, x: Array, scale: Array, distance: float) -> bool:
        """Return whether calls fail by place, and one failed within a distance of x (n,) in units of scale (n,)."""
        return self.local and bool((np.square((self.failed - x) / scale).sum(axis=1) <= distance**2).any())

    def wall(self, x: Array, scale: Array, c: SQPConstants, fine: bool = False) -> Array:
        """Return normal (n,) and offset of a wall near x (n,), as one array; empty where nothing near failed.

        It stands before the middle of the gap, so that most calls near it succeed.

        Parameters
        ----------
        x : Array, shape (n,)
            A point that did not fail.
        scale : Array, shape (n,)
            Lengths of the variables.
        c : SQPConstants
        fine : bool
            Whether it is for a run's second, finer part, whose differences are shorter than what it keeps.
        """
        n = len(x)
        if not self.local:
            return np.empty(0)
        count = _NEIGHBOURS + 2 * n
        near = [_nearest((points - x) / scale, count) for points in (self.failed, np.vstack([self.good, x]))]
        size = np.abs(near[0][0]).max()  # x is 0, and the nearest failure about 1
        side = np.append(-np.ones(len(near[0])), np.ones(len(near[1])))
        rows = -side[:, None] * np.column_stack([np.concatenate(near) / size, np.ones(len(side))])
        everywhere = np.full(n + 1, 1e6)
        # Without a price of its own the offset would be free; a small one keeps the programme's minimiser one point.
        bend = np.diag(np.append(np.ones(n), 1e-6))
        gap = solve(Linearisation(bend, np.zeros(n + 1), rows, np.ones(len(side)), -everywhere, everywhere), _SOFT)
        normal, level = gap.d[:n] / (size * scale), float(gap.d[n])
        if not (level > 0.0 and normal.any()):
            return np.empty(0)
        kept = max(c.gap_kept, c.wall_kept[fine] * float(np.sqrt(np.square(normal * scale).sum())))
        return np.append(normal, normal @ x - level + kept)


def _nearest(steps: Array, count: int) -> Array:
    """Return those of steps (q, n) from a point that are the shortest, the shortest first."""
    return steps[np.argsort(np.square(steps).sum(axis=1), kind="stable")[:count]]
