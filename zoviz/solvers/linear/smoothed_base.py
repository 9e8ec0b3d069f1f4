"""The base class of smoothed methods for linear constraints: proximal centre, random candidate, last step."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Iterate
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import Lifted, PenalisedMethod, Views, multipliers, row_square
from zoviz.solvers.published_form import Departure

OLD, NEW = "old iterate", "new iterate"
"""What the proximal centre moves to: x_t, or x_{t+1}."""


PRACTICE, THEORY = "practice", "theory"
"""Which factors the powers of T have: ours, or those printed."""


def storm_square(curvature: float) -> float:
    """Return 48 (L_0^2 + L_f^2) of (5.5), with L_f for L_0 of Assumption 5.2, which no problem tells."""
    return 96.0 * curvature**2


class Candidate(NamedTuple):
    """The x_t, y_{t+1} and z_t of one iteration per replica, drawn uniformly: where ``polish`` starts."""

    point: Array
    dual: Array
    anchor: Array


class SmoothedViews(Views):
    """A state that has a proximal centre ``anchor`` (R, n + s) too."""

    __slots__ = ()
    anchor: Array

    @property
    def centre(self) -> Array:
        """The proximal centre z without its slacks, (R, n)."""
        return self.anchor[:, : self.n]


class SmoothedMethod(PenalisedMethod):
    """A method on K(x, y, z) = f(x) + <y, Ax - b> + rho/2 ||Ax - b||^2 + mu/2 ||x - z||^2."""

    __abstract = True

    departures: ClassVar[tuple[Departure, ...]] = (
        Departure("gradients", "stochastic", "function values instead of stochastic gradients"),
        Departure("centre_update", OLD, "a centre that follows the new iterate"),
        Departure("batch_size", 1, "mini-batches"),
        Departure("step_rule", THEORY, "other factors of the steps than the theorem's"),
    )

    live: ClassVar[tuple[str, ...]] = (
        *PenalisedMethod.live,
        "dual_step",
        "proximal_weight",
        "proximal_step",
        "polish_step",
        "polish_batch",
    )

    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step η", doc="Step of the multipliers along Ax - b.")
    proximal_weight = Scale(
        None, softbounds=(1e-2, 1e2), label="Proximal weight μ", doc="Weight of the proximal term, above L_f."
    )
    proximal_step = Scale(
        None,
        bounds=(1e-12, 1.0),
        softbounds=(1e-5, 1.0),
        label="Proximal step β",
        doc="Step of the centre z towards x.",
    )
    polish_step = Scale(
        None, softbounds=(1e-4, 1.0), label="Last step τ̂", doc="Size of the single step at the end, of order 1 / L_K."
    )
    polish_batch = param.Integer(
        default=1000,
        bounds=(1, 10**7),
        softbounds=(1, 10**5),
        label="Last mini-batch B",
        doc="Number of samples of the single step at the end, which starts from an iteration drawn at random.",
    )

    centre_update: param.Selector[str] = param.Selector(
        default=OLD,
        objects=[OLD, NEW],
        label="Centre follows",
        doc="The old iterate x_t, as in the paper, or the new one, as in Zhang and Luo's method without noise.",
    )
    step_rule: param.Selector[str] = param.Selector(
        default=PRACTICE,
        objects=[PRACTICE, THEORY],
        label="Step rule",
        doc="practice: theory's powers of T, other factors. theory: the printed constants, which are far smaller.",
    )
    error_bound = Scale(
        1.0, softbounds=(1e-2, 1e3), label="Error bound σ̄", doc="Constant of theory's β, unknown in general."
    )

    def rule(self, problem: Problem, constants: Constants, power: float) -> dict[str, Any]:
        """Return steps of order T^-power for a horizon T, as ``SmoothedALM.from_constants`` explains them."""
        curvature, square = constants.curvature, row_square(problem)
        weight = self.proximal_weight or max(2.0, 4.0 * curvature)
        penalty = weight / square if self.penalty is None else self.penalty
        largest, one = curvature + penalty * square + weight, self.scale(problem, 0.0)  # 1 / (1 + v)
        values = {
            "penalty": penalty,
            "proximal_weight": weight,
            "polish_step": one / largest,
            "estimator.smoothing_radius": self.radius(problem, constants),
        }
        if self.step_rule == THEORY:
            return values | self.printed_steps(curvature, square, values, power)
        step = self.scale(problem, power) / (2.0 * largest)
        # beta follows the step in use, as eta does: both are of its order.
        used = self.primal_step or step
        return values | {
            "primal_step": step,
            "dual_step": 0.5 * (max(weight - curvature, 0.0) or weight) ** 2 * used / square,
            "proximal_step": min(1.0, 2.0 * weight * used),
        }

    def printed_steps(self, curvature: float, square: float, values: dict[str, Any], power: float) -> dict[str, float]:
        """Return tau, eta and beta by the constants of (A.1), for the power 1/2, or of (5.5), for the power 1/3.

        With the misprints resolved (errata 15, 17): tau = 1 / (6 lambda sqrt(T)), ||A||^2 where units ask for it, and
        in (5.5), where tau is bounded only, that bound times T^(-1/3). Over 1 + v for zeroth-order gradients.

        References
        ----------
        Paper salm, (A.1) and (5.5).
        """
        weight, penalty = values["proximal_weight"], values["penalty"]
        largest, bends = curvature + penalty * square + weight, 2.0 * weight + penalty * square
        first = 6.0 * largest
        if power != 0.5:
            first = max(4.0 * largest + 8.0 * weight, math.sqrt(storm_square(curvature)))
        rule = self.length**-power / first * (values["polish_step"] * largest)
        step = self.primal_step or rule
        dual = min(
            (weight - curvature) ** 2 * step / (4.0 * square),
            bends / (4.0 * square**2),
            step / (200.0 * square),
            step * bends / (20.0 * square),
        )
        centre = min(step / 100.0, 1.0 / (50.0 * max(largest, 1.0)), dual / (36.0 * weight * self.error_bound**2))
        return {"primal_step": rule, "dual_step": dual, "proximal_step": centre}

    def iterate(self, state: Any) -> Iterate:
        """Return the iterate, its multipliers and slack, and the proximal centre."""
        return super().iterate(state)._replace(centre=state.centre)

    def closing_note(self, state: Any) -> str:
        """Return the advice that M_y is too small where more than 1% of the iterations reset the multipliers."""
        resets = self.iterate(state).resets
        if resets is None:
            return ""
        often = int((resets > 0.01 * state.iteration).sum())
        if not often:
            return ""
        return (
            f"The multipliers were reset in more than 1% of the iterations by {often} of {resets.size} replicas: "
            "raise dual_reset, or take a smaller dual_step."
        )

    def ascend(self, state: Any, residual: Array) -> Array:
        """Return the multipliers y + eta (A x - b) after a dual step, (R, p), from the residual A x - b (R, p)."""
        return state.dual + self.dual_step * residual

    def descend(self, state: Any, slope: Array, lifted: Lifted) -> tuple[Array, Array]:
        """Return the next point and centre, (R, n + s), from the gradient ``slope`` of the augmented Lagrangian."""
        offset = state.point - state.anchor
        point = lifted.project(state.point - self.primal_step * (slope + self.proximal_weight * offset))
        followed = state.point if self.centre_update == OLD else point
        return point, state.anchor + self.proximal_step * (followed - state.anchor)

    def keep(self, state: Any, dual: Array, streams: Streams) -> Candidate:
        """Return the present (x_t, ``dual`` (R, p), z_t) with probability 1 / (t + 1), else the old candidate."""
        replaces = streams.uniform("reservoir") * (state.iteration + 1.0) < 1.0
        if not replaces.any():
            return state.candidate
        new = Candidate(state.point, dual, state.anchor)
        if replaces.all():
            return new
        return Candidate(
            *(np.where(replaces[:, None], one, other) for one, other in zip(new, state.candidate, strict=True))
        )

    def polish(self, state: Any, oracle: Oracle, streams: Streams) -> Iterate | None:
        r"""Return the point one projected step from a uniformly random iteration t*, by the mean of B samples.

        .. math:: \hat x = \Pi_X(x_{t^*} - \hat\tau \hat G(x_{t^*}, y_{t^*+1}, z_{t^*}))

        with the multipliers y_{t*+1}, for which Corollary 3.2 holds. As many calls as one gradient, B samples; None
        before the first iteration.

        Notes
        -----
        The step is ``polish_step``, of order 1 / L_K, not the run's tau ~ T^(-1/2): the proof divides by it, and with
        the run's the step does nothing as T grows (errata 47).

        References
        ----------
        Paper salm, (3.2) and (A.20)-(A.24).
        """
        if state.iteration == 0:
            return None
        lifted, candidate = Lifted(oracle), state.candidate
        oracle.resample(self.polish_batch)
        gradient, _ = self.gradient(lifted.first, candidate.point[:, : state.n], oracle, streams)
        pull = candidate.dual + self.penalty * lifted.residual(candidate.point, copy=2)
        slope = lifted.slope(gradient, pull, copy=1) + self.proximal_weight * (candidate.point - candidate.anchor)
        point = lifted.project(candidate.point - self.polish_step * slope)
        slack = point[:, state.n :]
        y = multipliers(candidate.dual, slack)
        return Iterate(point[:, : state.n], dual=y, row_dual=candidate.dual, slack=slack)
