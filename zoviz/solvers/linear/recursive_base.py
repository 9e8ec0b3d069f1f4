"""The base class of methods whose estimates of gradient and rows are corrected by each new sample."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import SHORT_HORIZON, Estimates, Lifted, Views, row_square
from zoviz.solvers.linear.momentum import MomentumMethod
from zoviz.solvers.theory import Info


class _Corrected(NamedTuple):
    point: Array
    dual: Array
    shift: Array
    estimates: Estimates
    reference: Array
    weight: float
    iteration: int
    n: int


class Corrected(Views, _Corrected):
    """The lifted iterate, and the estimates there of a Lagrangian's gradient.

    ``dual`` are the multipliers that are shown, shift + weight (A x - b) by the estimate, ``shift`` (R, p) and
    ``weight`` those of the Lagrangian, and ``reference`` (R,) is the first stage's violation.
    """

    __slots__ = ()


class RecursiveMethod(MomentumMethod):
    r"""A method of projected steps along a recursive estimate of the gradient of an augmented Lagrangian.

    .. math::
        x^{t+1} &= \Pi_X(x^t - \tau_t\, g^t), \qquad
        G_t(x, \zeta) = \nabla f(x, \xi) + A_{\zeta^1}^\top\big(y^t + \rho_t (A_{\zeta^2} x - b_{\zeta^2})\big) \\
        g^{t+1} &= G_{t+1}(x^{t+1}, \zeta^{t+1}) + (1 - a_t)\,[g^t - G_t(x^t, \zeta^{t+1})]

    Rows that are known come out exact. What y and rho do, and how tau and a fall, a method says. Two stochastic
    gradients per iteration, under the same sample (2 (k + 1) calls in the zeroth-order form, which is ours); the first
    estimate is the mean of N = ceil(T^(1/3)).
    """

    __abstract = True

    live: ClassVar[tuple[str, ...]] = (*MomentumMethod.live, "momentum")
    copies_per_step = 2
    powers: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 0.0)
    """Powers of t by which the penalty grows, and by which step and momentum fall."""
    stiffness: ClassVar[float] = 4.0
    """rho ||A||^2 / L_f to start with: as for ``LinearisedALM``; more where no multipliers help (chosen by trial)."""

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return rho = s L_f / ||A||^2, s = 4 or 30, tau = 1 / [2 (L_f + rho ||A||^2)] and a = 1 to start with; ours.

        The papers' powers of t follow (1 + t / 400). Over 1 + v for zeroth-order gradients of relative variance v.
        """
        curvature, square = constants.curvature, row_square(problem)
        penalty = self.stiffness * curvature / square if self.penalty is None else self.penalty
        return {
            "penalty": penalty,
            "primal_step": self.scale(problem, 0.0) / (2.0 * (curvature + penalty * square)),
            "momentum": 1.0,
            "estimator.smoothing_radius": self.radius(problem, constants),
        }

    def factors(self, iteration: int) -> tuple[float, float, float]:
        """Return the factors of the penalty, the step and the momentum at an iteration."""
        growth, fall, momentum = self.powers
        time = 1.0 + iteration / SHORT_HORIZON
        return time**growth, time**-fall, time**-momentum

    def begins(self, iteration: int) -> bool:
        """Return whether estimates begin anew at an iteration, with N samples."""
        return iteration == 0

    def advance(self, state: Corrected, lifted: Lifted) -> Corrected:
        """Return the state, which is at a new point, with the Lagrangian's y and rho there."""
        return state._replace(weight=self.penalty * self.factors(state.iteration)[0])

    def bounded(self, estimates: Estimates) -> Estimates:
        """Return estimates that are kept within what is known of them: all as they are."""
        return estimates

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Corrected:
        """Return the state at x0 (R, n) with y = 0, and first estimates from N samples: one gradient."""
        lifted = Lifted(oracle)
        point, dual = lifted.start(x0), np.zeros((len(x0), lifted.first.rows))
        nothing = Estimates(np.zeros_like(x0), np.zeros_like(dual), np.zeros_like(point))
        state = Corrected(point, dual, dual, nothing, np.zeros(len(x0)), self.penalty, 0, oracle.n)
        oracle.resample(self.batch_size * self.first_batch)
        estimates, _ = self._sampled(state, lifted, oracle, streams)
        return self._with(state, estimates)

    def step(self, state: Corrected, oracle: Oracle, streams: Streams) -> tuple[Corrected, Info]:
        """Take one projected step, then correct the estimates by a new sample."""
        lifted, count = Lifted(oracle), state.iteration + 1
        slope = state.estimates.pull.copy()
        slope[:, : state.n] += state.estimates.gradient
        step = self.primal_step * self.factors(state.iteration)[1]
        point = lifted.project(state.point - step * slope)
        anew = self.begins(count)
        oracle.resample(self.batch_size * (self.first_batch if anew else 1))
        after = self.advance(state._replace(point=point, iteration=count), lifted)
        before = streams.snapshot()
        past = None if anew else self._sampled(state, lifted, oracle, streams)[0]
        streams.restore(before)  # the same directions at both points, so that their errors cancel
        new, variance = self._sampled(after, lifted, oracle, streams)
        if past is not None:
            keep = 1.0 - min(1.0, self.momentum * self.factors(count)[2])
            triples = zip(new, state.estimates, past, strict=True)
            new = Estimates(*(fresh + keep * (old - again) for fresh, old, again in triples))
        return self._with(after, self.bounded(new)), self.info(after.x, variance, oracle)

    def _sampled(self, state: Corrected, lifted: Lifted, oracle: Oracle, streams: Streams) -> tuple[Estimates, Array]:
        """Return grad f, A x - b and the rows' part of G at a state's point by the present sample, and a variance."""
        gradient, variance = self.gradient(lifted.first, state.x, oracle, streams)
        residual = lifted.residual(state.point, copy=2)
        total = state.shift + state.weight * residual
        return Estimates(gradient, residual, lifted.slope(np.zeros_like(state.x), total, copy=1)), variance

    def _with(self, state: Corrected, estimates: Estimates) -> Corrected:
        return state._replace(estimates=estimates, dual=state.shift + state.weight * estimates.residual)
