"""The rule by which points are compared: a feasible one is better, then the lower f; else the smaller violation."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation

ON_BOUNDARY = 1e-9
"""How far a point may lie outside the domain, by round-off, and still count as inside."""


def is_feasible(h: Array, tolerance: float | Array) -> np.ndarray:
    """Return whether all h <= tolerance, (..., m) to (...) of bool; NaN is not."""
    out: np.ndarray = np.logical_and.reduce(h <= tolerance, axis=-1)
    return out


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


def quartile(values: Array, share: float = 0.5) -> float:
    """Return a quantile of values (k,), by default the median: one of them, of two the upper; NaN where there are none.

    Parameters
    ----------
    values : Array, shape (k,)
        +inf stands for a failure; NaN is left out.
    share : float
        0.25, 0.5 or 0.75, say.
    """
    known = np.sort(values[~np.isnan(values)])
    return float(known[int(share * (known.size - 1) + 0.5)]) if known.size else np.nan


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
    out: np.ndarray = np.argmin(np.where(tied, f, np.inf), axis=-1)
    return out


def first_by_means(value: Evaluation, tolerance: float | Array) -> tuple[np.ndarray, Evaluation, Array]:
    """Return the best of k points by the means of q noisy calls at each: one counts as feasible where it may be.

    That is where no mean of h exceeds the tolerance by more than two standard errors: at an optimum on its constraints
    half of all means are positive, however exact the point.

    Parameters
    ----------
    value : Evaluation
        f of shape (..., k, q) and h (..., k, q, m); calls without finite values count in no mean.
    tolerance : float or Array, shape (m,)

    Returns
    -------
    ndarray of int, shape (...)
        The index of the best point; of equal ones, and where there is no finite call, the first.
    Evaluation
        Means: f (..., k), h (..., k, m); NaN where no call is finite.
    Array, shape (..., k, m)
        Their violation's margin, two standard errors of h; 0 of one call alone.
    """
    good = value.finite
    f, _ = _means(value.f[..., None], good)
    h, errors = _means(value.h, good)
    means = Evaluation(f[..., 0], h)
    return first(*ranks(means, tolerance + 2.0 * errors)), means, 2.0 * errors


@np.errstate(over="ignore")  # values of 1e200 are values: their standard error is then infinite
def _means(values: Array, good: np.ndarray) -> tuple[Array, Array]:
    """Return mean and standard error over the good calls, (..., q, k) to (..., k); NaN where none is."""
    each, number = good[..., None], good.sum(axis=-1)[..., None]
    mean = np.where(each, values, 0.0).sum(axis=-2) / np.where(number, number, np.nan)
    square = np.where(each, np.square(values - mean[..., None, :]), 0.0).sum(axis=-2)
    return mean, np.sqrt(square / np.maximum(number - 1, 1) / np.maximum(number, 1))
