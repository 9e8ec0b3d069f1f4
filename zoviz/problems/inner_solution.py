"""Newton's method for a follower's solution and its linear system, where a bilevel problem has no closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zoviz.core.types import Array, Sample

if TYPE_CHECKING:
    from zoviz.problems.bilevel import OnlineBilevel

TOLERANCE = 1e-8
"""Norm of the gradient, and of the system's residual relative to its right-hand side."""


def settle(
    problem: OnlineBilevel, x: Array, xi: Sample, start: Array, tolerance: float = TOLERANCE, steps: int = 100
) -> tuple[Array, Array]:
    """Solve for y* (R, d) and v* (R, d) of a round without sampling noise, for g_t strongly convex in y on R^d.

    Newton's method with conjugate gradients and backtracking on the gradient's norm, all replicas at once, until
    ||grad_y g_t|| <= ``tolerance`` max(1, ||grad_y g_t(start)||); NaN in replicas that do not get there.

    Parameters
    ----------
    x : Array, shape (R, n)
    xi : object
        A sample of the round.
    start : Array, shape (R, d)
    """
    exact, y = problem.exact(xi), np.array(start, dtype=float)
    slope = problem.inner_gradient(x, y, exact)
    goal = tolerance * np.maximum(1.0, _norm(slope))
    for _ in range(steps):
        if (_norm(slope) <= goal).all():
            break
        move = conjugate_gradients(problem, x, y, -slope, exact, 1e-2 * tolerance)
        y, slope = _backtrack(problem, x, y, move, slope, exact)
    y = np.where((_norm(slope) <= goal)[:, None], y, np.nan)
    v = conjugate_gradients(problem, x, y, -problem.outer_gradients(x, y, exact)[1], exact, tolerance)
    return y, v


def conjugate_gradients(problem: OnlineBilevel, x: Array, y: Array, b: Array, xi: Sample, tolerance: float) -> Array:
    """Solve (second derivative of g_t in y) v = b for v (R, d), to a residual of ``tolerance`` ||b||."""
    v, residual = np.zeros_like(b), b
    direction, square = b, np.square(b).sum(axis=-1, keepdims=True)
    goal = tolerance**2 * square
    for _ in range(4 * b.shape[-1] + 10):
        if not (square > goal).any():
            break
        image = problem.inner_hessian_vector(x, y, direction, xi)
        curvature = (direction * image).sum(axis=-1, keepdims=True)
        length = np.where(square > goal, square / np.where(curvature > 0, curvature, np.inf), 0.0)
        v, residual = v + length * direction, residual - length * image
        new = np.square(residual).sum(axis=-1, keepdims=True)
        direction = residual + new / np.where(square > 0, square, np.inf) * direction
        square = new
    return v


def _backtrack(
    problem: OnlineBilevel, x: Array, y: Array, move: Array, slope: Array, xi: Sample
) -> tuple[Array, Array]:
    """Return y moved by the longest of the steps 1, 1/2, ... that shortens the gradient, replica by replica."""
    length = np.ones((len(y), 1))
    for _ in range(30):
        there = y + length * move
        new = problem.inner_gradient(x, there, xi)
        worse = ~(_norm(new) <= (1.0 - 1e-4 * length[:, 0]) * _norm(slope))
        if not worse.any():
            break
        length = np.where(worse[:, None], 0.5 * length, length)
    return there, new


def _norm(vector: Array) -> Array:
    return np.sqrt(np.square(vector).sum(axis=-1))
