"""The best feasible point queried so far, and the best of the first ones, feasible or not."""

from __future__ import annotations

import numpy as np

from zoviz.core.ranking import ON_BOUNDARY, first, is_feasible, ranks
from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation


def keep_best(
    best_f: Array,
    best_x: Array,
    best_h: Array,
    x: Array,
    place: Array,
    value: Evaluation,
    tolerance: float | Array,
    domain: Set,
) -> None:
    """Write into ``best_f`` (R,), ``best_x`` (R, n), ``best_h`` (R, m) what is better, feasible and inside the domain.

    Parameters
    ----------
    x, place : Array, shape (R, n) or (R, q, n)
        The points in the solver's units, which ``domain`` is in, and in the user's.
    value : Evaluation
        At the points, in the user's units.
    tolerance : float or Array, shape (m,)
        Largest h that counts as feasible.
    """
    better = value.f < (best_f if x.ndim == 2 else best_f[:, None])
    if not np.count_nonzero(better):  # as ``any``, in a tenth of its time
        return
    better &= is_feasible(value.h, tolerance)
    if better.any():
        better[better] = domain.contains(x[better], ON_BOUNDARY)
    if x.ndim == 2:
        rows = better.nonzero()[0]
        best_f[rows], best_x[rows], best_h[rows] = value.f[rows], place[rows], value.h[rows]
    elif better.any():
        rows = np.nonzero(better.any(axis=1))[0]
        columns = first(np.where(better[rows], 0.0, np.inf), value.f[rows])
        best_f[rows], best_x[rows] = value.f[rows, columns], place[rows, columns]
        best_h[rows] = value.h[rows, columns]


class FirstBest:
    """The best of each replica's points before a method has begun: the answer of a run whose budget ends there.

    Attributes
    ----------
    x : Array, shape (R, n)
        In the user's units; NaN before the first point with a value.
    value : Evaluation
        At ``x``, as it was seen.
    """

    def __init__(self, replicas: int, n: int, m: int) -> None:
        self.x = np.full((replicas, n), np.nan)
        self.value = Evaluation(np.full(replicas, np.nan), np.full((replicas, m), np.nan))

    def take(self, place: Array, value: Evaluation, tolerance: float | Array, inside: np.ndarray) -> None:
        """Take in points (R, n) or (R, q, n) of which those ``inside`` count, and their values, in the user's units."""
        replicas = len(self.x)
        x = np.concatenate([self.x[:, None], place.reshape(replicas, -1, place.shape[-1])], axis=1)
        f = np.concatenate([self.value.f[:, None], value.f.reshape(replicas, -1)], axis=1)
        h = np.concatenate([self.value.h[:, None], value.h.reshape(*f[:, 1:].shape, value.h.shape[-1])], axis=1)
        eligible = np.concatenate([np.ones((replicas, 1), dtype=bool), inside.reshape(replicas, -1)], axis=1)
        best = np.arange(replicas), first(*ranks(Evaluation(f, h), tolerance, eligible))
        self.x, self.value = x[best], Evaluation(f[best], h[best])
