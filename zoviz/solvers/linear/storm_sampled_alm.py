"""The smoothed method with recursive momentum (STORM) for constraints that are only sampled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Iterate
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import Estimates, Lifted
from zoviz.solvers.linear.smoothed_base import Candidate, SmoothedViews
from zoviz.solvers.linear.storm_alm import StormMethod
from zoviz.solvers.theory import Info


class _RecursiveRows(NamedTuple):
    point: Array
    dual: Array
    anchor: Array
    last: Array
    estimates: Estimates
    resets: Array
    candidate: Candidate
    iteration: int
    n: int


class RecursiveRows(SmoothedViews, _RecursiveRows):
    """The state of ``StormSampledALM``: lifted iterate, multipliers, centre, what was before, resets, n."""

    __slots__ = ()


class StormSampledALM(StormMethod):
    r"""The smoothed method where f, A and b are seen through samples, each estimate corrected by every new sample.

    .. math::
        r^t &= A_\zeta x^t - b_\zeta + (1 - a)\,[r^{t-1} - (A_\zeta x^{t-1} - b_\zeta)], \qquad
        y^{t+1} = y^t + \eta\, r^t \text{, or } 0 \text{ where its norm is } M_y \text{ or more} \\
        g^t &= \nabla f(x^t, \xi) + (1 - a)\,[g^{t-1} - \nabla f(x^{t-1}, \xi)] \\
        q^t &= Q_\zeta(x^t, y^{t+1}) + (1 - a)\,[q^{t-1} - Q_\zeta(x^{t-1}, y^t)], \qquad
        Q_\zeta(x, y) = A_{\zeta^1}^\top \big(y + \rho (A_{\zeta^2} x - b_{\zeta^2})\big) \\
        x^{t+1} &= \Pi_X\big(x^t - \tau\,[g^t + q^t + \mu (x^t - z^t)]\big), \qquad
        z^{t+1} = z^t + \beta (x^t - z^t)

    with one xi and three independent zeta per iteration; the first has mini-batches of N = ceil(T^(1/3)), and a = 1.
    Two stochastic gradients per iteration, under the same sample (2 (k + 1) calls in the zeroth-order form, which is
    ours).

    Notes
    -----
    The paper says only that its recursion is to be used for A^T y, A^T (Ax - b) and Ax - b too; the order of the steps
    is ours: as in Algorithm 2, each sample at the beginning of its iteration.

    References
    ----------
    Paper salm, Remark 5.8 and its proof.
    """

    title = "Smoothed ALM with STORM, sampled constraints"
    live = (*StormMethod.live, "dual_reset")

    dual_reset = Scale(
        None, softbounds=(1.0, 1e6), label="Dual reset M", doc="Multipliers of this norm or more are set to 0."
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the steps of Algorithm 3 and the reset of Algorithm 2."""
        return super().from_constants(problem, constants) | {"dual_reset": 1e3 * (1.0 + constants.multiplier)}

    def iterate(self, state: RecursiveRows) -> Iterate:
        """Return the iterate with its centre, and how often the multipliers were reset."""
        return super().iterate(state)._replace(resets=state.resets)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> RecursiveRows:
        """Return the state at x0 (R, n) with z = x0, y = 0; no call."""
        point = Lifted(oracle).start(x0)
        dual = np.zeros((len(x0), Lifted(oracle).first.rows))
        nothing = Estimates(np.zeros_like(x0), np.zeros_like(dual), np.zeros_like(point))
        candidate = Candidate(point, dual, point)
        return RecursiveRows(point, dual, point, point, nothing, np.zeros(len(x0)), candidate, 0, oracle.n)

    def step(self, state: RecursiveRows, oracle: Oracle, streams: Streams) -> tuple[RecursiveRows, Info]:
        """Correct all estimates by a new sample, the residual's first, then take the dual, primal and proximal step."""
        lifted, n, first = Lifted(oracle), state.n, state.iteration == 0
        oracle.resample(self.batch_size * (self.first_batch if first else 1))
        keep = 0.0 if first else 1.0 - self.momentum
        before = streams.snapshot()
        gradient, variance = self.gradient(lifted.first, state.x, oracle, streams)
        residual, old = lifted.residual(state.point, copy=0), state.estimates
        if not first:
            streams.restore(before)  # the same directions at both points, so that their errors cancel
            past, _ = self.gradient(lifted.first, state.last[:, :n], oracle, streams)
            gradient = gradient + keep * (old.gradient - past)
            residual = residual + keep * (old.residual - lifted.residual(state.last, copy=0))
        dual = self.ascend(state, residual)
        large = np.square(dual).sum(axis=1) >= self.dual_reset**2
        dual = np.where(large[:, None], 0.0, dual)
        pull = self._pull(lifted, state.point, dual)
        if not first:
            pull = pull + keep * (old.pull - self._pull(lifted, state.last, state.dual))
        slope = pull.copy()
        slope[:, :n] += gradient
        point, anchor = self.descend(state, slope, lifted)
        candidate = self.keep(state, dual, streams)
        estimates = Estimates(gradient, residual, pull)
        resets, count = state.resets + large, state.iteration + 1
        after = RecursiveRows(point, dual, anchor, state.point, estimates, resets, candidate, count, n)
        return after, self.info(state.x, variance, oracle)

    def _pull(self, lifted: Lifted, point: Array, dual: Array) -> Array:
        """Return Q at a lifted point (R, n + s) and multipliers (R, p), by the second and third copy of zeta."""
        total = dual + self.penalty * lifted.residual(point, copy=2)
        return lifted.slope(np.zeros((len(point), lifted.n)), total, copy=1)
