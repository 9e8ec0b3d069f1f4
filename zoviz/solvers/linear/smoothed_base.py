"""The base class of smoothed methods for linear constraints: proximal centre, random candidate, last step."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Iterate
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import Lifted, PenalisedMethod, Views, row_square


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

    live: ClassVar[tuple[str, ...]] = (
        *PenalisedMethod.live,
        "dual_step",
        "proximal_weight",
        "proximal_step",
        "polish_batch",
    )

    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step η", doc="Step of the multipliers along Ax - b.")
    proximal_weight = Scale(None, softbounds=(1e-2, 1e2), label="Proximal weight μ", doc="Must exceed L_f.")
    proximal_step = Scale(
        None, bounds=(1e-12, 1.0), softbounds=(1e-5, 1.0), label="Proximal step β", doc="How fast z follows x."
    )
    polish_batch = param.Integer(
        default=1000,
        bounds=(1, 10**7),
        softbounds=(1, 10**5),
        label="Last mini-batch B",
        doc="Samples of the one step at the end, from an iteration drawn at random.",
    )

    def rule(self, problem: Problem, constants: Constants, power: float) -> dict[str, Any]:
        """Return steps of order T^-power for a horizon T, as ``SmoothedALM.suggest`` explains them."""
        curvature, square = constants.curvature, row_square(problem)
        weight = self.proximal_weight or max(2.0, 4.0 * curvature)
        penalty = weight / square if self.penalty is None else self.penalty
        step = self.scale(problem, power) / (2.0 * (curvature + penalty * square + weight))
        return {
            "primal_step": step,
            "dual_step": 0.5 * (max(weight - curvature, 0.0) or weight) ** 2 * (self.primal_step or step) / square,
            "penalty": penalty,
            "proximal_weight": weight,
            "proximal_step": 2.0 * weight * step,
            "estimator.smoothing_radius": self.radius(problem, constants),
        }

    def iterate(self, state: Any) -> Iterate:
        """Return the iterate, its multipliers and slack, and the proximal centre."""
        return super().iterate(state)._replace(centre=state.centre)

    def ascend(self, state: Any, residual: Array) -> Array:
        """Return the multipliers y + eta (A x - b) after a dual step, (R, p), from the residual A x - b (R, p)."""
        return state.dual + self.dual_step * residual

    def descend(self, state: Any, slope: Array, lifted: Lifted) -> tuple[Array, Array]:
        """Return the next point and centre, (R, n + s), from the gradient ``slope`` of the augmented Lagrangian."""
        offset = state.point - state.anchor
        point = lifted.project(state.point - self.primal_step * (slope + self.proximal_weight * offset))
        return point, state.anchor + self.proximal_step * offset

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

    def polish(self, state: Any, oracle: Oracle, streams: Streams) -> Array | None:
        r"""Return the point (R, n) one projected step from a uniformly random iteration t*, by the mean of B samples.

        .. math:: \hat x = \Pi_X(x_{t^*} - \tau \hat G(x_{t^*}, y_{t^*+1}, z_{t^*}))

        As many calls as one gradient; None before the first iteration.

        References
        ----------
        Paper salm, (3.2).
        """
        if state.iteration == 0:
            return None
        lifted, candidate = Lifted(oracle), state.candidate
        oracle.resample(self.polish_batch)
        gradient, _ = self.gradient(lifted.first, candidate.point[:, : state.n], oracle, streams)
        pull = candidate.dual + self.penalty * lifted.residual(candidate.point, copy=2)
        point, _ = self.descend(candidate, lifted.slope(gradient, pull, copy=1), lifted)
        return point[:, : state.n]
