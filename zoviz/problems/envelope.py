"""Measures of near-stationarity under linear constraints: the normal cone, and the Moreau envelope's proximal point."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zoviz.core.optional import require
from zoviz.core.sets import Box, Set
from zoviz.core.types import Array

if TYPE_CHECKING:
    from zoviz.problems.linear import LinearlyConstrained

Function = Callable[[Array], Any]

LARGEST = 500
"""Variables up to which a proximal point is computed: a general solver's work grows with their cube."""

_STEP = 1e-7


def normal_residual(domain: Set, x: Array, slope: Array) -> Array:
    r"""Distance of -slope to the normal cone of a polyhedral X at x, shape (R,).

    .. math:: \min_{v \in g + N_X(x)} \|v\| = \lim_{s \downarrow 0} \|x - \Pi_X(x - s g)\| / s

    Parameters
    ----------
    domain : Set
        X. The quotient equals its limit from a positive s on where X is polyhedral.
    x, slope : Array, shape (R, n)
        A point of X, and g. A bound nearer than 1e-7 max(1, ||x||) counts as active.

    References
    ----------
    Paper salm, §1.2; Rockafellar and Wets (1998), Variational Analysis, Exercise 6.24.
    """
    size = np.maximum(np.linalg.norm(slope, axis=-1, keepdims=True), 1e-300)
    step = _STEP * np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1.0) / size
    return np.linalg.norm((x - domain.project(x - step * slope)) / step, axis=-1)


def proximal_point(problem: LinearlyConstrained, z: Array, weight: float) -> Array:
    """arg min f(x) + weight/2 ||x - z||^2 over X and the exact rows, for each z of (R, n), by SLSQP; off the books.

    Raises
    ------
    ValueError
        For a problem that is too large, or a domain that is not a box.
    MissingExtra
        Where SciPy is not installed.
    """
    if problem.domain.n > LARGEST or not isinstance(problem.domain, Box):
        raise ValueError(
            f"Expected a box of at most {LARGEST} variables for near-stationarity, got a "
            f"{type(problem.domain).__name__} of {problem.domain.n}: switch measure_envelope off."
        )
    require("scipy", "peers")
    optimize: Any = importlib.import_module("scipy.optimize")
    matrix, offset = _independent(*problem.matrix()) if problem.equations else problem.matrix()
    sign = 1.0 if problem.equations else -1.0
    rows = {
        "type": "eq" if problem.equations else "ineq",
        "fun": lambda x: sign * (matrix @ x - offset),
        "jac": lambda x: sign * matrix,
    }
    ends = (problem.domain.lower, problem.domain.upper)
    bounds = optimize.Bounds(*(np.broadcast_to(end, problem.domain.n) for end in ends))
    out = np.full(z.shape, np.nan)
    for r in np.flatnonzero(np.isfinite(z).all(axis=-1)):  # a general solver takes one problem at a time
        value, slope = _pulled(problem, z[r], weight)
        out[r] = optimize.minimize(
            value,
            problem.domain.project(z[r]),
            jac=slope,
            bounds=bounds,
            constraints=[rows],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x
    return out


def _pulled(problem: LinearlyConstrained, z: Array, weight: float) -> tuple[Function, Function]:
    """f(x) + weight/2 ||x - z||^2 and its gradient, as functions of one point."""

    def value(x: Array) -> float:
        return float(problem.evaluate(x).f + 0.5 * weight * np.square(x - z).sum())

    def slope(x: Array) -> Array:
        return problem.stochastic_gradient(x) + weight * (x - z)

    return value, slope


def _independent(matrix: Array, offset: Array) -> tuple[Array, Array]:
    """Equations with the same solutions and orthonormal rows, which SLSQP asks for."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > 1e-10 * sizes.max(initial=0.0)
    return right[kept], (left.T @ offset)[kept] / sizes[kept]
