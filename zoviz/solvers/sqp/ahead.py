"""Parallel calls without noise: workers begin with what a run may need next while it waits for what it needs now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp import derivatives
from zoviz.solvers.sqp.situation import Space
from zoviz.solvers.sqp.sqp_run import SQPRun

_SHARES = np.array([0.3, 0.1, 0.6, 0.03, 0.01, 0.2, 0.45])
"""Shares of a step that workers begin with; the first three may come before differences."""
_FIRST = 3
_KEPT = 4
"""The batches whose values are kept."""


class Ahead(NamedTuple):
    """Values (k, 1 + m) at points (k, n) that were called before they were needed, the newest last."""

    points: Array
    values: Array

    def add(self, points: Array, values: Array) -> Ahead:
        """Return it with values (q, 1 + m) at points (q, n)."""
        kept = -_KEPT * len(points) or None
        return Ahead(*(np.concatenate(both)[kept:] for both in ((self.points, points), (self.values, values))))

    def at(self, points: Array) -> tuple[np.ndarray, Array]:
        """Return which of points (q, n) are known, (q,), and values (q, 1 + m) at them, finite where they are."""
        values = np.full((len(points), self.values.shape[1]), np.nan)
        if not len(self.points):
            return np.zeros(len(points), dtype=bool), values
        same = (self.points == points[:, None]).all(axis=2)
        known = same.any(axis=1)
        values[known] = self.values[same.argmax(axis=1)[known]]
        return known & np.isfinite(values).all(axis=1), values

    def shorter(self, run: SQPRun, whole: Array, share: float, space: Space) -> float:
        """Return the share of a step of which the best value is known, of those below ``share``; 0 where none is."""
        if not len(self.points):
            return 0.0
        shares = share * _SHARES
        known, values = self.at(_along(run, whole, shares, space))
        merits = np.array([run.merit(value) if one else np.inf for one, value in zip(known, values, strict=True)])
        best = int(np.argmin(merits))
        return float(shares[best]) if np.isfinite(merits[best]) else 0.0


def among(points: Array, others: Array) -> np.ndarray:
    """Return which of points (q, n) are among others (k, n), (q,)."""
    return (points[:, None] == others).all(axis=2).any(axis=1)


def around(run: SQPRun, x: Array, space: Space) -> Array:
    """Return the points (q, n) of the differences that a run would take at x (n,)."""
    return derivatives.points(x, run.offsets(space, x), space)


def at_start(space: Space, parallel: int) -> Array:
    """Return points (k, n) that the first run needs after its start, with which workers begin."""
    return around(SQPRun.start(space.start, space.start[:0], 0, 1.0, 1.0), space.start, space)[: parallel - 1]


def after_step(run: SQPRun, x: Array, whole: Array, share: float, parallel: int, space: Space) -> Array:
    """Return points (k, n) that may be needed after a share of a step, to x (n,), with which workers begin.

    Those are differences around x, and shorter steps; these first after a step that was shortened, where there are not
    workers enough for all differences.
    """
    differences, shorter = around(run, x, space), _along(run, whole, share * _SHARES, space)
    first = 0 if run.whole or len(differences) < parallel else _FIRST
    return np.concatenate([shorter[:first], differences, shorter[first:]])[: parallel - 1]


def _along(run: SQPRun, whole: Array, shares: Array, space: Space) -> Array:
    return space.clip(run.x + space.scale * (shares[:, None] * whole))
