"""The best feasible point queried so far."""

from __future__ import annotations

import numpy as np

from zoviz.core.ranking import ON_BOUNDARY, first, is_feasible
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
