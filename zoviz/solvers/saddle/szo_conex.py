"""SZO-ConEX: stochastic zeroth-order constraint extrapolation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.jacobian import jacobian
from zoviz.estimators.known_part import estimated
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers import theorem_steps
from zoviz.solvers.published_form import (
    ALONG_COORDINATES,
    BOUNDED_DUALS,
    LAST_ITERATE,
    SAFEGUARDS,
    SEVERAL_DIRECTIONS,
    Departure,
)
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR, LIVE_STEPS, SaddleMethod, start_duals
from zoviz.solvers.saddle.safeguards import Safeguards, SafeguardState
from zoviz.solvers.step_limits import coupling, descent_end
from zoviz.solvers.step_rules import (
    COARSE_RADIUS,
    DUAL_SHARE,
    FINE_RADIUS,
    balanced_step,
    noisy_radius,
)
from zoviz.solvers.theory import Info, Target

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
    """Iterate x, multipliers y, the oracle's value at x, and the linearised constraints l(x^t) and l(x^{t-1}), (R, m).

    Also the average of the iterates, their number, and the safeguards.
    """

    x: Array
    y: Array
    value: Evaluation
    level: Array
    previous: Array
    average: Array
    iteration: int
    safeguards: SafeguardState = SafeguardState()


class DampedSafeguards(Safeguards):
    """The safeguards of ``SZOConEX``, which also keep linearisation and extrapolation in check.

    Where penalties act and values repeat, these damp y in place of the extrapolation, both together would overshoot
    where constraints are curved; and a linearisation that misses gives way to the value at the new point.
    """

    def __init__(self, method: SZOConEX, state: ConEXState, oracle: ProblemOracle) -> None:
        super().__init__(method, state, oracle)
        self.damped = self.penalties is not None and oracle.contract == "deterministic"

    def extrapolated(self, level: Array, previous: Array, theta: float) -> Array:
        """Return (1 + theta) l(x^t) - theta l(x^{t-1}), (R, m); l(x^t) where a penalty damps."""
        return level if self.damped else (1.0 + theta) * level - theta * previous

    def ascend(self, y: Array, step: float | Array, slope: Array, share: float = _DUAL_PART) -> Array:
        """Return the next multipliers, with which a step is judged then.

        A steep row's penalty is small: it would hold the multiplier for ever once the row is slack.
        """
        y_next = super().ascend(y, step, slope, share)
        if self.damped:
            slack = self.bounded(y, np.minimum(y_next, y + step * slope))
            y_next = np.where(slope < 0.0, slack, y_next)
        self.y = y_next
        return y_next

    def linearised(self, ahead: Array, there: Evaluation) -> Array:
        """Return l (R, m) at a step's end: the value there instead where l cannot tell, or misses by ``_MISSED``."""
        if self.restoring is not None and self.restoring.leaving is not None:  # no linearisation reaches elsewhere
            ahead = np.where(self.restoring.leaving[:, None], there.h, ahead)
        if self.damped:
            missed = np.abs(ahead - there.h) > _MISSED * np.abs(there.h - self.value.h)
            ahead = np.where(missed, there.h, ahead)
        return ahead if self.refused is None else np.where(self.refused, there.h, ahead)

    def lowered(self, y: Array, y_next: Array) -> Array:
        """Return the next multipliers (R, m), which do not rise where the primal step was taken back."""
        return y_next if self.refused is None else np.where(self.refused, np.minimum(y, y_next), y_next)


class SZOConEX(SaddleMethod):
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
    y has no bound in the paper (errata 21): the cap is ours, and ``dual_cap=1e9`` is as good as none. Steps were found
    by trial there, and radii of 0.05, 0.1 and 2 tried: both are left to who asks for ``published()``. ``schedule`` is
    paper zoeg's. Where penalties act (``augmentation``, ours) and values repeat, these damp y in place of the
    extrapolation, and a linearisation that misses by half of a constraint's change gives way to the value there.

    References
    ----------
    Paper conex, Algorithm 1.
    """

    title = "SZO-ConEX"
    source = "paper conex, Algorithm 1"
    theorems = {"3.1": theorem_steps.extrapolation}
    departures = (
        *SAFEGUARDS,
        BOUNDED_DUALS,
        ALONG_COORDINATES,
        SEVERAL_DIRECTIONS,
        Departure("directions", "separate", "directions that all functions share"),
        Departure("value", "perturbed", "the constraints' values at the point itself"),
        Departure("extrapolation", 1.0, "an extrapolation other than 1"),
        LAST_ITERATE,
    )
    families = (Gaussian, Sphere, CentralSphere, Coordinate)
    live = (*LIVE_STEPS, "extrapolation", "value", "dual_cap", "step_reach", *LIVE_ESTIMATOR, "report")

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step 1/η", doc="Step of x along the estimate.")
    dual_step = Scale(
        None, softbounds=(1e-6, 1.0), label="Dual step 1/τ", doc="Step of y along the extrapolated constraints."
    )
    extrapolation = param.Number(
        default=1.0,
        bounds=(0, 10),
        softbounds=(0, 2),
        label="Extrapolation θ",
        doc="0: none; 1: as published. Not used where a penalty acts and values repeat.",
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
    estimator = Part(GradientEstimator, default=Gaussian(smoothing_radius=None, batch_size=20))

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
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
        kind = self.directions_of(problem, constants) if self.directions == "shared" else {}
        variance = self.variance_along(kind, n) * (1 if self.directions == "shared" else problem.m + 1)
        least = FINE_RADIUS if constants.measured else COARSE_RADIUS
        radius = noisy_radius(constants, n, self.estimator.batch_size, least)
        if isinstance(self.estimator, Gaussian) and radius > least:
            radius = max(radius / n**0.5, least)  # a normal direction is sqrt(n) long
        noise = self.noise_factor(constants, n, self.estimator.smoothing_radius or radius)
        return {
            **self.safeguard_rule(constants, curvature),
            **kind,
            "primal_step": _PRIMAL_SHARE / (curvature * noise * (1.0 + _NOISE_WEIGHT * variance)),
            "dual_step": balanced_step(DUAL_SHARE, constants.curvature, noise * (1.0 + variance), constants),
            "dual_cap": constants.dual_cap,
            "estimator.smoothing_radius": radius,
        }

    def init(self, x0: Array, oracle: ProblemOracle, streams: Streams, value: Evaluation | None = None) -> ConEXState:
        """Return the state at x0 (R, n) with y = 0; one call, a bar draw, and one more call where values do not repeat.

        The first call falls away where ``value`` is the oracle's value at ``x0`` under the present sample, paid for.
        """
        value = oracle(x0) if value is None else value
        level = self._linearisation(x0, x0, value, oracle, streams)
        if oracle.contract != "deterministic":
            oracle.resample()  # the first primal step must not share its noise with the draw above
            value = oracle(x0)
        safeguards = self.first_safeguards(value, oracle, streams)
        return ConEXState(x0, start_duals(x0, oracle), value, level, level, np.zeros_like(x0), 0, safeguards)

    def guarded(self, state: Any, oracle: ProblemOracle) -> DampedSafeguards:
        return DampedSafeguards(self, state, oracle)

    def step(self, state: ConEXState, oracle: ProblemOracle, streams: Streams) -> tuple[ConEXState, Info]:
        """Take one iteration of Algorithm 1, and linearise the constraints at the new point for the next."""
        x, y, value, level, previous, average, t, _ = state
        safe = self.guarded(state, oracle)
        per_eta, per_tau = self.steps_at(t)
        s = safe.extrapolated(level, previous, self.extrapolation)  # line 3
        y_next = safe.ascend(y, per_tau, s)  # line 4
        gradient, variance = self._gradient(y_next, safe, oracle, streams)
        x_next = safe.projected_step(x, safe.shortened(per_eta, y_next), gradient)  # line 5
        average = average + (x_next - average) / (t + 1.0)  # line 6
        ahead = self._linearisation(x, x_next, self._bar_sample(x, value, oracle), oracle, streams)
        oracle.resample()
        x_next, value_next = safe.keep_or_take_back(x_next, oracle(x_next), gradient)
        ahead, y_next = safe.linearised(ahead, value_next), safe.lowered(y, y_next)
        info = safe.info(variance)
        return ConEXState(x_next, y_next, value_next, ahead, level, average, t + 1, safe.state), info

    def _gradient(
        self, y: Array, safe: DampedSafeguards, oracle: ProblemOracle, streams: Streams
    ) -> tuple[Array, Array]:
        """Return G_0 + sum_i y_i G_i (R, n) at the step's start, and its variance; of the violation while restoring."""
        x, value, phi = safe.x, safe.value, safe.lagrangian(y, safe.value)
        if self.directions == "shared":
            estimate = estimated(self.estimator, phi, x, oracle, streams, base=value)
            return estimate.gradient, estimate.variance
        jacobians = jacobian(self.estimator, x, oracle, streams, base=value, shared=False, with_objective=True)
        weights = np.concatenate([np.ones((len(x), 1)), safe.weights(y, value)], axis=1)
        if safe.restoring is not None:
            violation = np.concatenate([np.zeros((len(x), 1)), safe.restoring.weights(y, value)], axis=1)
            weights = safe.where_restoring(violation, weights)
        gradient = np.matmul(weights[:, None, :], jacobians.gradients)[:, 0, :]
        return gradient, (np.square(weights) * jacobians.variances).sum(axis=1)

    def _bar_sample(self, x: Array, value: Evaluation, oracle: ProblemOracle) -> Evaluation | None:
        """Begin the sample of the draw with the bar, and return the value at x under it; None if not needed."""
        if oracle.contract == "deterministic":
            return value
        oracle.resample()
        return None if self.value == "perturbed" else oracle(x)

    def _linearisation(
        self, x: Array, there: Array, base: Evaluation | None, oracle: ProblemOracle, streams: Streams
    ) -> Array:
        """Return the constraints (R, m) at ``there``, linearised at x from a draw of its own, the one with the bar."""
        if not oracle.m:
            return np.zeros((len(x), 0))
        shared = self.directions == "shared"
        estimate = jacobian(self.estimator, x, oracle, streams, base=base, shared=shared, with_objective=False)
        level = estimate.perturbed if self.value == "perturbed" or estimate.base is None else estimate.base.h
        return level + np.matmul(estimate.gradients, (there - x)[..., None])[..., 0]

    def output(self, state: ConEXState) -> Array:
        """Return the last iterate or the average (R, n), as ``report`` says."""
        return state.average if self.report == "average" and state.iteration else state.x

    def stability(self, constants: Constants, n: int, m: int) -> dict[str, Any]:
        """Return the base's, with the extrapolation, and the variance of separate directions."""
        variance = self.relative_variance(n) * (1 if self.directions == "shared" else m + 1)
        return {"end": descent_end(variance), "answer": coupling(constants, self.dual_step, self.extrapolation)}

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
