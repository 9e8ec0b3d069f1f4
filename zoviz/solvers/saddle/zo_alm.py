"""ZO-ALM: the linearised zeroth-order augmented Lagrangian method, one gradient step per dual update."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, OnePoint, ResidualFeedback, Sphere
from zoviz.estimators.scalars import AugmentedLagrangian
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.published_form import ALONG_COORDINATES, SAFEGUARDS, Departure
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR, LIVE_STEPS, SaddleMethod, start_duals
from zoviz.solvers.saddle.restoration import violation_of
from zoviz.solvers.saddle.safeguards import SafeguardState
from zoviz.solvers.step_limits import coupling, descent_end
from zoviz.solvers.step_rules import FINE_RADIUS, balanced_step, radius_of
from zoviz.solvers.theory import Info

_WINDOW, _ENOUGH = 100, 0.9
"""Iterations after which the violation must have come down to this share, else the penalty doubles (chosen by us)."""
_PENALTY_SHARE = 0.1
"""The penalty in units of L / G_0^2 (chosen by us): room for constraints that are steeper than around the start."""
_MULTIPLIER = 0.5
"""Size of the multipliers that L_h is weighed with (chosen by us)."""
_LARGEST_GROWTH = 2.0**20
"""Largest growth of the penalty: beyond it doubling only stops the iterates, and a violation that noise holds up
would double it for ever."""


class ALMState(NamedTuple):
    """Iterate x, multipliers y, value at x; penalty growth (R,), violation a window ago (R,), iteration, safeguards."""

    x: Array
    y: Array
    value: Evaluation
    growth: Array
    reference: Array
    iteration: int
    safeguards: SafeguardState = SafeguardState()


class ZOALM(SaddleMethod):
    r"""Projected descent on the augmented Lagrangian along an estimated gradient, one step per dual update.

    .. math::
        x^{t+1} &= \Pi_X(x^t - c\,\hat\nabla \mathcal L_\beta(\cdot, y^t)(x^t)), \qquad
        \mathcal L_\beta(x, y) = f(x) + \tfrac{1}{2\beta}\textstyle\sum_i([y_i + \beta h_i(x)]_+^2 - y_i^2) \\
        y^{t+1} &= \Pi_{[0,B]^m}(y^t + \alpha \max\{h(x^{t+1}), -y^t/\beta\})

    k + 1 oracle calls per iteration: the value at x^{t+1} that the dual step pays for is the base of the next estimate.

    Notes
    -----
    Our reading of what paper splm counts as an iteration of "ZO-ALM": it prints no formula (errata 5), and
    nothing is proved for this form; the complexity that its Table 1 lists belongs to ``ZOiALM``. Inequalities are
    treated without slack variables, which is the same method (errata 6). ``weights="frozen"`` estimates the gradient
    of f + <w, h> at w = [y + beta h(x)]_+ fixed: a noisy h inside [.]_+^2 would be biased. ``penalty_growth`` doubles
    beta and halves c wherever 100 iterations did not lower the violation by a tenth; alpha stays as it is.

    References
    ----------
    Paper splm, §4 (the comparison); Hestenes (1969), Powell (1969) and Rockafellar (1973) for the function.
    """

    title = "ZO-ALM (linearised)"
    source = "our reading of what paper splm, §4, compares with"
    departures = (
        *SAFEGUARDS,
        ALONG_COORDINATES,
        Departure("penalty_growth", False, "a penalty that grows"),
    )
    printed: ClassVar[dict[str, Any]] = {"estimator.smoothing_radius": 1e-5, "estimator.batch_size": 50}
    families = (Sphere, Gaussian, CentralSphere, Coordinate, OnePoint, ResidualFeedback)
    live = (*LIVE_STEPS, "penalty", "weights", "penalty_growth", "step_reach", *LIVE_ESTIMATOR)

    dual_step = Scale(
        None, softbounds=(1e-6, 1e2), label="Dual step α", doc="Step of the dual variables; more than β counts as β."
    )
    penalty = Scale(None, softbounds=(1e-4, 1e3), label="Penalty β", doc="Weight of the squared violation.")
    weights: param.Selector[str] = param.Selector(
        default="frozen",
        objects=["frozen", "direct"],
        label="Multipliers in the estimate",
        doc="frozen: estimate f + <w, h> at w = [y + βh(x)]₊ fixed. direct: estimate the augmented Lagrangian itself.",
    )
    penalty_growth = param.Boolean(
        default=False,
        label="Let the penalty grow",
        doc="Double β and halve c where 100 iterations did not lower the violation by a tenth.",
    )
    estimator = Part(GradientEstimator, default=Sphere(smoothing_radius=None, batch_size=50))

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return penalty and steps from curvatures and the constraints' slope G_0 at the start.

        beta = alpha = 0.1 L_f / [(1 + v) G_0^2], c = 1 / [(L_f + L_h / 2 + beta G_0^2)(1 + v)] with v the relative
        variance of the estimate, (n - 1)/k for the sphere, alpha and c over ``noise_factor`` under independent noise;
        B = 100 max(1, G_f / G_h); r = 1e-5 as in paper splm, larger under that noise.

        Notes
        -----
        Ours: the paper gives no penalty and no steps. beta weighs the constraints' curvature G_0^2 against the
        objective's, whatever their units; a tenth leaves room for steeper constraints than those of the start. c
        is shortened where [y + beta h(x)]_+ is beyond ``step_reach``.
        """
        n = problem.domain.n
        radius = radius_of(self, problem, constants, FINE_RADIUS)
        directions = self.directions_of(problem, constants)
        inflation, noise = 1.0 + self.variance_along(directions, n), self.noise_factor(constants, n, radius)
        slope = constants.safe_start_slope
        beta = self.penalty or balanced_step(_PENALTY_SHARE, constants.curvature, inflation, constants)
        bend = beta * slope**2 if constants.constraint_slope else 0.0
        curvature = constants.curvature + _MULTIPLIER * constants.constraint_curvature + bend
        return {
            **self.safeguard_rule(constants, curvature, bend),
            **directions,
            "primal_step": 1.0 / (curvature * inflation * noise),
            "dual_step": beta / noise,
            "penalty": beta,
            "dual_cap": constants.dual_cap,
            "estimator.smoothing_radius": radius,
        }

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> ALMState:
        """Return the state at x0 (R, n) with y = 0; one call."""
        value = oracle(x0)
        safeguards = self.first_safeguards(value, oracle, streams, self.penalty)
        return ALMState(x0, start_duals(x0, oracle), value, np.ones(len(x0)), violation_of(value), 0, safeguards)

    def step(self, state: ALMState, oracle: Oracle, streams: Streams) -> tuple[ALMState, Info]:
        """Take the primal and the dual step."""
        x, y, value, growth, reference, t, _ = state
        safe = self.guarded(state, oracle)
        beta = safe.penalty(own := self.penalty * growth)
        w = np.maximum(y + beta * value.h, 0.0)
        phi = safe.scalar(w, value, AugmentedLagrangian(y, beta) if self.weights == "direct" else None)
        estimate = self.estimator.estimate(phi, x, oracle, streams, base=value)
        info, (primal, dual) = safe.info(estimate.variance), self.steps_at(t)
        c, alpha = safe.shortened(primal, w) / growth[:, None], np.minimum(dual, beta)
        x_next, value_next = safe.descend(x, c, estimate.gradient)
        slope = np.maximum(value_next.h, -y / safe.penalty(own))
        y_next = safe.ascend(y, alpha, slope, share=min(1.0, dual / self.penalty))
        if (t + 1) % _WINDOW == 0:
            growth, reference = self._grown(growth, reference, violation_of(value_next))
        return ALMState(x_next, y_next, value_next, growth, reference, t + 1, safe.state), info

    def _grown(self, growth: Array, reference: Array, violation: Array) -> tuple[Array, Array]:
        """Return growth and reference (R,) once a window has ended at a violation (R,), the next reference."""
        if self.penalty_growth:
            stuck = violation > _ENOUGH * reference
            growth = np.minimum(np.where(stuck, 2.0 * growth, growth), _LARGEST_GROWTH)
        return growth, violation

    @property
    def steady(self) -> bool:
        """Whether steps and penalty stay as they are."""
        return super().steady and not self.penalty_growth

    def stability(self, constants: Constants, n: int, m: int) -> dict[str, Any]:
        """Return the base's, with the penalty's curvature beta G_0^2, and dual steps of at most beta."""
        answer = coupling(constants, min(self.dual_step, self.penalty))
        end = descent_end(self.relative_variance(n))
        return {"end": end, "answer": answer, "weight": self.penalty * constants.start_slope**2}
