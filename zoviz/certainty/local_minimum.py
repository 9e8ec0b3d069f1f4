"""The minimum of local models with constraints in a box, and the errors of its value, place and multipliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.certainty.local_model import LocalModel
from zoviz.core.types import Array

NEAR_BOUND, NEAR_ZERO = 1e-7, 1e-6
"""Distance from a bound, in radii, and size of a row of slope 1, that count as 0."""
_RANK = 1e-9
"""Smallest singular value, relative to the largest one, that counts."""
_STEPS = 100


class Programme(NamedTuple):
    """The minimum of the models within a box around the point.

    Attributes
    ----------
    u : Array, shape (n,)
        In radii from the point.
    free : ndarray of bool, shape (n,)
        Variables that no bound holds; those at the end of the models' reach count as free.
    active : ndarray of int, shape (a,)
        Rows that are 0.
    within : bool
        Whether it lies inside the models' reach.
    feasible : bool
        Whether the models have a feasible point there.
    """

    u: Array
    free: np.ndarray
    active: np.ndarray
    within: bool
    feasible: bool


class Minimum(NamedTuple):
    """The minimum with some rows active, by one step from the programme's, with variances.

    Attributes
    ----------
    f, f_variance, f_degrees : float
        Corrected for what minimising over noise gains.
    gain_variance : float
        Of the value at the point less that of the minimum.
    u, covariance : Array, shapes (n,), (n, n)
    u_degrees : float
    y, y_variance, y_degrees : Array, shape (rows,)
    h, h_variance : Array, shape (rows,)
        Rows at the minimum.
    active : ndarray of int, shape (a,)
    """

    f: float
    f_variance: float
    f_degrees: float
    gain_variance: float
    u: Array
    covariance: Array
    u_degrees: float
    y: Array
    y_variance: Array
    y_degrees: Array
    h: Array
    h_variance: Array
    active: np.ndarray


def programme(model: LocalModel, equal: np.ndarray, lower: Array, upper: Array) -> Programme:
    """Minimise the first output's model subject to the others' being 0, where ``equal`` (rows,), or at most 0.

    Bounds (n,) are in radii from the point, which is inside; the models reach one radius.
    """
    from scipy.optimize import minimize

    low, high = np.clip(lower, -1.0, 0.0), np.clip(upper, 0.0, 1.0)
    size = np.maximum(np.abs(model.slope).max(axis=1), 1e-12)
    rows = [
        {
            "type": kind,
            "fun": lambda u, mask=mask: -(model.value_at(u) / size)[1:][mask],
            "jac": lambda u, mask=mask: -(model.slope_at(u) / size[:, None])[1:][mask],
        }
        for kind, mask in (("eq", equal), ("ineq", ~equal))
        if mask.any()
    ]
    best: tuple[float, float, Array] | None = None
    for start in (np.zeros(model.n), 0.3 * np.clip(-model.slope[0] / size[0], low, high)):
        found = minimize(
            lambda u: model.value_at(u)[0] / size[0],
            start,
            jac=lambda u: model.slope_at(u)[0] / size[0],
            method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=rows,
            options={"ftol": 1e-12, "maxiter": _STEPS},
        )
        u = np.clip(np.nan_to_num(found.x), low, high)
        worst = _violation(model.value_at(u)[1:] / size[1:], equal)
        if best is None or (worst > NEAR_ZERO, float(found.fun)) < best[:2]:
            best = bool(worst > NEAR_ZERO), float(found.fun), u
        if found.success and worst <= NEAR_ZERO:
            break
    infeasible, _, u = best if best is not None else (True, np.nan, np.zeros(model.n))
    inside = (u > low + NEAR_BOUND) & (u < high - NEAR_BOUND)
    at_end = ((u >= 1.0 - NEAR_ZERO) & (upper > 1.0 + NEAR_ZERO)) | (
        (u <= NEAR_ZERO - 1.0) & (lower < -1.0 - NEAR_ZERO)
    )
    h = model.value_at(u)[1:] / size[1:]
    return Programme(u, inside | at_end, np.flatnonzero(equal | (h > -NEAR_ZERO)), not at_end.any(), not infeasible)


def _violation(h: Array, equal: np.ndarray) -> float:
    return float(np.where(equal, np.abs(h), h).max(initial=0.0))


def minimum(model: LocalModel, found: Programme, active: np.ndarray) -> Minimum:
    r"""Return the minimum with some rows active, and its errors.

    .. math:: \begin{pmatrix} \delta x \\ \delta\lambda \end{pmatrix} = -K^{-1}
              \begin{pmatrix} \nabla_x L \\ h_A \end{pmatrix}, \quad
              p^* = L - \tfrac12 g^T K^{-1} g + \tfrac12 \mathrm{tr}(K^{-1} S_{\text{noise}}), \quad
              \mathrm{cov} = K^{-1} S K^{-1}

    with S the covariance of (grad L, h_A), and var p* that of L and tr((K^-1 S)^2) / 2. Minimising over noise gains
    half the trace on the average, which is given back; misfit is no noise.
    """
    n, q, u = model.n, model.q, found.u
    free, k, a = np.flatnonzero(found.free), int(found.free.sum()), len(active)
    slope, value = model.slope_at(u), model.value_at(u)
    rows, y = slope[1:][active][:, free], np.zeros(q - 1)
    if a and k:
        sizes = np.maximum(np.sqrt(np.square(rows).sum(axis=1)), 1e-300)
        y[active] = np.linalg.lstsq((rows / sizes[:, None]).T, -slope[0][free], rcond=_RANK)[0] / sizes
    weights = np.append(1.0, y)
    errors = model.errors(_functionals(model, u, weights, free, active))
    first, lagrangian = k + a, k + a  # of the equations, then the Lagrangian's value
    covariance = errors.all[:first, :first]
    curvature = _convex(np.tensordot(weights, model.hessian, axes=1)[np.ix_(free, free)], rows, covariance[:k, :k])
    inverse = _inverse(curvature, rows)
    equations = np.append((slope[0] + y @ slope[1:])[free], value[1:][active])
    step, spread = -inverse @ equations, inverse @ covariance @ inverse
    second = 0.5 * float(np.trace(inverse @ errors.noise[:first, :first]))
    product = inverse @ covariance
    f = float(weights @ value) - 0.5 * float(equations @ inverse @ equations) + second
    quadratic = 0.5 * float(np.trace(product @ product))
    du, whole = np.zeros(n), np.zeros((n, n))
    du[free], whole[np.ix_(free, free)] = step[:k], spread[:k, :k]
    y_new, y_variance, y_degrees = y.copy(), np.zeros(q - 1), np.full(q - 1, 1e4)
    y_new[active] += step[k:]
    y_variance[active], y_degrees[active] = np.diag(spread)[k:], errors.degrees[k:first]
    moved = np.zeros((q, len(errors.all)))  # of the rows at the minimum: at u, and by the error of the step
    moved[:, first + 2 :] = np.eye(q)
    moved[:, :first] = -slope[:, free] @ inverse[:k]
    return Minimum(
        f=f,
        f_variance=float(errors.all[lagrangian, lagrangian]) + quadratic,
        f_degrees=float(errors.degrees[lagrangian]),
        gain_variance=float(errors.all[first + 1, first + 1]) + quadratic,
        u=u + du,
        covariance=whole,
        u_degrees=float(np.median(errors.degrees[:first])) if first else 1e4,
        y=y_new,
        y_variance=y_variance,
        y_degrees=y_degrees,
        h=(value + slope @ du)[1:],
        h_variance=np.diag(moved @ errors.all @ moved.T)[1:],
        active=active,
    )


def doubtful_bounds(model: LocalModel, found: Programme, of: Minimum, errors: float) -> np.ndarray:
    """Return the variables held by a bound whose multiplier is less than ``errors`` standard errors, (n,) of bool."""
    held, weights = np.flatnonzero(~found.free), np.append(1.0, of.y)
    rows = model.slope_rows(found.u)[held]
    slope = model.slope_at(found.u)[:, held]
    own = np.diag(model.errors(weights[None, :, None] * rows[:, None, :]).all)
    variance = own + np.square(slope[1:]).T @ of.y_variance
    doubtful = np.zeros(model.n, dtype=bool)
    doubtful[held] = np.abs(weights @ slope) < errors * np.sqrt(variance)
    return doubtful


def _functionals(model: LocalModel, u: Array, weights: Array, free: np.ndarray, active: np.ndarray) -> Array:
    """Return grad L (k), the active rows (a), L, f at the point less L, and all outputs at u, as (., q, p)."""
    k, a, q = len(free), len(active), model.q
    value, slope = model.value_row(u), model.slope_rows(u)
    out = np.zeros((k + a + 2 + q, q, len(value)))
    out[:k] = weights[None, :, None] * slope[free][:, None, :]
    out[k + np.arange(a), 1 + active] = value
    out[k + a] = weights[:, None] * value
    out[k + a + 1] = -out[k + a]
    out[k + a + 1, 0] += model.value_row(np.zeros(model.n))
    out[k + a + 2 + np.arange(q), np.arange(q)] = value
    return out


def _inverse(hessian: Array, rows: Array) -> Array:
    """Return the pseudo-inverse of ((H, A^T), (A, 0)), scaled so that units of f and rows do not matter."""
    k, a = len(hessian), len(rows)
    bend = max(float(np.abs(hessian).max(initial=0.0)), 1e-300)
    sizes = np.maximum(np.sqrt(np.square(rows).sum(axis=1)), 1e-300)
    scale = np.append(np.full(k, bend**-0.5), bend**0.5 / sizes)
    matrix = np.block([[hessian, rows.T], [rows, np.zeros((a, a))]]) * np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(matrix, rcond=_RANK) * np.outer(scale, scale)) if k + a else matrix


def _convex(hessian: Array, rows: Array, covariance: Array) -> Array:
    """Return a Hessian (k, k) that is positive along the rows: what noise hides of it is a flat direction."""
    from scipy import linalg

    along = linalg.null_space(rows) if len(rows) and len(hessian) else np.eye(len(hessian))
    if not along.shape[1]:
        return hessian
    values, vectors = np.linalg.eigh(along.T @ hessian @ along)
    basis = along @ vectors
    error = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", basis, covariance, basis), 0.0))
    least = np.maximum(error, 1e-9 * max(1e-12, float(np.abs(values).max())))
    return np.asarray(hessian + (basis * (np.maximum(values, least) - values)) @ basis.T)
