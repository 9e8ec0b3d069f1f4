"""The oracle as a member of a portfolio sees it: its share of the budget, and the replicas that it still works for."""

from __future__ import annotations

import numpy as np

from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation
from zoviz.core.units import Units
from zoviz.oracle import Oracle


class StageOracle:
    """A run's oracle during one stage, with the same counts and budget.

    Parameters
    ----------
    oracle : Oracle
    limit : Array, shape (R,)
        Calls of the whole run, per replica, at which the stage is over.
    through : ndarray of bool, shape (R,)
        Replicas that the stage is over for.
    start, value : Array and Evaluation, optional
        The stage's start (R, n) and its value, where that is paid for and does not change: asked for again, it is free.

    Attributes
    ----------
    answered : ndarray of int, shape (R,)
        Points that were answered so far, the free ones too.
    failed : ndarray of bool, shape (R,)
        Replicas that the member reported as failed: for them the stage is over, and the run goes on.
    """

    def __init__(
        self,
        oracle: Oracle,
        limit: Array,
        through: np.ndarray,
        start: Array | None = None,
        value: Evaluation | None = None,
    ) -> None:
        self._oracle, self._limit, self._through = oracle, limit, through
        self._start, self._value = start, value
        self.answered = np.zeros(len(limit), dtype=np.int64)
        self.failed = np.zeros(len(limit), dtype=bool)

    @property
    def n(self) -> int:
        """Number of variables."""
        return self._oracle.n

    @property
    def m(self) -> int:
        """Number of constraints."""
        return self._oracle.m

    @property
    def contract(self) -> str:
        """The noise contract."""
        return self._oracle.contract

    @property
    def domain(self) -> Set:
        """X as the solver sees it."""
        return self._oracle.domain

    @property
    def units(self) -> Units | None:
        """The units that the solver sees."""
        return self._oracle.units

    @property
    def tolerance(self) -> float | Array:
        """Largest h that counts as feasible, as the solver sees it."""
        return self._oracle.tolerance

    @property
    def calls(self) -> np.ndarray:
        """Calls of the whole run so far, (R,) of int."""
        return self._oracle.calls

    @property
    def active(self) -> np.ndarray:
        """Replicas that the member still works for, (R,) of bool."""
        return self._oracle.active & ~self._through & ~self.failed

    @property
    def any_failed(self) -> bool:
        """Whether the member reported a failure."""
        return bool(self.failed.any())

    @property
    def all_active(self) -> bool:
        """Whether the member works for every replica."""
        return bool(self.active.all())

    @property
    def remaining(self) -> Array:
        """Calls that the rest of each replica's share covers, (R,)."""
        return np.minimum(self._limit - self._oracle.calls, self._oracle.remaining)

    def affords(self, counts: np.ndarray) -> np.ndarray:
        """Whether the rest of each replica's share, and of its budget, covers so many more calls, (R,) to (R,)."""
        return (self._oracle.calls + counts <= self._limit) & self._oracle.affords(counts)

    def resample(self, size: int | tuple[int, ...] = 1) -> None:
        """Begin a new sample."""
        self._oracle.resample(size)

    def fail(self, mask: np.ndarray | np.bool) -> None:
        """End the stage for replicas that the member cannot go on with."""
        self.failed |= mask & self.active

    def __call__(self, x: Array, mask: np.ndarray | None = None) -> Evaluation:
        """Evaluate points (R, n) or (R, q, n); NaN for replicas that the stage is over for or that cannot pay."""
        points = x[:, None] if x.ndim == 2 else x
        live = np.ones(points.shape[:2], dtype=bool) if mask is None else mask.copy()
        live &= self.active[:, None]
        free = np.zeros_like(live)
        if self._start is not None:
            free = live & (points == self._start[:, None]).all(axis=-1)
        dear = live & ~free
        dear &= self.affords(dear.sum(axis=1))[:, None]
        if dear.any():
            value = self._oracle(points, dear)
        else:
            value = Evaluation(np.full(live.shape, np.nan), np.full((*live.shape, self.m), np.nan))
        if self._value is not None and free.any():
            rows = np.nonzero(free)[0]
            value.f[free], value.h[free] = self._value.f[rows], self._value.h[rows]
        self.answered += (dear | free).sum(axis=1)
        if x.ndim == 3:
            return value
        self.fail(~(np.isfinite(value.f[:, 0]) & np.isfinite(value.h[:, 0]).all(axis=-1)))
        return Evaluation(value.f[:, 0], value.h[:, 0])
