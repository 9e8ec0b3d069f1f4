"""The base class of problems with a quadratic objective and one quadratic constraint: values, gradients, the dual."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array, Constants, Evaluation, Optimum
from zoviz.problems.base import Problem


class Quadratics(NamedTuple):
    """The data of two functions 1/2 x'Qx + d'x + e, objective and constraint.

    Attributes
    ----------
    matrices : Array, shape (n, 2 n)
        Q of the objective and of the constraint, side by side, both symmetric.
    vectors : Array, shape (2, n)
    offsets : Array, shape (2,)
    constants : Constants
    optimum : Optimum or None
    domain : Box
    """

    matrices: Array
    vectors: Array
    offsets: Array
    constants: Constants
    optimum: Optimum | None
    domain: Box

    def products(self, x: Array) -> Array:
        """Return both Qx, (..., 2, n), as one product of matrices: NumPy would loop over the leading axes."""
        return (x.reshape(-1, x.shape[-1]) @ self.matrices).reshape(*x.shape[:-1], 2, x.shape[-1])

    def values(self, x: Array, halves: Array) -> Evaluation:
        """Return f (...) and h (..., 1) at x (..., n), given both Qx/2 + d, (..., 2, n)."""
        both = np.einsum("...i,...ji->...j", x, halves) + self.offsets
        return Evaluation(both[..., 0], both[..., 1:])


class QuadraticProblem(Problem):
    """A quadratic objective under one quadratic constraint and a cube; ``build`` returns an ``instance``."""

    __abstract = True

    n: int
    half_width: float
    start_radius: float
    domain: Box
    m = 1

    def instance(
        self, matrices: tuple[Array, Array], vectors: tuple[Array, Array], offsets: tuple[float, float]
    ) -> Quadratics:
        """Return the data of f and h from their Q (n, n), d (n,) and e, with constants and the optimum if certified."""
        return Quadratics(
            np.concatenate(matrices, axis=1),
            np.stack(vectors),
            np.array(offsets),
            bounds_on(matrices, vectors, self.half_width, self.start_radius),
            dual_optimum(matrices, vectors, offsets, self.half_width),
            Box(np.full(self.n, -self.half_width), np.full(self.n, self.half_width)),
        )

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return f (...) and h (..., 1) at x (..., n), from one matrix product for the whole batch."""
        data: Quadratics = self.data
        return data.values(x, 0.5 * data.products(x) + data.vectors)

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return Qx + d of both functions, (..., n) and (..., 1, n)."""
        data: Quadratics = self.data
        slopes = data.products(x) + data.vectors
        return slopes[..., 0, :], slopes[..., 1:, :]

    def value_and_gradient(self, x: Array) -> tuple[Evaluation, tuple[Array, Array]]:
        """Return values and gradients at x (..., n) from the same product."""
        data: Quadratics = self.data
        products = data.products(x)
        slopes = products + data.vectors
        return data.values(x, slopes - 0.5 * products), (slopes[..., 0, :], slopes[..., 1:, :])


def bounds_on(
    matrices: tuple[Array, Array], vectors: tuple[Array, Array], half_width: float, start_radius: float
) -> Constants:
    """Return the constants of two quadratics on [-half_width, half_width]^n; slopes are upper bounds, the others exact.

    Parameters
    ----------
    matrices, vectors : pair of Array, shapes (n, n) and (n,)
        Q and d of the objective 1/2 x'Qx + d'x, then of the constraint.
    half_width, start_radius : float
        Of the box and of the start, which is uniform in [-start_radius, start_radius]^n.
    """
    (q, a), (d, b) = matrices, vectors
    spectrum, spectrum_a = np.linalg.eigvalsh(q), np.linalg.eigvalsh(a)
    curvature, curvature_a = float(np.abs(spectrum).max()), float(np.abs(spectrum_a).max())
    radius = half_width * float(np.sqrt(len(d)))
    return Constants(
        curvature=curvature,
        constraint_curvature=curvature_a,
        slope=curvature * radius + float(np.linalg.norm(d)),
        constraint_slope=curvature_a * radius + float(np.linalg.norm(b)),
        start_slope=float(np.sqrt(start_radius**2 / 3.0 * np.sum(a * a) + b @ b)),
        weak_convexity=max(0.0, -float(spectrum[0])),
        objective_start_slope=float(np.sqrt(start_radius**2 / 3.0 * np.sum(q * q) + d @ d)),
    )


def dual_optimum(
    matrices: tuple[Array, Array], vectors: tuple[Array, Array], offsets: tuple[float, float], half_width: float
) -> Optimum | None:
    r"""Return the minimum of f under h <= 0, of Q (n, n), d (n,), e each, where the dual certifies it in the box.

    For lam >= 0 with Q + lam A positive definite, x(lam) = -(Q + lam A)^-1 (d + lam b) minimises the Lagrangian and
    h(x(lam)) falls in lam: its root, or lam = 0 where h(x(0)) <= 0, is feasible, stationary and complementary with a
    positive definite Hessian, which certifies that it is globally optimal (S-lemma), whether Q or A are indefinite.
    None where no multiplier makes Q + lam A positive definite, h has no root there, or the box cuts it off.

    Parameters
    ----------
    matrices, vectors, offsets : pair
        Q, d and e of 1/2 x'Qx + d'x + e, of the objective and of the constraint h <= 0.
    half_width : float
        Of the box, inside which the solution must lie.

    References
    ----------
    Boyd and Vandenberghe (2004), Convex Optimization, appendix B.1.
    """
    (q, a), (d, b), (e, c) = matrices, vectors, offsets
    pencil = _diagonal(q, a)
    if pencil is None:
        return None
    basis, of_q, of_a = pencil
    d_basis, b_basis = basis.T @ d, basis.T @ b

    def at(lam: float) -> tuple[Array, float]:
        x = -basis @ ((d_basis + lam * b_basis) / (of_q + lam * of_a))
        return x, float(0.5 * x @ a @ x + b @ x + c)

    root = _root(lambda lam: at(lam)[1], *_interval(of_q, of_a))
    if root is None:
        return None
    x, h = at(root)
    if abs(root * h) > 1e-8 or np.abs(x).max() > half_width:
        return None
    source = "dual of the problem without the box (S-lemma), solution inside the box"
    return Optimum(float(0.5 * x @ q @ x + d @ x + e), x, np.array([root]), source)


def _diagonal(q: Array, a: Array) -> tuple[Array, Array, Array] | None:
    """Return T with T'QT and T'AT diagonal, and both diagonals; None where no (1 - t) Q + t A of a grid is definite.

    With B = (1 - t) Q + t A = L L' and L^-1 Q L^-T = U diag(w) U', T = L^-T U: then each trial multiplier costs one
    product. t = 1 comes first: A itself, where the constraint is convex.
    """
    for t in (1.0, *(i / 64.0 for i in range(32, 64)), *(i / 64.0 for i in range(31, -1, -1))):
        try:
            lower = np.linalg.cholesky((1.0 - t) * q + t * a)
        except np.linalg.LinAlgError:
            continue
        inverse = np.linalg.inv(lower)
        # Of the pair, the part with the smaller weight in B is diagonalised: the other follows without cancellation.
        first, weight = (q, 1.0 - t) if t >= 0.5 else (a, t)
        own, rotation = np.linalg.eigh(inverse @ first @ inverse.T)
        other = (1.0 - weight * own) / (1.0 - weight)
        return inverse.T @ rotation, *((own, other) if t >= 0.5 else (other, own))
    return None


def _interval(of_q: Array, of_a: Array) -> tuple[float, float]:
    """Return the open interval of multipliers lam for which all of_q + lam of_a are positive."""
    with np.errstate(divide="ignore"):
        ends = -of_q / of_a
    low = max(0.0, float(ends[of_a > 0].max(initial=0.0)))
    return low, float(ends[of_a < 0].min(initial=np.inf))


def _root(h: Callable[[float], float], low: float, top: float) -> float | None:
    """Return the smallest lam in (low, top) with h(lam) <= 0, for a falling h, by bisection; None where h > 0."""
    low *= 1.0 + 1e-12
    high = min(2.0 * low + 1.0, 0.5 * (low + top))
    while h(high) > 0.0:
        high = 2.0 * high if np.isinf(top) else high + 0.5 * (top - high)
        if high > 1e12 or top - high <= 1e-12 * top:
            return None
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if h(middle) <= 0.0 else (middle, high)
    return high
