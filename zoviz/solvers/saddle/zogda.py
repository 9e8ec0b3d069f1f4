"""ZOGDA: alternating zeroth-order gradient descent-ascent on the Lagrangian."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, OnePoint, ResidualFeedback, Sphere
from zoviz.estimators.scalars import Lagrangian, objective
from zoviz.oracle import DerivedOracle, Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.published_form import ALONG_COORDINATES, SAFEGUARDS, SEVERAL_DIRECTIONS, Departure
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR, LIVE_STEPS, SaddleMethod, start_duals
from zoviz.solvers.saddle.safeguards import SafeguardState
from zoviz.solvers.step_rules import COARSE_RADIUS, DUAL_SHARE, balanced_step, radius_of
from zoviz.solvers.theory import Info

_PRIMAL_SHARE = 0.6
"""The primal step times L: shorter than that of ZO-SPLM, whose proximal term is missing here (chosen by us)."""
_MULTIPLIER = 0.25
"""Size of the multipliers that L_h is weighed with: duals of moderate size, as for ZO-SPLM (chosen by us)."""


class GDAState(NamedTuple):
    """Iterate x, multipliers y, the oracle's value at x, the iteration, safeguards."""

    x: Array
    y: Array
    value: Evaluation
    iteration: int
    safeguards: SafeguardState = SafeguardState()


class ZOGDA(SaddleMethod):
    r"""A method of one projected descent step in x along an estimated gradient, then one ascent step in y.

    .. math::
        x^{t+1} &= \Pi_X(x^t - c\,\hat\nabla(f + \langle y^t, h\rangle)(x^t)) \\
        y^{t+1} &= \Pi_{[0,B]^m}(y^t + \alpha\,[h(x^{t+1}) - \lambda y^t])

    k + 1 oracle calls per iteration: the value at x^{t+1} that the dual step pays for is the base of the next
    estimate. ``dual="estimated"`` treats y as a black box too, with the same estimator in R^m at x^{t+1}: k calls more
    (2k with central differences), since the base is shared.

    Notes
    -----
    The theory asks for strong concavity in y, which a Lagrangian has only with lambda > 0. The reference code of the
    method moves the dual variables first and keeps improving steps only; neither is done here, where constraints
    are treated as paper zoeg does.

    References
    ----------
    Liu, Lu, Chen et al. (2020), ZO-Min-Max; paper zoeg, §5.1, for the two schedules.
    """

    title = "ZOGDA (ZO-Min-Max)"
    source = "paper zoeg, §5.1"
    departures = (
        *SAFEGUARDS,
        ALONG_COORDINATES,
        SEVERAL_DIRECTIONS,
        Departure("regularisation", 0.0, "a regularisation of the multipliers"),
        Departure("dual", "exact", "an estimated slope in y"),
    )
    printed: ClassVar[dict[str, Any]] = {"estimator.smoothing_radius": 1e-3}
    families = (Sphere, Gaussian, CentralSphere, Coordinate, OnePoint, ResidualFeedback)
    live = (*LIVE_STEPS, "step_reach", "regularisation", *LIVE_ESTIMATOR)

    regularisation = param.Number(
        default=0.0,
        bounds=(0, 1e6),
        softbounds=(0, 1),
        label="Dual regularisation λ",
        doc="Weight of -λ/2 ||y||², which makes the dual problem strongly concave and biases the solution.",
    )
    dual: param.Selector[str] = param.Selector(
        default="exact",
        objects=["exact", "estimated"],
        label="Dual gradient",
        doc="exact: h(x), which is already paid for. estimated: by the estimator, as for a black box in y.",
    )
    estimator = Part(GradientEstimator, default=Sphere(smoothing_radius=None, batch_size=10))

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps from curvatures and the constraints' slope G_0 at the start.

        c = 0.6 / [(L_f + L_h / 4)(1 + v)] and alpha = 0.3 L_f / [(1 + v) G_0^2] with v the relative variance of the
        estimate, (n - 1)/k for the sphere; alpha once more over 1 + (m - 1)/k where the dual gradient is estimated;
        both over ``noise_factor`` under independent noise; B = 100 max(1, G_f / G_h); r = 1e-3 as in a public
        constrained version of the method, larger under that noise.

        Notes
        -----
        Ours: the papers take the best of a grid. The same reasoning as for ZO-SPLM, whose proximal term is missing
        here, so that the primal step is shorter. c is shortened where ||y|| is beyond ``step_reach``.
        """
        n = problem.domain.n
        radius = radius_of(self, problem, constants, COARSE_RADIUS)
        directions = self.directions_of(problem, constants) if self.dual == "exact" else {}
        inflation = (1.0 + self.variance_along(directions, n)) * self.noise_factor(constants, n, radius)
        dual_inflation = 1.0 + self.relative_variance(problem.m) if self.dual == "estimated" and problem.m else 1.0
        curvature = constants.curvature + _MULTIPLIER * constants.constraint_curvature
        return {
            **self.safeguard_rule(constants, curvature),
            **directions,
            "primal_step": _PRIMAL_SHARE / (curvature * inflation),
            "dual_step": balanced_step(DUAL_SHARE, constants.curvature, inflation * dual_inflation, constants),
            "dual_cap": constants.dual_cap,
            "estimator.smoothing_radius": radius,
        }

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> GDAState:
        """Return the state at x0 (R, n) with y = 0; one call."""
        value = oracle(x0)
        return GDAState(x0, start_duals(x0, oracle), value, 0, self.first_safeguards(value, oracle, streams))

    def step(self, state: GDAState, oracle: Oracle, streams: Streams) -> tuple[GDAState, Info]:
        """Take one step: descend in x, then ascend in y."""
        x, y, value, t, _ = state
        safe = self.guarded(state, oracle)
        c, alpha = self.steps_at(t)
        estimate = self.estimator.estimate(safe.lagrangian(y, value), x, oracle, streams, base=value)
        info = safe.info(estimate.variance)
        x_next, value_next = safe.descend(x, safe.shortened(c, y), estimate.gradient)
        slope = self._slope_in_y(x_next, y, value_next, oracle, streams)
        y_next = safe.ascend(y, alpha, slope - self.regularisation * y)
        return GDAState(x_next, y_next, value_next, t + 1, safe.state), info

    def _slope_in_y(self, x: Array, y: Array, value: Evaluation, oracle: Oracle, streams: Streams) -> Array:
        """Return h(x), which is paid for, or an estimate of it along directions in R^m, (R, m)."""
        if self.dual == "exact" or not oracle.m:
            return value.h
        base = Evaluation(Lagrangian(y)(value), value.h)
        return self.estimator.estimate(objective, y, _in_duals(oracle, x), streams, base=base).gradient


def _in_duals(oracle: Oracle, x: Array) -> DerivedOracle:
    """Return the Lagrangian at fixed x as an oracle on R^m, its value in f; every point costs a call at x."""

    def evaluate(y: Array) -> Evaluation:
        value = oracle(x if y.ndim == 2 else np.repeat(x[:, None], y.shape[1], axis=1))
        return Evaluation(value.f + (y * value.h).sum(axis=-1), value.h)

    return DerivedOracle(oracle, evaluate)
