"""The smoothed and linearised augmented Lagrangian method for constraints that are only sampled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Iterate
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers import theorem_steps
from zoviz.solvers.linear.base import Lifted
from zoviz.solvers.linear.smoothed_base import Candidate, SmoothedMethod, SmoothedViews
from zoviz.solvers.theory import Info


class _Safeguarded(NamedTuple):
    point: Array
    dual: Array
    anchor: Array
    resets: Array
    candidate: Candidate
    iteration: int
    n: int


class Safeguarded(SmoothedViews, _Safeguarded):
    """The lifted iterate, multipliers, lifted centre, dual resets so far (R,), candidate, iteration and n."""

    __slots__ = ()


class SampledALM(SmoothedMethod):
    r"""The smoothed method where A and b are seen through samples, with multipliers that are reset when they grow.

    .. math::
        y^{t+1} &= y^t + \eta (A_\zeta x^t - b_\zeta), \qquad y^{t+1} = 0 \text{ where } \|y^{t+1}\| \ge M_y \\
        x^{t+1} &= \Pi_X\big(x^t - \tau\,[\nabla f(x^t, \xi) + A_{\zeta^1}^\top y^{t+1}
                   + \rho A_{\zeta^1}^\top(A_{\zeta^2} x^t - b_{\zeta^2}) + \mu (x^t - z^t)]\big) \\
        z^{t+1} &= z^t + \beta (x^t - z^t)

    with three independent samples zeta, zeta^1, zeta^2 per iteration. One stochastic gradient per iteration (k + 1
    calls in the zeroth-order form, which is ours). ``dual_resets`` among the measures counts the resets.

    Notes
    -----
    The paper's (4.2) misses nabla, rho and mu (x - z), and its samples must be independent (errata 8, 9).
    Its M_y is not computable (errata 14). On rows that are known this is Algorithm 1 with resets.

    References
    ----------
    Paper salm, Algorithm 2.
    """

    title = "Smoothed ALM, sampled constraints"
    source = "paper salm, Algorithm 2"
    theorems = {"4.3": theorem_steps.horizon}
    live = (*SmoothedMethod.live, "dual_reset")

    dual_reset = Scale(
        None, softbounds=(1.0, 1e6), label="Dual reset M", doc="Multipliers of this norm or more are set to 0."
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return Algorithm 1's steps and M_y = 1000 (1 + G_f / G_h), a generous bound on them."""
        return self.rule(problem, constants, 0.5) | {"dual_reset": 1e3 * (1.0 + constants.multiplier)}

    def iterate(self, state: Safeguarded) -> Iterate:
        """Return the iterate with its centre, and how often the multipliers were reset."""
        return super().iterate(state)._replace(resets=state.resets)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Safeguarded:
        """Return the state at x0 (R, n) with z = x0, y = 0; no call."""
        point = Lifted(oracle).start(x0)
        dual = np.zeros((len(x0), Lifted(oracle).first.rows))
        return Safeguarded(point, dual, point, np.zeros(len(x0)), Candidate(point, dual, point), 0, oracle.n)

    def step(self, state: Safeguarded, oracle: Oracle, streams: Streams) -> tuple[Safeguarded, Info]:
        """Take the dual, primal and proximal step."""
        lifted = Lifted(oracle)
        oracle.resample(self.batch_size)
        dual = self.ascend(state, lifted.residual(state.point, copy=0))
        large = np.square(dual).sum(axis=1) >= self.dual_reset**2
        dual = np.where(large[:, None], 0.0, dual)
        gradient, variance = self.gradient(lifted.first, state.x, oracle, streams)
        pull = dual + self.penalty * lifted.residual(state.point, copy=2)
        point, anchor = self.descend(state, lifted.slope(gradient, pull, copy=1), lifted)
        candidate = self.keep(state, dual, streams)
        new = Safeguarded(point, dual, anchor, state.resets + large, candidate, state.iteration + 1, state.n)
        return new, self.info(state.x, variance, oracle)
