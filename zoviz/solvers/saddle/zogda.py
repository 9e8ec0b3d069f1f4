"""ZOGDA: alternating zeroth-order gradient descent-ascent on the Lagrangian."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Iterate
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.scalars import Lagrangian, objective
from zoviz.oracle import DerivedOracle, Oracle
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
    weights_in,
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
)
from zoviz.solvers.step_limits import StepLimits, coupling, descent_end, primal_limits
from zoviz.solvers.step_rules import (
    COARSE_RADIUS,
    DUAL_SHARE,
    balanced_step,
    diminishing,
    directions_of,
    following,
    radius_of,
    reach_of,
    step_reach_parameter,
    variance_of,
)

_PRIMAL_SHARE = 0.6
"""The primal step times L: shorter than that of ZO-SPLM, whose proximal term is missing here (chosen by us)."""
_MULTIPLIER = 0.25
"""Size of the multipliers that L_h is weighed with: duals of moderate size, as for ZO-SPLM (chosen by us)."""


class GDAState(NamedTuple):
    """Iterate x, duals y, the oracle's value at x, the iteration, who still seeks a feasible point, penalties."""

    x: Array
    y: Array
    value: Evaluation
    iteration: int
    restoration: Restoration | None = None
    augmentation: Augmentation | None = None


class ZOGDA(Solver):
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
    families = (Sphere, Gaussian, CentralSphere, Coordinate)
    live = (
        "primal_step",
        "dual_step",
        "step_reach",
        "schedule",
        "regularisation",
        "estimator.batch_size",
        "estimator.smoothing_radius",
    )

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step c", doc="Step of x along the estimate.")
    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step α", doc="Step of the dual variables along h.")
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "diminishing"],
        label="Step schedule",
        doc="constant (CS), or diminishing (DS): step / sqrt(t + 1).",
    )
    regularisation = param.Number(
        default=0.0,
        bounds=(0, 1e6),
        softbounds=(0, 1),
        label="Dual regularisation λ",
        doc="Weight of -λ/2 ||y||², which makes the dual problem strongly concave and biases the solution.",
    )
    step_reach = step_reach_parameter()
    restoration = restoration_parameter()
    augmentation = augmentation_parameter()
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap B", doc="Dual variables stay in [0, B].")
    dual: param.Selector[str] = param.Selector(
        default="exact",
        objects=["exact", "estimated"],
        label="Dual gradient",
        doc="exact: h(x), which is already paid for. estimated: by the estimator, as for a black box in y.",
    )
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=None, batch_size=10),
        label="Estimator",
        doc="Gradient estimator of the Lagrangian.",
    )

    def suggest(self, problem: Problem, constants: Constants) -> dict[str, Any]:
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
        directions = directions_of(self, problem, constants) if self.dual == "exact" else {}
        inflation = (1.0 + variance_of(self, directions, n)) * self.noise_factor(constants, n, radius)
        dual_inflation = 1.0 + self.relative_variance(problem.m) if self.dual == "estimated" and problem.m else 1.0
        curvature = constants.curvature + _MULTIPLIER * constants.constraint_curvature
        return (
            reach_of(self, curvature, constants)
            | patience_of(self)
            | augmentation_of(self, constants)
            | directions
            | {
                "primal_step": _PRIMAL_SHARE / (curvature * inflation),
                "dual_step": balanced_step(DUAL_SHARE, constants.curvature, inflation * dual_inflation, constants),
                "dual_cap": constants.dual_cap,
                "estimator.smoothing_radius": radius,
            }
        )

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> GDAState:
        """Return the state at x0 (R, n) with y = 0; one call."""
        value = oracle(x0)
        first = begin(value, self.restoration, oracle.contract, first_place(self, oracle, streams))
        penalties = augmentation_of_descent(self, value, oracle.contract, x0.shape[1])
        return GDAState(x0, np.zeros((len(x0), oracle.m)), value, 0, first, penalties)

    def step(self, state: GDAState, oracle: Oracle, streams: Streams) -> tuple[GDAState, Info]:
        """Take one step: descend in x, then ascend in y."""
        x, y, value, t, first, penalties = state
        c = diminishing(self.primal_step, t, self.schedule)
        alpha = diminishing(self.dual_step, t, self.schedule)
        weights = weights_in(penalties, y, value)
        phi = scalar_of(first, weights, value)
        phi = watch_slopes(self, penalties, phi, (x, value))
        estimate = self.estimator.estimate(phi, x, oracle, streams, base=value)
        info = Info(estimate.variance, x, known_duals(first, weights), self.estimator.smoothing_radius)
        step = lengthen(penalties, following(c, self.step_reach, y))
        x_next = moved(first, x, step, estimate.gradient, value, oracle.domain)
        oracle.resample()
        x_next, ahead, after = settled(first, (x, value), (x_next, oracle(x_next)))
        refused = None
        if penalties is not None:
            trial = Trial(y, (x, value), (x_next, ahead), estimate.gradient, phi, first)
            x_next, ahead, refused, penalties = descend(penalties, trial)
        x, value = x_next, ahead
        slope = value.h
        if self.dual == "estimated" and oracle.m:
            base = Evaluation(Lagrangian(y)(value), value.h)
            slope = self.estimator.estimate(objective, y, _in_duals(oracle, x), streams, base=base).gradient
        y_next = ascend(penalties, y, slope - self.regularisation * y, alpha, refused)
        y_next = np.minimum(np.maximum(y_next, 0.0), self.dual_cap)
        return GDAState(x, duals_after(first, y, y_next), value, t + 1, after, penalties), info

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far the primal step may be moved; empty where a penalty or a schedule changes the iteration."""
        y = iterate.dual
        if judges_steps(self, iterate.x.shape[1]) or self.schedule != "constant" or y is None:
            return {}
        step = primal_limits(
            constants,
            y,
            end=descent_end(self.relative_variance(iterate.x.shape[1])),
            answer=coupling(constants, self.dual_step),
            reach=self.step_reach,
        )
        return {"primal_step": step}


def _in_duals(oracle: Oracle, x: Array) -> DerivedOracle:
    """Return the Lagrangian at fixed x as an oracle on R^m, its value in f; every point costs a call at x."""

    def evaluate(y: Array) -> Evaluation:
        value = oracle(x if y.ndim == 2 else np.repeat(x[:, None], y.shape[1], axis=1))
        return Evaluation(value.f + (y * value.h).sum(axis=-1), value.h)

    return DerivedOracle(oracle, evaluate)
