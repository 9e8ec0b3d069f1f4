"""ZO-ALM: the linearised zeroth-order augmented Lagrangian method, one gradient step per dual update."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Iterate
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.scalars import AugmentedLagrangian
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Info, Solver
from zoviz.solvers.saddle.augmentation import (
    Augmentation,
    Trial,
    ascend,
    augmentation_of,
    augmentation_of_descent,
    augmentation_parameter,
    descend,
    judges_steps,
    lengthen,
    watch_slopes,
)
from zoviz.solvers.saddle.restoration import (
    Restoration,
    begin,
    duals_after,
    first_place,
    known_duals,
    moved,
    patience_of,
    restoration_parameter,
    scalar_of,
    settled,
    violation_of,
)
from zoviz.solvers.step_limits import StepLimits, coupling, descent_end, primal_limits
from zoviz.solvers.step_rules import (
    FINE_RADIUS,
    balanced_step,
    directions_of,
    following,
    radius_of,
    reach_of,
    step_reach_parameter,
    variance_of,
)

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
    """Iterate x, duals y, the oracle's value at x; penalty growth (R,), violation a window ago (R,), iteration.

    ``restoration`` says which replicas still seek a feasible point, ``augmentation`` knows their penalties.
    """

    x: Array
    y: Array
    value: Evaluation
    growth: Array
    reference: Array
    iteration: int
    restoration: Restoration | None = None
    augmentation: Augmentation | None = None


class ZOALM(Solver):
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
    families = (Sphere, Gaussian, CentralSphere, Coordinate)
    live = (
        "primal_step",
        "dual_step",
        "penalty",
        "weights",
        "penalty_growth",
        "step_reach",
        "estimator.batch_size",
        "estimator.smoothing_radius",
    )

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step c", doc="Step of x along the estimate.")
    dual_step = Scale(
        None, softbounds=(1e-6, 1e2), label="Dual step α", doc="Step of the dual variables; more than β counts as β."
    )
    penalty = Scale(None, softbounds=(1e-4, 1e3), label="Penalty β", doc="Weight of the squared violation.")
    step_reach = step_reach_parameter()
    restoration = restoration_parameter()
    augmentation = augmentation_parameter()
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap B", doc="Dual variables stay in [0, B].")
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
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=None, batch_size=50),
        label="Estimator",
        doc="Gradient estimator of the augmented Lagrangian.",
    )

    def suggest(self, problem: Problem, constants: Constants) -> dict[str, Any]:
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
        directions = directions_of(self, problem, constants)
        inflation, noise = 1.0 + variance_of(self, directions, n), self.noise_factor(constants, n, radius)
        slope = constants.safe_start_slope
        beta = self.penalty or balanced_step(_PENALTY_SHARE, constants.curvature, inflation, constants)
        bend = beta * slope**2 if constants.constraint_slope else 0.0
        curvature = constants.curvature + _MULTIPLIER * constants.constraint_curvature + bend
        return (
            reach_of(self, curvature, constants, bend)
            | patience_of(self)
            | augmentation_of(self, constants)
            | directions
            | {
                "primal_step": 1.0 / (curvature * inflation * noise),
                "dual_step": beta / noise,
                "penalty": beta,
                "dual_cap": constants.dual_cap,
                "estimator.smoothing_radius": radius,
            }
        )

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> ALMState:
        """Return the state at x0 (R, n) with y = 0; one call."""
        value = oracle(x0)
        first = begin(value, self.restoration, oracle.contract, first_place(self, oracle, streams))
        penalties = augmentation_of_descent(self, value, oracle.contract, x0.shape[1], self.penalty)
        y, violation = np.zeros((len(x0), oracle.m)), violation_of(value)
        return ALMState(x0, y, value, np.ones(len(x0)), violation, 0, first, penalties)

    def step(self, state: ALMState, oracle: Oracle, streams: Streams) -> tuple[ALMState, Info]:
        """Take the primal and the dual step."""
        x, y, value, growth, reference, t, first, penalties = state
        beta = (self.penalty * growth)[:, None] if penalties is None else penalties.penalty
        w = np.maximum(y + beta * value.h, 0.0)
        direct = AugmentedLagrangian(y, beta) if self.weights == "direct" else None
        phi = scalar_of(first, w, value, direct)
        phi = watch_slopes(self, penalties, phi, (x, value))
        estimate = self.estimator.estimate(phi, x, oracle, streams, base=value)
        info = Info(estimate.variance, x, known_duals(first, w), self.estimator.smoothing_radius)
        step = lengthen(penalties, following(self.primal_step, self.step_reach, w))
        x_next = moved(first, x, step / growth[:, None], estimate.gradient, value, oracle.domain)
        oracle.resample()
        x_next, ahead, after = settled(first, (x, value), (x_next, oracle(x_next)))
        if penalties is None:
            alpha = np.minimum(self.dual_step, beta)
            y_next = y + alpha * np.maximum(ahead.h, -y / beta)
        else:
            trial = Trial(y, (x, value), (x_next, ahead), estimate.gradient, phi, first)
            x_next, ahead, refused, penalties = descend(penalties, trial)
            share = min(1.0, self.dual_step / self.penalty)
            y_next = ascend(penalties, y, ahead.h, self.dual_step, refused, share)
        x, value = x_next, ahead
        y = duals_after(first, y, np.maximum(y_next, 0.0))
        if (t + 1) % _WINDOW == 0:
            violation = violation_of(value)
            if self.penalty_growth:
                stuck = violation > _ENOUGH * reference
                growth = np.minimum(np.where(stuck, 2.0 * growth, growth), _LARGEST_GROWTH)
            reference = violation
        return ALMState(x, np.minimum(y, self.dual_cap), value, growth, reference, t + 1, after, penalties), info

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far the primal step may be moved; empty where penalties change with the iteration."""
        y = iterate.dual
        if judges_steps(self, iterate.x.shape[1]) or self.penalty_growth or y is None:
            return {}
        bend = self.penalty * constants.start_slope**2
        step = primal_limits(
            constants,
            y,
            end=descent_end(self.relative_variance(iterate.x.shape[1])),
            weight=bend,
            answer=coupling(constants, min(self.dual_step, self.penalty)),
            reach=self.step_reach,
        )
        return {"primal_step": step}
