"""SZO-ConEX: stochastic zeroth-order constraint extrapolation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Iterate
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.base import Phi
from zoviz.estimators.jacobian import jacobian
from zoviz.estimators.known_part import estimated
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Info, Solver, Target
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
    weights_of,
)
from zoviz.solvers.step_limits import StepLimits, coupling, descent_end, primal_limits
from zoviz.solvers.step_rules import (
    COARSE_RADIUS,
    DUAL_SHARE,
    FINE_RADIUS,
    balanced_step,
    diminishing,
    directions_of,
    following,
    noisy_radius,
    reach_of,
    step_reach_parameter,
    variance_of,
)

_PRIMAL_SHARE = 1.2
"""The primal step times L (chosen by us): with ``DUAL_SHARE``, G_0^2 / (eta tau) stays below 1/2 without noise."""
_NOISE_WEIGHT = 2.0
"""How much more than once the variance shortens the primal step (chosen by us): noise then holds the iterates lower."""
_MULTIPLIER = 0.25
"""Size of the multipliers that L_h is weighed with (chosen by us)."""


_MISSED = 0.5
"""The part of a constraint's change by which its linearisation may miss, where penalties act and values repeat; where
it misses by more, the value at the new point, which is paid for, takes its place (chosen by us)."""
_DUAL_PART = 0.5
"""The share of a penalty that a dual step takes: the gradient adds the penalty times h to y again (chosen by us)."""


class ConEXState(NamedTuple):
    """Iterate x, duals y, the oracle's value at x, and the linearised constraints l(x^t) and l(x^{t-1}), (R, m) each.

    Also the average of the iterates, their number, which replicas still seek a feasible point, and penalties.
    """

    x: Array
    y: Array
    value: Evaluation
    level: Array
    previous: Array
    average: Array
    iteration: int
    restoration: Restoration | None = None
    augmentation: Augmentation | None = None


class SZOConEX(Solver):
    r"""A method of dual ascent along extrapolated linearisations of the constraints, then a projected primal step.

    .. math::
        \ell(x^t) &= \bar F(x^{t-1}) + \bar G(x^{t-1})^\top (x^t - x^{t-1}) \\
        y^{t+1} &= [y^t + \{(1 + \theta)\,\ell(x^t) - \theta\,\ell(x^{t-1})\} / \tau]_+ \\
        x^{t+1} &= \Pi_X\big(x^t - [G_0(x^t) + \textstyle\sum_i y_i^{t+1} G_i(x^t)] / \eta\big)

    with Gaussian two-point estimates G of every gradient; the draw with the bar is independent of the other one, and
    its values F are those at its perturbed points. 1/eta is the primal step, 1/tau the dual one. The bar draw at x^t is
    taken at the end of an iteration, so that one base value serves both draws.

    Oracle calls per iteration, for k directions in a draw: 2k + 1 where values repeat (no noise), 2k + 2 where the bar
    draw needs a sample, and a base value, of its own; with separate directions (2m + 1)k + 1 and (2m + 1)k + 2.

    Notes
    -----
    ``directions="separate"`` is the paper's: every function has directions of its own, so that the noise does not die
    at a solution; "shared" is ours (errata 22). ``value="base"`` takes h(x) for F: no smoothing bias (errata 18).
    The prox of W = 1/2 ||.||^2 is a projection (errata 19). Constraints are h_1..h_m, not the objective (errata 20).
    y has no bound in the paper (errata 21): the cap is ours, and ``dual_cap=1e9`` is as good as none. ``schedule`` is
    paper zoeg's. Where penalties act (``augmentation``, ours) and values repeat, these damp y in place of the
    extrapolation, and a linearisation that misses by half of a constraint's change gives way to the value there.

    References
    ----------
    Paper conex, Algorithm 1.
    """

    title = "SZO-ConEX"
    families = (Gaussian, Sphere, CentralSphere, Coordinate)
    live = (
        "primal_step",
        "dual_step",
        "extrapolation",
        "schedule",
        "value",
        "dual_cap",
        "step_reach",
        "estimator.batch_size",
        "estimator.smoothing_radius",
        "report",
    )

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step 1/η", doc="Step of x along the estimate.")
    dual_step = Scale(
        None, softbounds=(1e-6, 1.0), label="Dual step 1/τ", doc="Step of y along the extrapolated constraints."
    )
    extrapolation = param.Number(
        default=1.0,
        bounds=(0, 10),
        softbounds=(0, 2),
        label="Extrapolation θ",
        doc="0: none; 1: the paper's. None where a penalty acts and values repeat.",
    )
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "diminishing"],
        label="Step schedule",
        doc="constant (CS), or diminishing (DS): both steps / sqrt(k + 1).",
    )
    directions: param.Selector[str] = param.Selector(
        default="shared",
        objects=["shared", "separate"],
        label="Directions",
        doc="shared: one set for f and every h. separate: a set for each function, as published: noisier and dearer.",
    )
    value: param.Selector[str] = param.Selector(
        default="perturbed",
        objects=["perturbed", "base"],
        label="Constraint values",
        doc="perturbed: mean over the perturbed points, as published. base: at the point itself.",
    )
    step_reach = step_reach_parameter()
    restoration = restoration_parameter()
    augmentation = augmentation_parameter()
    dual_cap = Scale(
        None,
        softbounds=(1e-1, 1e9),
        label="Dual cap",
        doc="Dual variables stay in [0, cap]; 1e9 is as good as none, as published.",
    )
    report: param.Selector[str] = param.Selector(
        default="last",
        objects=["last", "average"],
        label="Answer",
        doc="The last iterate, or the average that the theory speaks about.",
    )
    estimator = Part(
        GradientEstimator,
        default=Gaussian(smoothing_radius=None, batch_size=20),
        label="Estimator",
        doc="Gradient estimator.",
    )

    def suggest(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps from curvatures and the constraints' slope G_0 at the start.

        1/eta = 1.2 / [(L_f + L_h / 4)(1 + 2v)] and 1/tau = 0.3 L_f / [(1 + v) G_0^2], where v is the relative variance
        of the estimate, (n + 1)/k for Gaussian directions, m + 1 times that for separate ones; both over
        ``noise_factor`` under independent noise; r = 1e-3, 1e-5 where constants are measured, larger under that
        noise. y is kept below 100 max(1, G_f / G_h).

        Notes
        -----
        Ours: the paper's rule needs bounds that nobody knows. Without noise G_0^2 / (eta tau) stays below 1/2, under
        which an extrapolated primal-dual step contracts where constraints are linear; the factor 2 lowers the level
        at which noise holds the iterates. 1/eta is shortened for multipliers beyond
        ``step_reach``; 1e9 keeps it constant, as published.
        """
        n = problem.domain.n
        curvature = constants.curvature + _MULTIPLIER * constants.constraint_curvature
        kind = directions_of(self, problem, constants) if self.directions == "shared" else {}
        variance = variance_of(self, kind, n) * (1 if self.directions == "shared" else problem.m + 1)
        least = FINE_RADIUS if constants.measured else COARSE_RADIUS
        radius = noisy_radius(constants, n, self.estimator.batch_size, least)
        if isinstance(self.estimator, Gaussian) and radius > least:
            radius = max(radius / n**0.5, least)  # a normal direction is sqrt(n) long
        noise = self.noise_factor(constants, n, self.estimator.smoothing_radius or radius)
        return (
            reach_of(self, curvature, constants)
            | patience_of(self)
            | augmentation_of(self, constants)
            | kind
            | {
                "primal_step": _PRIMAL_SHARE / (curvature * noise * (1.0 + _NOISE_WEIGHT * variance)),
                "dual_step": balanced_step(DUAL_SHARE, constants.curvature, noise * (1.0 + variance), constants),
                "dual_cap": constants.dual_cap,
                "estimator.smoothing_radius": radius,
            }
        )

    def init(self, x0: Array, oracle: ProblemOracle, streams: Streams, value: Evaluation | None = None) -> ConEXState:
        """Return the state at x0 (R, n) with y = 0; one call, a bar draw, and one more call where values do not repeat.

        The first call falls away where ``value`` is the oracle's value at ``x0`` under the present sample, paid for.
        """
        value = oracle(x0) if value is None else value
        level = self._foretell(x0, x0, value, oracle, streams)
        if oracle.contract != "deterministic":
            oracle.resample()  # the first primal step must not share its noise with the draw above
            value = oracle(x0)
        first = begin(value, self.restoration, oracle.contract, first_place(self, oracle, streams))
        y = np.zeros((len(x0), oracle.m))
        penalties = augmentation_of_descent(self, value, oracle.contract, x0.shape[1])
        return ConEXState(x0, y, value, level, level, np.zeros_like(x0), 0, first, penalties)

    def step(self, state: ConEXState, oracle: ProblemOracle, streams: Streams) -> tuple[ConEXState, Info]:
        """Take one step: extrapolate the constraints, move duals and primal, and linearise at the new point."""
        x, y, value, level, _, average, k, first, penalties = state
        step = diminishing(self.primal_step, k, self.schedule)
        damped = penalties is not None and penalties.acts and oracle.contract == "deterministic"
        y_next = duals_after(first, y, self.next_duals(state, damped))
        weights = weights_in(penalties, y_next, value)
        phi = watch_slopes(self, penalties, scalar_of(first, weights, value), (x, value))
        gradient, variance = self._gradient(state._replace(y=weights), phi, oracle, streams)
        length = lengthen(penalties, following(step, self.step_reach, y_next))
        x_next = moved(first, x, length, gradient, value, oracle.domain)
        base: Evaluation | None = value
        if oracle.contract != "deterministic":
            oracle.resample()
            base = None if self.value == "perturbed" else oracle(x)
        ahead = self._foretell(x, x_next, base, oracle, streams)
        oracle.resample()
        average = average + (x_next - average) / (k + 1.0)
        info = Info(variance, x, known_duals(first, weights), self.estimator.smoothing_radius)
        x_next, there, after = settled(first, (x, value), (x_next, oracle(x_next)))
        if first is not None and first.leaving is not None:  # no forecast reaches elsewhere
            ahead = np.where(first.leaving[:, None], there.h, ahead)
        if damped:
            missed = np.abs(ahead - there.h) > _MISSED * np.abs(there.h - value.h)
            ahead = np.where(missed, there.h, ahead)
        if penalties is not None:
            trial = Trial(y_next, (x, value), (x_next, there), gradient, phi, first)
            x_next, there, refused, penalties = descend(penalties, trial)
            if refused is not None:
                y_next = np.where(refused[:, None], np.minimum(y, y_next), y_next)
                ahead = np.where(refused[:, None], there.h, ahead)
        return ConEXState(x_next, y_next, there, ahead, level, average, k + 1, after, penalties), info

    def next_duals(self, state: ConEXState, damped: bool) -> Array:
        """Return y in its bounds after the dual step, along the extrapolation unless penalties damp it, (R, m)."""
        y, level, previous, theta = state.y, state.level, state.previous, self.extrapolation
        dual_step = diminishing(self.dual_step, state.iteration, self.schedule)
        # A penalty damps what the extrapolation would; both together overshoot where constraints are curved.
        forecast = level if damped else (1.0 + theta) * level - theta * previous
        y_next = ascend(state.augmentation, y, forecast, dual_step, share=_DUAL_PART)
        if damped:  # a steep row's penalty is small: it would hold the multiplier for ever once the row is slack
            y_next = np.where(forecast < 0.0, np.minimum(y_next, y + dual_step * forecast), y_next)
        return np.minimum(np.maximum(y_next, 0.0), self.dual_cap)

    def _gradient(self, state: ConEXState, phi: Phi, oracle: ProblemOracle, streams: Streams) -> tuple[Array, Array]:
        """Return G_0 + sum_i y_i G_i at x, that of phi, and its variance; of the violation while restoring."""
        x, value, first = state.x, state.value, state.restoration
        if self.directions == "shared":
            estimate = estimated(self.estimator, phi, x, oracle, streams, base=value)
            return estimate.gradient, estimate.variance
        jacobians = jacobian(self.estimator, x, oracle, streams, base=value, shared=False, with_objective=True)
        ones = np.ones(len(x)) if first is None else np.where(first.mask, 0.0, 1.0)
        weights = np.concatenate([ones[:, None], weights_of(first, state.y, value)], axis=1)
        gradient = np.matmul(weights[:, None, :], jacobians.gradients)[:, 0, :]
        return gradient, (np.square(weights) * jacobians.variances).sum(axis=1)

    def _foretell(
        self, x: Array, there: Array, base: Evaluation | None, oracle: ProblemOracle, streams: Streams
    ) -> Array:
        """Return the constraints at ``there``, linearised at x from a draw of its own."""
        if not oracle.m:
            return np.zeros((len(x), 0))
        shared = self.directions == "shared"
        estimate = jacobian(self.estimator, x, oracle, streams, base=base, shared=shared, with_objective=False)
        level = estimate.perturbed if self.value == "perturbed" or estimate.base is None else estimate.base.h
        return level + np.matmul(estimate.gradients, (there - x)[..., None])[..., 0]

    def output(self, state: ConEXState) -> Array:
        """Return the last iterate or the average (R, n), as ``report`` says."""
        return state.average if self.report == "average" and state.iteration else state.x

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far the primal step may be moved; empty where a penalty or a schedule changes the iteration."""
        y = iterate.dual
        if judges_steps(self, iterate.x.shape[1]) or self.schedule != "constant" or y is None:
            return {}
        variance = self.relative_variance(iterate.x.shape[1]) * (1 if self.directions == "shared" else y.shape[1] + 1)
        step = primal_limits(
            constants,
            y,
            end=descent_end(variance),
            answer=coupling(constants, self.dual_step, self.extrapolation),
            reach=self.step_reach,
        )
        return {"primal_step": step}

    def target(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> Target | None:
        """Return exact magnitudes of the Lagrangian; with separate directions those of f and all y_i h_i add up."""
        target = super().target(problem, info, exact)
        if target is None or self.directions == "shared":
            return target
        gradients = problem.gradient(info.point) if exact is None else exact.gradients
        if gradients is None:
            return target
        squares = np.square(gradients[0]).sum(axis=-1)
        squares = squares + (np.square(info.dual) * np.square(gradients[1]).sum(axis=-1)).sum(axis=-1)
        return target._replace(square=squares)
