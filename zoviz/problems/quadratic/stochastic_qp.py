"""A stochastic nonconvex quadratic programme with linear constraints and a known stationary point."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Optimum, Sample
from zoviz.problems.linear import LinearlyConstrained

_TILT = 0.3
"""Angle in rad by which the rows of A lean from the directions of negative curvature, so that Q does not split."""


class Stationary(NamedTuple):
    """A point that satisfies the first-order conditions, with its multipliers.

    Attributes
    ----------
    point : Array, shape (n,)
    dual : Array, shape (p,)
        Multipliers of the rows.
    normal : Array, shape (n,)
        Element of the box's normal cone: grad f + A^T dual + normal = 0.
    """

    point: Array
    dual: Array
    normal: Array


class Instance(NamedTuple):
    """The data of a ``StochasticQP``: Q = H diag(spectrum) H with H = I - 2 v v^T."""

    spectrum: Array
    mirror: Array
    vector: Array
    matrix: Array
    offset: Array
    stationary: Stationary
    domain: Box


class StochasticQP(LinearlyConstrained):
    r"""An indefinite quadratic objective, seen through noisy gradients, with linear rows and a box.

    .. math:: \min_{l \le x \le u} f(x) = \tfrac12 x^\top Q x + q^\top x \;\text{ s.t. } Ax = b \;(\text{or } \le b),
        \qquad F(x, \xi) = f(x) + \tfrac{\sigma}{\sqrt n} \xi^\top x + \tfrac{\kappa}{2} \zeta \|x\|^2

    with xi in R^n and zeta standard normal, so that grad F has the mean grad f and the variance
    sigma^2 + kappa^2 ||x||^2, over B for a mini-batch of B. Products with Q cost O(n), with A O(p n).

    Q has the eigenvalue -``indefiniteness`` p times, and on the null space of A those from ``null_curvature`` to
    ``curvature``: where ``null_curvature`` > 0 and the rows are equations, f is strictly convex on {A x = b}, and the
    stationary point that q and b are made from is the only one. Otherwise it is one of perhaps many. A has the
    singular values 0.7 to 1.3. A fifth of the coordinates are at a bound there, with multipliers in [0.5, 1].

    With ``sampled_rows``, A_zeta = A + s E / sqrt(n) and b_zeta = b + s e, E and e standard normal: three independent
    copies a sample, each the mean over a mini-batch of its own.

    References
    ----------
    Ours, for paper salm, (1.1), (1.2) and (4.1).
    """

    title = "Stochastic QP, linear constraints"
    order = 30
    domain: Box

    n = param.Integer(default=20, bounds=(3, 10**6), softbounds=(3, 200), label="Variables n", doc="Dimension of x.")
    rows = param.Integer(default=3, bounds=(1, 10_000), softbounds=(1, 20), label="Rows p", doc="Rows of A, below n/2.")
    constraints: param.Selector[str] = param.Selector(
        default="equations", objects=["equations", "inequalities"], label="Rows are", doc="A x = b, or A x <= b."
    )
    sampled_rows = param.Boolean(
        default=False, label="Sampled rows", doc="Whether the solver sees A and b through samples only."
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of Q, A and the solution.")
    curvature = param.Number(
        default=2.0, bounds=(1e-3, 1e6), label="Largest curvature", doc="Largest eigenvalue of Q on the null space."
    )
    null_curvature = param.Number(
        default=0.5,
        bounds=(-1e6, 1e6),
        softbounds=(-1, 1),
        label="Smallest curvature on the null space",
        doc="Smallest eigenvalue of Q on the null space. Below 0, f is nonconvex on the equations, too.",
    )
    indefiniteness = param.Number(
        default=1.0, bounds=(0, 1e6), label="Indefiniteness", doc="-1 times the smallest eigenvalue of Q."
    )
    half_width = param.Number(
        default=2.0, bounds=(1e-3, 1e6), label="Box half-width", doc="Half-width of the box around 0."
    )
    free_variables = param.Integer(
        default=0,
        bounds=(0, None),
        label="Variables without bounds",
        doc="How many of the last variables are unbounded.",
    )
    gradient_noise = param.Number(
        default=0.5, bounds=(0, 1e6), label="Gradient noise σ", doc="Root mean square of the noise at x = 0."
    )
    curvature_noise = param.Number(
        default=0.1, bounds=(0, 1e6), label="Curvature noise κ", doc="Standard deviation of the noise's curvature."
    )
    row_noise = param.Number(
        default=0.1, bounds=(0, 1e6), label="Noise of rows s", doc="Size of the noise of sampled A and b."
    )

    @property
    def saddle_point_doubt(self) -> str:
        """Why the Lagrangian may have no saddle point: its curvature is that of Q, which linear rows add nothing to."""
        convex = self.indefiniteness == 0.0 and self.null_curvature >= 0.0
        return "" if convex else "its objective is not convex, and linear constraints do not bend it"

    @property
    def equations(self) -> bool:
        return self.constraints == "equations"

    @property
    def stationary(self) -> Stationary:
        """The stationary point from which the instance is made."""
        return self.data.stationary

    def build(self) -> Instance:
        """Draw the point, its multipliers and active set, then q and b such that it is stationary."""
        n, p, rng = self.n, self.rows, np.random.default_rng(self.seed)
        if 2 * p >= n or self.free_variables > n:
            raise ValueError(f"Expected fewer than n/2 rows and at most n free variables, got n = {n}, {p} rows.")
        mirror = rng.standard_normal(n)
        mirror /= np.linalg.norm(mirror)
        tilted = np.zeros((p, n))
        tilted[:, :p], tilted[:, n - p :] = np.cos(_TILT) * np.eye(p), np.sin(_TILT) * np.eye(p)
        turn = np.linalg.qr(rng.standard_normal((p, p)))[0]
        matrix = (turn * np.linspace(0.7, 1.3, p)) @ (tilted - 2.0 * (tilted @ mirror)[:, None] * mirror)
        edge = np.full(n, self.half_width)
        edge[n - self.free_variables :] = np.inf
        normal = np.zeros(n)
        active = rng.permutation(n - self.free_variables)[: n // 5]
        normal[active] = rng.uniform(0.5, 1.0, active.size) * rng.choice([-1.0, 1.0], active.size)
        point = np.where(normal, np.sign(normal), rng.uniform(-0.6, 0.6, n)) * self.half_width
        dual, gap = rng.uniform(0.5, 1.0, p) * rng.choice([-1.0, 1.0], p), np.zeros(p)
        if not self.equations:
            inactive = np.arange(p) % 2 == 1
            dual, gap = np.where(inactive, 0.0, np.abs(dual)), np.where(inactive, 0.5, 0.0)
        spectrum = self._spectrum()
        vector = -(_product(spectrum, mirror, point) + matrix.T @ dual + normal)
        stationary = Stationary(point, dual, normal)
        return Instance(spectrum, mirror, vector, matrix, matrix @ point + gap, stationary, Box(-edge, edge))

    def _spectrum(self) -> Array:
        """Return the eigenvalues of Q: p negative ones, those that A does not meet, and their partners.

        In the plane of a negative one -nu and its partner l, the null space has the curvature l cos^2 - nu sin^2.
        """
        p, nu, low, high = self.rows, self.indefiniteness, self.null_curvature, self.curvature
        on_null = np.linspace(max(low, 0.25 * high), 0.5 * max(high, low), p)
        partners = (on_null + nu * np.sin(_TILT) ** 2) / np.cos(_TILT) ** 2
        return np.concatenate([np.full(p, -nu), np.linspace(low, high, self.n - 2 * p), partners])

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw the noise of a mini-batch: the mean of B normal numbers is one normal number over sqrt(B)."""
        numbers = streams.normal("xi", *shape, self.n + 1)
        sample = Sample(xi=numbers[..., :-1], zeta=numbers[..., -1:], factor=math.prod(np.atleast_1d(size)) ** -0.5)
        if self.sampled_rows:
            sample.rows = streams.normal("zeta", *shape, 3, self.rows, self.n + 1)
        return sample

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return F(x, xi) (...), or f(x) without a sample, and h(x) (..., m)."""
        data = self.data
        f = np.einsum("...n,...n->...", x, 0.5 * _product(data.spectrum, data.mirror, x) + data.vector)
        if xi is not None:
            bend = 0.5 * self.curvature_noise * np.square(x).sum(axis=-1) * _along(xi.zeta, x)[..., 0]
            slope = np.einsum("...n,...n->...", x, _along(xi.xi, x)) * (self.gradient_noise / math.sqrt(self.n))
            f = f + xi.factor * (slope + bend)
        return Evaluation(f, self.two_sided(self.residual(x, xi)))

    def residual(self, x: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A x - b, or A_zeta x - b_zeta with a sample, (..., p)."""
        exact = x @ self.data.matrix.T - self.data.offset
        if xi is None or not self.sampled_rows:
            return exact
        noise = _along(xi.rows[..., copy, :, :], x, 2)
        of_a = np.matmul(noise[..., :-1], x[..., None])[..., 0] / math.sqrt(self.n)
        return exact + xi.factor * self.row_noise * (of_a - noise[..., -1])

    def adjoint(self, y: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A^T y, or A_zeta^T y with a sample, (..., n)."""
        exact = y @ self.data.matrix
        if xi is None or not self.sampled_rows:
            return exact
        noise = _along(xi.rows[..., copy, :, :], y, 2)
        size = xi.factor * self.row_noise / math.sqrt(self.n)
        return exact + size * np.matmul(y[..., None, :], noise[..., :-1])[..., 0, :]

    def stochastic_gradient(self, x: Array, xi: Sample | None = None) -> Array:
        """Return Q x + q + (sigma / sqrt(n)) xi + kappa zeta x, (R, n)."""
        slope = _product(self.data.spectrum, self.data.mirror, x)
        slope += self.data.vector
        if xi is not None:
            slope += (xi.factor * self.gradient_noise / math.sqrt(self.n)) * _along(xi.xi, x)
            if self.curvature_noise:
                slope += (xi.factor * self.curvature_noise * _along(xi.zeta, x)) * x
        return slope

    @property
    def known_optimum(self) -> Optimum | None:
        """The stationary point, where f is strictly convex on the feasible set, so that there is no other."""
        if not self.equations or self.null_curvature <= 0.0:
            return None
        x, dual, _ = self.stationary
        multipliers = np.maximum(self.two_sided(dual), 0.0)
        return Optimum(float(self.evaluate(x).f), x, multipliers, "first-order conditions, strictly convex on A x = b")

    @property
    def constants(self) -> Constants:
        """The exact L_f, and slopes over the box, or within 3 half-widths where variables are free."""
        data, sides = self.data, math.sqrt(2.0 if self.equations else 1.0)
        curvature = float(np.abs(data.spectrum).max())
        reach = self.half_width * math.sqrt(self.n + 8.0 * self.free_variables)
        steep = sides * float(np.linalg.norm(data.matrix))
        return Constants(
            curvature=curvature,
            constraint_curvature=0.0,
            slope=curvature * reach + float(np.linalg.norm(data.vector)),
            constraint_slope=steep,
            start_slope=steep,
            weak_convexity=max(0.0, -float(data.spectrum.min())),
        )


def _product(spectrum: Array, mirror: Array, x: Array) -> Array:
    """Return Q x, (..., n)."""
    turned = x - (2.0 * (x @ mirror))[..., None] * mirror
    turned *= spectrum
    turned -= (2.0 * (turned @ mirror))[..., None] * mirror
    return turned


def _along(numbers: Array, x: Array, core: int = 1) -> Array:
    """Reshape a sample's numbers (R, ..., core axes) to broadcast against points x (R, ..., n) with more axes."""
    missing = x.ndim - 1 - (numbers.ndim - core)
    return numbers if missing <= 0 else numbers[(slice(None), *[None] * missing)]
