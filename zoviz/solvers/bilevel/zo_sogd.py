"""ZO-SOGD: simultaneous online gradient descent from values of f and g only."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import RandomSource
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere, GradientEstimator
from zoviz.estimators.scalars import objective
from zoviz.oracle import BilevelOracle
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import BilevelConstants, OnlineBilevel
from zoviz.solvers import theorem_steps
from zoviz.solvers.bilevel.base import Triple, felt_variance, spread_out
from zoviz.solvers.bilevel.simultaneous import Simultaneous
from zoviz.solvers.published_form import Departure


class ZOSOGD(Simultaneous):
    r"""SOGD with every gradient and product replaced by central differences along directions on the unit sphere.

    .. math::
        D^y &= \hat\nabla_y\, g_t(x, \cdot)(y), \qquad
        D^v = \hat\nabla_y\, [f_t(x, \cdot) + \partial_v g_t(x, \cdot)](y), \qquad
        D^x = \hat\nabla_x\, [f_t(\cdot, y) + \partial_v g_t(\cdot, y)](x) \\
        \partial_v g_t(x, y) &= \frac{g_t(x, y + \rho_v v) - g_t(x, y - \rho_v v)}{2\rho_v}, \qquad
        \hat\nabla \varphi(z) = \frac{d}{2\rho k} \sum_{i \le k} [\varphi(z + \rho u_i) - \varphi(z - \rho u_i)]\,u_i

    so that both gradients in a product share their directions and samples: its variance stays bounded as rho_v tends
    to 0. Recursions, steps and projections are those of ``SOGD``, the old point's directions being the present ones.
    With k directions in y and k' in x, 8 k + 6 k' calls at each of two points in a round (one in the first, and where
    all weights are 1): 2 k + 2 k' values of f, the others of g.

    ``directions="per sample"``, as published, has b' directions for each difference of g and b for each of f, which
    see a sample each: 10 b' values of g and 4 b of f at each point.

    Notes
    -----
    The paper prints differences of two estimates without saying that they share directions: with directions of their
    own the variance is of order rho_v^-2 (errata 30). It draws them from the unit ball, for which its factor d / (2
    rho) does not give the gradient; the sphere does (errata 31). Its direction i goes with sample i. By default all k
    directions see the round's whole mini-batch, b and b' samples, and D^v and D^x take one set of directions for both
    of their terms. Theory's steps are alpha_t = (n + d)^(-3/4) (c + t)^(-1/3) and its weights min(1, c_w alpha_t); its
    rho_v is (c_v alpha_t)^(1/2); its other radii (1 / (d sqrt(T)) for y, 1 / (n sqrt(T)) for x) and batches are left as
    inputs.

    References
    ----------
    Paper sogd, Algorithm 2, (17)-(22) and Theorem 4.2.
    """

    title = "ZO-SOGD"
    source = "paper sogd, Algorithm 2"
    theorems = {"4.2": theorem_steps.growing_batches}
    departures = (
        *Simultaneous.departures,
        Departure("directions", "per sample", "directions that see whole mini-batches, and that f and g share"),
    )
    families = (CentralSphere,)
    first_order = False
    weight_power = 1.0
    live: ClassVar[tuple[str, ...]] = (
        *Simultaneous.live,
        "product_radius",
        "product_factor",
        "estimator.batch_size",
        "estimator.smoothing_radius",
        "outer_estimator.batch_size",
        "outer_estimator.smoothing_radius",
    )

    product_radius = Scale(
        0.01,
        softbounds=(1e-5, 1.0),
        label="Product radius ρ_v",
        doc="Step along v in the differences for Hessian- and Jacobian-vector products.",
    )
    product_factor = Scale(
        None,
        bounds=(1e-15, 1e9),
        softbounds=(1e-6, 1.0),
        label="Product factor c_v",
        doc="Factor c_v of the radius in theory's schedule: ρ_v² = c_v α_t.",
    )
    estimator = Part(
        GradientEstimator,
        default=CentralSphere(smoothing_radius=5e-3, batch_size=10),
        label="Estimator in y",
        doc="Estimator of the derivatives along y, with radius ρ_r.",
    )
    outer_estimator = Part(
        GradientEstimator,
        default=CentralSphere(smoothing_radius=5e-3, batch_size=10),
        label="Estimator in x",
        doc="Estimator of the derivatives along x, with radius ρ_s.",
    )

    directions: param.Selector[str] = param.Selector(
        default="shared",
        objects=["shared", "per sample"],
        label="Directions",
        doc="shared: a set that f and g share, of which each sees the whole mini-batch. per sample: one for every "
        "sample, of f and of g apart, as published; the estimators' batch sizes then do not count.",
    )

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence, too, for samples of which only the mean is known, where each has a direction."""
        means = type(OnlineBilevel.of(problem)).member is OnlineBilevel.member
        several = max(self.outer_batch, self.inner_batch) > 1 and problem.contract != "deterministic"
        if self.directions == "per sample" and several and means:
            return (
                f"{self.title} as published has a direction for each sample, and {problem.title} has only their mean: "
                "choose mini-batches of 1, or shared directions."
            )
        return super().unsupported_reason(problem)

    def variances(self, problem: Any, constants: BilevelConstants) -> tuple[float, float]:
        """Return the relative variances (n - 1) / k' in x and (d - 1) / k in y, the latter as far as y feels it."""
        n, d, unit = problem.domain.n, problem.inner_domain.n, np.ones(1)
        in_x = self.outer_estimator.predicted_variance(unit, n, 0.0, 1.0)
        in_y = self.estimator.predicted_variance(unit, d, 0.0, 1.0)
        return float(in_x[0]), felt_variance(float(in_y[0]), d, constants)

    def scale(self, n: int, d: int) -> float:
        """Return theory's factor (n + d)^(-3/4) of the steps."""
        return float(n + d) ** -0.75

    @property
    def radius(self) -> float:
        """Return the smoothing radius rho_s of the leader's direction."""
        return self.outer_estimator.smoothing_radius

    def from_constants(self, problem: Any, constants: BilevelConstants) -> dict[str, Any]:
        """Return what the base does, and c_v such that theory's rho_v begins as the product radius."""
        values = super().from_constants(problem, constants)
        alpha = self.outer_step or values["outer_step"]
        return values | {"product_factor": self.product_radius**2 / alpha}

    def radius_of_products(self, t: int, at: Triple) -> float:
        """Return rho_v of round t: constant, or (c_v alpha_t)^(1/2) in theory's schedule."""
        if self.schedule == "practice" or self.product_factor is None:
            return self.product_radius
        return math.sqrt(self.product_factor * self.alpha(t, at))

    def raw(self, rounds: BilevelOracle, at: Triple, streams: RandomSource, t: int) -> tuple[Triple, Array | None]:
        """Return estimated gradients: of g in y (R, d), and of f plus g's slope along v in y (R, d) and x (R, n)."""
        if self.directions == "per sample":
            return self._raw_by_samples(rounds, at, streams, t)
        x, y, v = at
        rho = self.radius_of_products(t, at)

        def tilted(places: Array, inner: Array) -> Array:
            offset = rho * spread_out(v, inner)
            rise = rounds.inner(places, inner + offset) - rounds.inner(places, inner - offset)
            return rounds.outer(places, inner) + rise / (2.0 * rho)

        follower = rounds.view(lambda points: rounds.inner(spread_out(x, points), points))
        system = rounds.view(lambda points: tilted(spread_out(x, points), points))
        leader = rounds.view(lambda points: tilted(points, spread_out(y, points)))
        of_y = self.estimator.estimate(objective, y, follower, streams)
        of_v = self.estimator.estimate(objective, y, system, streams)
        of_x = self.outer_estimator.estimate(objective, x, leader, streams)
        return Triple(of_x.gradient, of_y.gradient, of_v.gradient), of_x.variance

    def _raw_by_samples(
        self, rounds: BilevelOracle, at: Triple, streams: RandomSource, t: int
    ) -> tuple[Triple, Array | None]:
        """Return the same by (19)-(22) as printed: direction i goes with sample i, and f and g have their own."""
        x, y, v = at
        rho, b, inner_b = self.radius_of_products(t, at), self.outer_batch, self.inner_batch

        def follower(one: BilevelOracle, points: Array) -> Array:
            return one.inner(spread_out(x, points), points)

        def rise(one: BilevelOracle, places: Array, inner: Array) -> Array:
            offset = rho * spread_out(v, inner)
            return (one.inner(places, inner + offset) - one.inner(places, inner - offset)) / (2.0 * rho)

        def mean(estimator: GradientEstimator, z: Array, count: int, phi: Callable[..., Array]) -> tuple[Array, Array]:
            single = estimator.clone()
            single.batch_size = 1
            views = (rounds.view(partial(phi, rounds.member(i))) for i in range(count))
            slopes = np.array([single.estimate(objective, z, view, streams).gradient for view in views])
            spread = np.square(slopes - slopes.mean(axis=0)).sum(axis=(0, 2))
            return slopes.mean(axis=0), spread / (count * (count - 1)) if count > 1 else np.full(len(z), np.nan)

        in_y, in_x = self.estimator, self.outer_estimator
        of_y, _ = mean(in_y, y, inner_b, follower)  # (19a), (22a)
        of_v, _ = mean(in_y, y, b, lambda one, points: one.outer(spread_out(x, points), points))  # (20a)
        of_v = of_v + mean(in_y, y, inner_b, lambda one, points: rise(one, spread_out(x, points), points))[0]  # (21a)
        of_x, own = mean(in_x, x, b, lambda one, points: one.outer(points, spread_out(y, points)))  # (20b)
        cross, other = mean(in_x, x, inner_b, lambda one, points: rise(one, points, spread_out(y, points)))  # (21b)
        return Triple(of_x + cross, of_y, of_v), own + other
