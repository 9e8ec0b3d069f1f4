"""Quadratic-penalty descent: the simplest solver that works."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import CentralSphere, Gaussian, GradientEstimator, Sphere
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.theory import Info


class PenaltyState(NamedTuple):
    """The iterate x, the multipliers y = penalty [h(x)]_+ that the penalty stands for, and the oracle's value at x."""

    x: Array
    y: Array
    value: Evaluation


class QuadraticPenalty(Solver):
    r"""Projected descent on f + (penalty / 2) ||[h]_+||^2 along an estimated gradient.

    .. math:: x^{t+1} = \Pi_X\big(x^t - c\,\hat\nabla\big[f + \tfrac{\rho}{2}\|[h]_+\|^2\big](x^t)\big)

    k + 1 oracle calls per iteration. The iterates settle outside the feasible set, at a distance of order 1 / rho.

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, Framework 17.1.
    """

    title = "Quadratic penalty"
    families = (Sphere, Gaussian, CentralSphere)
    live = ("primal_step", "penalty", "estimator.batch_size", "estimator.smoothing_radius")

    primal_step = Scale(None, label="Primal step c", doc="Step of x along the estimate; None: chosen by the rule.")
    penalty = Scale(10.0, softbounds=(1e-2, 1e4), label="Penalty ρ", doc="Weight of the squared violation.")
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=1e-5, batch_size=20),
        label="Estimator",
        doc="Gradient estimator.",
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return c = 1 / [(L_f + rho (G_0^2 + L_h)) (1 + v)], v the relative variance of the estimate, and r = 1e-5."""
        curvature = constants.curvature + self.penalty * (constants.start_slope**2 + constants.constraint_curvature)
        inflation = 1.0 + self.relative_variance(problem.domain.n)
        return {"primal_step": 1.0 / (curvature * inflation), "estimator.smoothing_radius": 1e-5}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> PenaltyState:
        """Return the state at x0: one call."""
        value = oracle(x0)
        return PenaltyState(x0, self.penalty * np.maximum(value.h, 0.0), value)

    def step(self, state: PenaltyState, oracle: Oracle, streams: Streams) -> tuple[PenaltyState, Info]:
        """Take one projected step along the estimated gradient of the penalised objective."""
        rho = self.penalty

        def penalised(value: Evaluation) -> Array:
            return value.f + 0.5 * rho * np.square(np.maximum(value.h, 0.0)).sum(axis=-1)

        estimate = self.estimator.estimate(penalised, state.x, oracle, streams, base=state.value)
        x = oracle.domain.project(state.x - self.primal_step * estimate.gradient)
        oracle.resample()
        value = oracle(x)
        info = Info(estimate.variance, state.x, state.y, self.estimator.smoothing_radius)
        return PenaltyState(x, rho * np.maximum(value.h, 0.0), value), info
