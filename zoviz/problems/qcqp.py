"""The nonconvex quadratically constrained quadratic programme of paper splm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.problems.base import Problem
from zoviz.sets import Box
from zoviz.streams import Streams
from zoviz.types import Array, Constants, Evaluation, Optimum


class _Data(NamedTuple):
    matrices: Array
    vectors: Array
    offsets: Array
    constants: Constants
    optimum: Optimum | None
    domain: Box


class NonconvexQCQP(Problem):
    r"""Indefinite quadratic objective under one convex quadratic constraint and a box.

    .. math:: \min_{-10 \le x \le 10} \tfrac12 x^\top Q x + d^\top x \quad\text{s.t.}\quad
              \tfrac12 x^\top A x + b^\top x + c_0 \le 0

    with Q = M'M - delta I such that its smallest eigenvalue is -0.1, A = M1'M1, and M, M1 (n x n), d, b standard
    normal; c0 = -1, so that x = 0 is strictly feasible.

    Notes
    -----
    The paper prints neither the starting point nor the shape of M: M is n x n and x0 uniform in [-1, 1]^n here.
    The known optimum comes from the dual of the problem without the box, which is tight for one quadratic
    constraint (S-lemma); where that solution leaves the box, no optimum is claimed.

    References
    ----------
    Paper splm, §4.1.
    """

    title = "Nonconvex QCQP"
    order = 0

    n = param.Integer(default=50, bounds=(2, 2000), softbounds=(2, 200), label="Variables n", doc="Dimension of x.")
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of Q, d, A and b.")
    half_width = param.Number(
        default=10.0, bounds=(1e-3, 1e6), label="Box half-width", doc="X = [-half_width, half_width]^n."
    )
    start_radius = param.Number(
        default=1.0, bounds=(0, 1e6), label="Start radius", doc="x0 is uniform in [-start_radius, start_radius]^n."
    )

    m = 1

    def build(self) -> _Data:
        """Draw the instance and certify its optimum."""
        n, rng = self.n, np.random.default_rng(self.seed)
        factor, factor_a = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        d, b = rng.standard_normal(n), rng.standard_normal(n)
        q = factor.T @ factor
        q -= (np.linalg.eigvalsh(q)[0] + 0.1) * np.eye(n)
        a = factor_a.T @ factor_a
        curvature, curvature_a = float(np.linalg.eigvalsh(q)[-1]), float(np.linalg.eigvalsh(a)[-1])
        radius = self.half_width * np.sqrt(n)
        optimum = _dual_optimum(q, d, a, b, -1.0, self.half_width)
        constants = Constants(
            curvature=curvature,
            constraint_curvature=curvature_a,
            slope=curvature * radius + float(np.linalg.norm(d)),
            constraint_slope=curvature_a * radius + float(np.linalg.norm(b)),
            start_slope=float(np.sqrt(self.start_radius**2 / 3.0 * np.sum(a * a) + b @ b)),
            weak_convexity=0.1,
        )
        box = Box(np.full(n, -self.half_width), np.full(n, self.half_width))
        matrices, vectors = np.concatenate([q, a], axis=1), np.stack([d, b])
        return _Data(matrices, vectors, np.array([0.0, -1.0]), constants, optimum, box)

    @property
    def domain(self) -> Box:
        """The box X."""
        return self.data.domain

    @property
    def constants(self) -> Constants:
        """Largest eigenvalues of Q and A, gradient bounds over the box."""
        return self.data.constants

    @property
    def known_optimum(self) -> Optimum | None:
        """Certified by the S-lemma dual where that solution lies in the box, else None."""
        return self.data.optimum

    def initial(self, streams: Streams) -> Array:
        """Uniform in [-start_radius, start_radius]^n, projected on X."""
        return self.domain.project(self.start_radius * (2.0 * streams.uniform("x0", self.n) - 1.0))

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Both quadratics from one matrix product for a whole batch."""
        data = self.data
        return self._values(x, 0.5 * self._products(x) + data.vectors)

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Qx + d and Ax + b."""
        slopes = self._products(x) + self.data.vectors
        return slopes[..., 0, :], slopes[..., 1:, :]

    def value_and_gradient(self, x: Array) -> tuple[Evaluation, tuple[Array, Array]]:
        """Both from the same product."""
        products, data = self._products(x), self.data
        slopes = products + data.vectors
        return self._values(x, slopes - 0.5 * products), (slopes[..., 0, :], slopes[..., 1:, :])

    def _products(self, x: Array) -> Array:
        """Qx and Ax, shape (..., 2, n), as one product of matrices: NumPy would loop over the leading axes."""
        return (x.reshape(-1, x.shape[-1]) @ self.data.matrices).reshape(*x.shape[:-1], 2, x.shape[-1])

    def _values(self, x: Array, halves: Array) -> Evaluation:
        both = np.einsum("...i,...ji->...j", x, halves) + self.data.offsets
        return Evaluation(both[..., 0], both[..., 1:])


def _dual_optimum(q: Array, d: Array, a: Array, b: Array, c: float, half_width: float) -> Optimum | None:
    """Global minimum of the quadratic under the one quadratic constraint, if it lies in the box.

    For lam >= 0 with Q + lam A positive definite, x(lam) = -(Q + lam A)^-1 (d + lam b) minimises the Lagrangian and
    h(x(lam)) falls in lam: its root, feasible, stationary and complementary with a positive definite Hessian, is
    certified globally optimal. With A = L L' and L^-1 Q L^-T = U diag(w) U', each trial lam costs one product.
    """

    def at(lam: float) -> tuple[Array, float]:
        x = -root_inverse @ ((root_inverse.T @ (d + lam * b)) / (weights + lam))
        return x, float(0.5 * x @ a @ x + b @ x + c)

    inverse = np.linalg.inv(np.linalg.cholesky(a))
    weights, basis = np.linalg.eigh(inverse @ q @ inverse.T)
    root_inverse = inverse.T @ basis
    low = max(0.0, -float(weights[0])) * (1.0 + 1e-12)
    high = 2.0 * low + 1.0
    while at(high)[1] > 0.0:
        high *= 2.0
        if high > 1e12:
            return None
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if at(middle)[1] <= 0.0 else (middle, high)
    x, h = at(high)
    if abs(high * h) > 1e-8 or np.abs(x).max() > half_width:
        return None
    value = float(0.5 * x @ q @ x + d @ x)
    return Optimum(value, x, np.array([high]), "dual of the problem without the box (S-lemma), solution inside the box")
