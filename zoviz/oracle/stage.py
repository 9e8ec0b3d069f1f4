"""A stage of a run: the part that one of several solvers serves on the run's own oracle."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation


class Stage:
    """The books of a stage, kept by ``Oracle.stage``.

    Parameters
    ----------
    limit : Array, shape (R,)
        Calls of the whole run, per replica, at which the stage is over.
    free : tuple of Array, shape (R, n), and Evaluation, optional
        A point of each replica and its joint value, f (R,) and h (R, m), in the solver's units: asked for, it is free.

    Attributes
    ----------
    answered : ndarray of int, shape (R,)
        Points that were answered so far, the free ones too.
    failed : ndarray of bool, shape (R,)
        Replicas for which ``Oracle.fail`` was called in the stage.
    """

    def __init__(self, limit: Array, free: tuple[Array, Evaluation] | None = None) -> None:
        self.limit, self._free = limit, free
        self.answered = np.zeros(len(limit), dtype=np.int64)
        self.failed = np.zeros(len(limit), dtype=bool)

    def is_free(self, points: Array) -> np.ndarray:
        """Whether each of the points (R, q, n) is the one of its replica that is free, (R, q)."""
        if self._free is None:
            return np.zeros(points.shape[:2], dtype=bool)
        return (points == self._free[0][:, None]).all(axis=-1)

    def answer(self, value: Evaluation, paid: np.ndarray, free: np.ndarray) -> None:
        """Write the free values into those of a batch, f (R, q) and h (R, q, m), where ``free``, and count both."""
        if self._free is not None and free.any():
            rows = np.nonzero(free)[0]
            value.f[free], value.h[free] = self._free[1].f[rows], self._free[1].h[rows]
        self.answered += (paid | free).sum(axis=1)
