"""The linearised augmented Lagrangian method without smoothing: a baseline."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import Lifted, PenalisedMethod, PointDual, row_square
from zoviz.solvers.theory import Info


class LinearisedALM(PenalisedMethod):
    r"""A method of one dual and one projected stochastic gradient step on the augmented Lagrangian, without a centre.

    .. math::
        y^{t+1} &= y^t + \eta (A_\zeta x^t - b_\zeta) \\
        x^{t+1} &= \Pi_X\big(x^t - \tau\,[\nabla f(x^t, \xi) + A_{\zeta^1}^\top y^{t+1}
                   + \rho A_{\zeta^1}^\top(A_{\zeta^2} x^t - b_{\zeta^2})]\big)

    It is Algorithm 1 or 2 of paper salm with mu = 0. One stochastic gradient per iteration (k + 1 calls in the
    zeroth-order form, which is ours).

    Notes
    -----
    Nothing but rho makes up for negative curvature along the rows of A, and nothing for that along their null space.

    References
    ----------
    Ouyang, Chen, Lan and Pasiliao (2015), An accelerated linearized ADMM, for the linearised step; paper salm, §1.
    """

    title = "Linearised ALM"
    live = (*PenalisedMethod.live, "dual_step")

    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step η", doc="Step of the multipliers along Ax - b.")

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return rho = 4 L_f / ||A||^2, tau = c / [2 (L_f + rho ||A||^2)], eta = rho L_f tau; c by ``scale``."""
        curvature, square = constants.curvature, row_square(problem)
        penalty = 4.0 * curvature / square if self.penalty is None else self.penalty
        step = self.scale(problem, 0.5) / (2.0 * (curvature + penalty * square))
        return {
            "primal_step": step,
            "dual_step": (penalty or curvature / square) * curvature * (self.primal_step or step),
            "penalty": penalty,
            "estimator.smoothing_radius": self.radius(problem, constants),
        }

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> PointDual:
        """Return the state at x0 (R, n) with y = 0; no call."""
        lifted = Lifted(oracle)
        return PointDual(lifted.start(x0), np.zeros((len(x0), lifted.first.rows)), 0, oracle.n)

    def step(self, state: PointDual, oracle: Oracle, streams: Streams) -> tuple[PointDual, Info]:
        """Take the dual and the primal step."""
        lifted, w = Lifted(oracle), state.point
        oracle.resample(self.batch_size)
        dual = state.dual + self.dual_step * lifted.residual(w, copy=0)
        gradient, variance = self.gradient(lifted.first, state.x, oracle, streams)
        pull = dual + self.penalty * lifted.residual(w, copy=2)
        point = lifted.project(w - self.primal_step * lifted.slope(gradient, pull, copy=1))
        return PointDual(point, dual, state.iteration + 1, state.n), self.info(state.x, variance, oracle)
