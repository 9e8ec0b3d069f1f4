"""OGDA-RR: optimistic zeroth-order gradient descent-ascent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues
from zoviz.estimators import CentralSphere, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.known_part import saddle
from zoviz.estimators.scalars import Lagrangian, objective
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.published_form import LAST_ITERATE, SEVERAL_DIRECTIONS, Departure
from zoviz.solvers.saddle.extragradient import Field
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR, LIVE_STEPS
from zoviz.solvers.step_rules import (
    COARSE_RADIUS,
    balanced_step,
    dual_of,
    dual_parameter,
    joint_target,
    radius_of,
    takes_exact_slope,
)
from zoviz.solvers.theory import Info, Target

_PRIMAL_SHARE, _DUAL_SHARE = 0.3, 0.15
"""Primal and dual step in units of 1 / L and L / G_0^2: an optimistic step bears half of what a plain one does, and the
noise of two estimates (chosen by us)."""
_MULTIPLIER = 0.5
"""Size of the multipliers that L_h is weighed with (chosen by us)."""
_ONE_POINT_RADIUS = 8.0**0.25
"""The radius where the value itself is the noise: that of More and Wild for noise of the size of L."""


class OGDAState(NamedTuple):
    """Iterate (x, y), the oracle's value at x, the last field (R, n) and (R, m), the average and its weight."""

    x: Array
    y: Array
    value: Evaluation
    field_x: Array
    field_y: Array
    average: Array
    weight: float
    iteration: int


class OGDARR(Solver):
    r"""Our implementation of OGDA-RR: a step along the estimated field, plus its change since the last step.

    .. math::
        u^{t+1} = \Pi_Z\big(u^t - \eta_t \hat F_t - \eta_t(\hat F_t - \hat F_{t-1})\big), \qquad
        \hat F_t = \frac{d}{R_t}[\varphi(u^t + R_t v) - \varphi(u^t)]\,\tilde v, \quad v \sim U(\mathbb S^{d-1})

    for the saddle function phi(x, y) = f(x) + <y, h(x)> of u = (x, y) on Z = X x [0, B]^m, with v's part in y negated,
    d = n + m and F_{-1} = F_0. k directions are averaged: k + 1 oracle calls per iteration. ``points=1`` leaves
    phi(u) out, as the original (k calls, and one for the value at the new x, which only an exact dual part needs);
    ``dual="exact"`` perturbs x only and takes grad_y phi = h(x), and is what the rule takes where it chooses the step.

    Notes
    -----
    The method is made for finite sums, whose components it visits in randomly reshuffled order. A problem here has
    one component, N = 1, so that nothing is reshuffled and what runs is optimistic gradient descent-ascent. Written
    from the abstract and from memory: as remembered, the original estimates from one point; paper zoeg files it under
    two. The theory's ``schedule="diminishing"`` is eta_0 (t + 1)^(-3/4 - chi) with chi = 0.01 and R_0 (t + 1)^(-1/4),
    too short to be seen at work in a few hundred iterations; it speaks about the eta-weighted average of the iterates.

    References
    ----------
    Maheshwari, Chiu, Mazumdar, Sastry and Ratliff (2022), Zeroth-order methods for convex-concave minmax problems,
    AISTATS; paper zoeg, Table 1.
    """

    title = "OGDA-RR"
    source = "Maheshwari et al. (2022), as remembered"
    departures = (SEVERAL_DIRECTIONS, Departure("dual", "estimated", "the exact slope in y"), LAST_ITERATE)
    families = (Sphere, Gaussian, CentralSphere)
    live = (*LIVE_STEPS, "report", *LIVE_ESTIMATOR)

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step η", doc="Step of x along the field.")
    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step η_y", doc="Step of the dual variables.")
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "diminishing"],
        label="Schedule",
        doc="constant, or diminishing: steps / (t + 1)^power, radius / (t + 1)^(1/4).",
    )
    step_power = param.Number(
        default=0.76, bounds=(0, 1), label="Step power", doc="Power of the diminishing steps: 3/4 + χ in the theory."
    )
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap B", doc="Dual variables stay in [0, B].")
    points: param.Selector[int] = param.Selector(
        default=2, objects=[2, 1], label="Points per direction", doc="2: difference to the base. 1: the value alone."
    )
    dual = dual_parameter()
    report: param.Selector[str] = param.Selector(
        default="last",
        objects=["last", "average"],
        label="Answer",
        doc="The last iterate, or the average weighted by the steps that the theory speaks about.",
    )
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=None, batch_size=10),
        label="Estimator",
        doc="Gradient estimator of the Lagrangian.",
    )

    @property
    def needs_saddle_point(self) -> bool:
        """Whether a saddle point is needed: always, as it has no penalty."""
        return True

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for one-point estimates by an estimator without a base point; None otherwise."""
        if self.points == 1 and type(self.estimator) not in (Sphere, Gaussian):
            return (
                f"OGDA-RR with one point per direction leaves the base value out, and {type(self.estimator).__name__} "
                "has none: choose Sphere or Gaussian, or two points."
            )
        return None

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps from curvatures and the constraints' slope G_0 at the start.

        With L = L_f + L_h / 2, eta = 0.3 / [L (1 + v)] and eta_y = 0.15 L / [(1 + v) G_0^2], v the relative variance of
        the estimate, (n - 1)/k for the sphere with an exact slope in y, (n + m - 1)/k without, both over
        ``noise_factor`` under independent noise; B = 100 max(1, G_f / G_h); r = 1e-3, larger under that noise. With one
        point, r = 8^(1/4) and both steps once more over d.

        Notes
        -----
        Ours: the paper's steps are for its rate. An optimistic step bears half of what a plain one does, and the
        noise of two estimates. The value itself is the noise of a one-point estimate; its size is not known before
        the run, so that those steps are a cautious guess.
        """
        n = problem.domain.n
        d = n if takes_exact_slope(self) else n + problem.m
        inflation = (1.0 + self.relative_variance(d)) * (1.0 if self.points == 2 else d)
        curvature = constants.curvature + _MULTIPLIER * constants.constraint_curvature
        floor = COARSE_RADIUS if self.points == 2 else _ONE_POINT_RADIUS
        radius = radius_of(self, problem, constants, floor)
        inflation *= self.noise_factor(constants, d, radius)
        return dual_of(self) | {
            "primal_step": _PRIMAL_SHARE / (curvature * inflation),
            "dual_step": balanced_step(_DUAL_SHARE, curvature, inflation, constants),
            "dual_cap": constants.dual_cap,
            "estimator.smoothing_radius": radius,
        }

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> OGDAState:
        """Return the state at x0 (R, n) with y = 0; one call."""
        y = np.zeros((len(x0), oracle.m))
        return OGDAState(x0, y, oracle(x0), np.zeros_like(x0), y, np.zeros_like(x0), 0.0, 0)

    def step(self, state: OGDAState, oracle: Oracle, streams: Streams) -> tuple[OGDAState, Info]:
        """Take one optimistic step."""
        x, y, value, last_x, last_y, average, weight, t = state
        shrink, radius = 1.0, self.estimator.smoothing_radius
        if self.schedule == "diminishing":
            shrink, radius = (t + 1.0) ** -self.step_power, radius * (t + 1.0) ** -0.25
        field = self.field(x, y, value, radius, oracle, streams)
        info = Info(field.variance, x, y, radius)
        change = (field.x - last_x, field.y - last_y) if t else (0.0, 0.0)
        x = oracle.domain.project(x - shrink * self.primal_step * (field.x + change[0]))
        y = np.maximum(y + shrink * self.dual_step * (field.y + change[1]), 0.0)
        oracle.resample()
        value = oracle(x)
        eta = shrink * self.primal_step
        average = average + eta / (weight + eta) * (x - average)
        return OGDAState(x, np.minimum(y, self.dual_cap), value, field.x, field.y, average, weight + eta, t + 1), info

    def field(self, x: Array, y: Array, value: Evaluation, radius: float, oracle: Oracle, streams: Streams) -> Field:
        """Estimate grad_x phi (R, n) and grad_y phi (R, m) at (x, y), given the oracle's value at x."""
        n, phi = x.shape[1], Lagrangian(y)
        # The one-point form is the two-point one with phi = 0 at the base.
        if self.dual == "exact":
            base = value if self.points == 2 else Evaluation(-(value.h * y).sum(axis=-1), value.h)
            estimate = self.estimator.estimate(phi, x, oracle, streams, base=base, radius=radius)
            return Field(estimate.gradient, value.h, estimate.variance)
        base = Evaluation(phi(value) if self.points == 2 else np.zeros(len(x)), value.h)
        z = np.concatenate([x, y], axis=1)
        estimate = self.estimator.estimate(objective, z, saddle(oracle), streams, base=base, radius=radius)
        return Field(estimate.gradient[:, :n], estimate.gradient[:, n:], estimate.variance)

    def output(self, state: OGDAState) -> Array:
        """Return the last iterate or the average (R, n), as ``report`` says."""
        return state.average if self.report == "average" and state.iteration else state.x

    def target(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> Target | None:
        """Return the magnitudes of the Lagrangian in x, or of the saddle function in (x, y), for theory."""
        target = super().target(problem, info, exact)
        return target if self.dual == "exact" else joint_target(target, problem, info)

    def theory(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> dict[str, Array]:
        """Return predicted variances (R,); where an estimate uses one point, the value phi acts as its noise.

        Of an estimate from one point: (d^2 phi^2 / R^2 + (d - 1) ||grad||^2) / k.
        """
        if self.points == 2:
            return super().theory(problem, info, exact)
        target = self.target(problem, info, exact)
        if target is None:
            return {}
        noise = problem.lagrangian_noise(info.dual)
        value = Lagrangian(info.dual)(problem.evaluate(info.point))
        # The two-point formula counts the noise of two values.
        half = 0.5 * (np.square(value) + noise)
        return {"variance_predicted": self.estimator.predicted_variance(target.square, target.n, half, info.radius)}
