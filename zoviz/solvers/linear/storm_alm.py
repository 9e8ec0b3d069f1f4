"""The smoothed and linearised augmented Lagrangian method with recursive momentum (STORM)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers import theorem_steps
from zoviz.solvers.linear.base import SHORT_HORIZON, Lifted
from zoviz.solvers.linear.momentum import MomentumMethod
from zoviz.solvers.linear.smoothed_base import THEORY, Candidate, SmoothedMethod, SmoothedViews, storm_square
from zoviz.solvers.theory import Info


class _Recursive(NamedTuple):
    point: Array
    dual: Array
    anchor: Array
    momentum: Array
    candidate: Candidate
    iteration: int
    n: int


class Recursive(SmoothedViews, _Recursive):
    """The lifted iterate, multipliers, lifted centre, estimate of grad f (R, n), candidate, iteration and n."""

    __slots__ = ()


class StormMethod(MomentumMethod, SmoothedMethod):
    """A smoothed method whose estimates are corrected, not replaced, by each new sample."""

    __abstract = True

    live: ClassVar[tuple[str, ...]] = (*SmoothedMethod.live, "momentum")

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the steps of ``SmoothedALM``, but of order T^(-1/3), and the momentum a = min{1, (400 / T)^(2/3)}.

        With ``step_rule="theory"`` those of (5.5), a = 48 (L_0^2 + L_f^2) tau^2 among them.

        References
        ----------
        Paper salm, (5.5) and the proof of Theorem 5.7 for the powers of T (errata 13); the factors are ours.
        """
        values = self.rule(problem, constants, 1.0 / 3.0)
        momentum = (SHORT_HORIZON / self.length) ** (2.0 / 3.0)
        if self.step_rule == THEORY:
            momentum = storm_square(constants.curvature) * (self.primal_step or values["primal_step"]) ** 2
        return values | {"momentum": min(1.0, momentum)}


class StormALM(StormMethod):
    r"""The smoothed method on a gradient estimate that is corrected, not replaced, by each new sample.

    .. math::
        y^{t+1} &= y^t + \eta (A x^t - b) \\
        x^{t+1} &= \Pi_X\big(x^t - \tau\,[g^t + A^\top y^{t+1} + \rho A^\top(A x^t - b) + \mu (x^t - z^t)]\big) \\
        z^{t+1} &= z^t + \beta (x^t - z^t) \\
        g^{t+1} &= \nabla f(x^{t+1}, \xi^{t+1}) + (1 - a)\,[g^t - \nabla f(x^t, \xi^{t+1})]

    g^0 is the mean of N = ceil(T^(1/3)) samples. Two stochastic gradients per iteration, under the same sample. In the
    zeroth-order form, which is ours, both are estimated along the same directions: 2 (k + 1) calls.

    Notes
    -----
    The paper's box has A^T y without an index, no rho and lambda for mu (errata 10); its text has another sample
    in the recursion than its box (errata 11); a = 1, not 0, is Algorithm 1 (errata 12); N = T^(1/6) is too small
    (errata 13).

    References
    ----------
    Paper salm, Algorithm 3; Cutkosky and Orabona (2019) for the recursion.
    """

    title = "Smoothed ALM with STORM"
    source = "paper salm, Algorithm 3"
    theorems = {"5.7": theorem_steps.horizon}
    takes_samples = False

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Recursive:
        """Return the state at x0 (R, n) with z = x0, y = 0, and a first estimate from N samples: one gradient."""
        lifted = Lifted(oracle)
        point, dual = lifted.start(x0), np.zeros((len(x0), lifted.first.rows))
        oracle.resample(self.batch_size * self.first_batch)
        gradient, _ = self.gradient(lifted.first, x0, oracle, streams)
        return Recursive(point, dual, point, gradient, Candidate(point, dual, point), 0, oracle.n)

    def step(self, state: Recursive, oracle: Oracle, streams: Streams) -> tuple[Recursive, Info]:
        """Take the dual, primal and proximal step, then correct the gradient estimate by a new sample."""
        lifted = Lifted(oracle)
        residual = lifted.residual(state.point)
        dual = self.ascend(state, residual)
        slope = lifted.slope(state.momentum, dual + self.penalty * residual)
        point, anchor = self.descend(state, slope, lifted)
        oracle.resample(self.batch_size)
        before = streams.snapshot()
        old, _ = self.gradient(lifted.first, state.x, oracle, streams)
        streams.restore(before)  # the same directions at both points, so that their errors cancel
        x = point[:, : state.n]
        new, variance = self.gradient(lifted.first, x, oracle, streams)
        estimate = new + (1.0 - self.momentum) * (state.momentum - old)
        candidate = self.keep(state, dual, streams)
        after = Recursive(point, dual, anchor, estimate, candidate, state.iteration + 1, state.n)
        return after, self.info(x, variance, oracle)
