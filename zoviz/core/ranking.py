"""The rule by which points are compared: a feasible one is better, then the lower f; else the smaller violation."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation

ON_BOUNDARY = 1e-9
"""How far a point may lie outside the domain, by round-off, and still count as inside."""


def is_feasible(h: Array, tolerance: float | Array) -> np.ndarray:
    """Return whether all h <= tolerance, (..., m) to (...) of bool; NaN is not."""
    return np.logical_and.reduce(h <= tolerance, axis=-1)


def ranks(value: Evaluation, tolerance: float | Array, eligible: np.ndarray | None = None) -> tuple[Array, Array]:
    """Return what points are compared by: violations, then objectives, the smaller the better.

    Parameters
    ----------
    value : Evaluation
        f of shape (..., q) and h (..., q, m).
    tolerance : float or Array, shape (m,) or (..., q, m)
        Largest h that counts as feasible.
    eligible : ndarray of bool, shape (..., q), optional
        Points that may be chosen; default: all.

    Returns
    -------
    violation : Array, shape (..., q)
        0 for a feasible point, else the largest h; +inf for one that is not finite or not eligible.
    f : Array, shape (..., q)
        The objective; +inf likewise.
    """
    violation = value.h.max(axis=-1, initial=0.0)
    good = np.isfinite(value.f) & np.isfinite(violation)
    if eligible is not None:
        good &= eligible
    violation = np.where(is_feasible(value.h, tolerance), 0.0, violation)
    return np.where(good, violation, np.inf), np.where(good, value.f, np.inf)


def best_of(x: Array, value: Array, points: Array, values: Array, tolerance: float | Array) -> tuple[Array, Array]:
    """Return the best of a point (n,) and others (q, n), with its values; of equal ones the first.

    Parameters
    ----------
    value, values : Array, shapes (m + 1,) and (q, m + 1)
        f and h side by side, as ``Evaluation.stacked``.
    """
    everything = np.concatenate([value[None], values])
    i = int(first(*ranks(Evaluation(everything[:, 0], everything[:, 1:]), tolerance)))
    return (x, value) if i == 0 else (points[i - 1].copy(), values[i - 1].copy())


def first(violation: Array, f: Array) -> np.ndarray:
    """Return the index of the best point by its ``ranks``, (..., q) to (...) of int; of equal ones the first."""
    tied = violation == violation.min(axis=-1, keepdims=True)
    return np.argmin(np.where(tied, f, np.inf), axis=-1)
