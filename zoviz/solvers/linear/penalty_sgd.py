"""Quadratic-penalty stochastic gradient descent: a baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
import param

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import Lifted, PenalisedMethod, PointDual, row_square
from zoviz.solvers.theory import Info


class PenaltySGD(PenalisedMethod):
    r"""A method of projected stochastic gradient steps on a quadratic penalty whose weight grows.

    .. math::
        x^{t+1} = \Pi_X\big(x^t - \tau_t\,[\nabla f(x^t, \xi)
                  + \rho_t A_{\zeta^1}^\top(A_{\zeta^2} x^t - b_{\zeta^2})]\big),
        \qquad \rho_t = \rho (t + 1)^\gamma, \quad \tau_t = \tau (t + 1)^{-\gamma}

    One stochastic gradient per iteration (k + 1 calls in the zeroth-order form, which is ours). The multipliers that
    are shown are rho_t (A x^t - b).

    Notes
    -----
    With gamma = 0 the penalty is constant, and the iterates settle where ||Ax - b|| is of order 1 / rho.

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, Framework 17.1; paper salm, §1, "Primal vs primal-dual".
    """

    title = "Penalty SGD"
    live = (*PenalisedMethod.live, "growth")
    copies_per_step = 2

    growth = param.Number(
        default=1.0 / 3.0,
        bounds=(0, 1),
        label="Growth of the penalty γ",
        doc="Power of t in the penalty, and of 1/t in the step; 0: both constant.",
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return rho = 4 L_f / ||A||^2 and tau = 1 / [2 (L_f + rho ||A||^2)], times c of ``scale`` if gamma = 0.

        A growing penalty shrinks the step by itself, by the relative variance v of zeroth-order gradients at once.
        """
        curvature, square = constants.curvature, row_square(problem)
        penalty = 4.0 * curvature / square if self.penalty is None else self.penalty
        step = self.scale(problem, 0.0 if self.growth else 0.5) / (2.0 * (curvature + penalty * square))
        radius = self.radius(problem, constants)
        return {"primal_step": step, "penalty": penalty, "estimator.smoothing_radius": radius}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> PointDual:
        """Return the state at x0 (R, n); no call."""
        lifted = Lifted(oracle)
        return PointDual(lifted.start(x0), np.zeros((len(x0), lifted.first.rows)), 0, oracle.n)

    def step(self, state: PointDual, oracle: Oracle, streams: Streams) -> tuple[PointDual, Info]:
        """Take one projected step."""
        lifted, w = Lifted(oracle), state.point
        growth = (state.iteration + 1.0) ** self.growth
        oracle.resample(self.batch_size)
        gradient, variance = self.gradient(lifted.first, state.x, oracle, streams)
        dual = self.penalty * growth * lifted.residual(w, copy=2)
        point = lifted.project(w - self.primal_step / growth * lifted.slope(gradient, dual, copy=1))
        return PointDual(point, dual, state.iteration + 1, state.n), self.info(state.x, variance, oracle)
