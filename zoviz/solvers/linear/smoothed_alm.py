"""The stochastic smoothed and linearised augmented Lagrangian method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers import theorem_steps
from zoviz.solvers.linear.base import Lifted
from zoviz.solvers.linear.smoothed_base import Candidate, SmoothedMethod, SmoothedViews
from zoviz.solvers.theory import Info


class _Smoothed(NamedTuple):
    point: Array
    dual: Array
    anchor: Array
    candidate: Candidate
    iteration: int
    n: int


class Smoothed(SmoothedViews, _Smoothed):
    """The lifted iterate, multipliers, lifted proximal centre, candidate, iteration and number of variables."""

    __slots__ = ()


class SmoothedALM(SmoothedMethod):
    r"""A method of one dual step, one projected stochastic gradient step and a slowly moving proximal centre.

    .. math::
        y^{t+1} &= y^t + \eta (A x^t - b) \\
        x^{t+1} &= \Pi_X\big(x^t - \tau\,[\nabla f(x^t, \xi^t) + A^\top y^{t+1} + \rho A^\top(A x^t - b)
                   + \mu (x^t - z^t)]\big) \\
        z^{t+1} &= z^t + \beta (x^t - z^t)

    One stochastic gradient per iteration (k + 1 calls in the zeroth-order form, which is ours). A x <= b is
    A x - t = b with t <= 0, a variable like x.

    Notes
    -----
    The order is that of the paper's box, not of its text: dual first, and z^{t+1} from x^t (errata 7).

    References
    ----------
    Paper salm, Algorithm 1.
    """

    title = "Smoothed ALM"
    source = "paper salm, Algorithm 1"
    theorems = {"3.1": theorem_steps.horizon}
    takes_samples = False

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps of order T^(-1/2), as the theorem's; with ``step_rule="theory"`` those of (A.1).

        mu = max{2, 4 L_f}, rho = mu / ||A||^2, tau = c / [2 (L_f + rho ||A||^2 + mu)] with
        c = min{1, (400 / T)^(1/2)}, over 1 + v for zeroth-order gradients of relative variance v,
        eta = (mu - L_f)^2 tau / (2 ||A||^2), beta = 2 mu tau, and 1 / (L_f + rho ||A||^2 + mu) for the last step.

        References
        ----------
        Paper salm, (3.1) and (A.1) for mu, eta (twice theirs) and the powers of T; the other factors are ours, since
        those printed are far too small in practice (errata 15).
        """
        return self.rule(problem, constants, 0.5)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Smoothed:
        """Return the state at x0 (R, n) with z = x0, y = 0; no call."""
        point = Lifted(oracle).start(x0)
        dual = np.zeros((len(x0), Lifted(oracle).first.rows))
        return Smoothed(point, dual, point, Candidate(point, dual, point), 0, oracle.n)

    def step(self, state: Smoothed, oracle: Oracle, streams: Streams) -> tuple[Smoothed, Info]:
        """Take the dual, primal and proximal step."""
        lifted = Lifted(oracle)
        oracle.resample(self.batch_size)
        residual = lifted.residual(state.point)
        dual = self.ascend(state, residual)
        gradient, variance = self.gradient(lifted.first, state.x, oracle, streams)
        slope = lifted.slope(gradient, dual + self.penalty * residual)
        point, anchor = self.descend(state, slope, lifted)
        candidate = self.keep(state, dual, streams)
        new = Smoothed(point, dual, anchor, candidate, state.iteration + 1, state.n)
        return new, self.info(state.x, variance, oracle)
