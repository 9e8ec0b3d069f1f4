"""The base class of single-level zeroth-order optimisers: the follower's problem alone, with the leader's x fixed."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import RandomSource, Streams
from zoviz.core.types import Array, Estimate
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import BilevelOracle, DerivedOracle, Oracle
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import BilevelConstants, OnlineBilevel
from zoviz.solvers.bilevel.base import RoundSolver, felt_variance
from zoviz.solvers.step_rules import diminishing
from zoviz.solvers.theory import Info

RADIUS = 5e-3
"""Smoothing radius of the reference code for single images."""
LONGEST = 1e-2
"""Its step, which is the longest that the rule takes where curvatures are known."""
LONGEST_MEASURED = 5e-3
"""The longest where they are measured at the start (chosen by us, on a network's seeds 2, 4 and 5, which lost again in
3000 rounds what steps of 0.01 had learnt in 2000: curvatures grow)."""
_HALF_PACE = 0.5
"""A step in units of the largest stable one, as for methods of both levels (chosen by us)."""


class SingleLevelState(NamedTuple):
    """Leader x as it was at the start, the follower's decision ``inner``, and the number of rounds."""

    x: Array
    inner: Array
    iteration: int


class SingleLevel(RoundSolver):
    """Minimise g_t(x, y) over y in Y from values alone, x fixed; one estimate a round, on the round's own mini-batch.

    Values of g are the only calls: k + 1 a round with forward differences along k directions, 2k with central ones.
    """

    __abstract = True

    first_order = False
    families = (Sphere, CentralSphere, Gaussian, Coordinate)
    live: ClassVar[tuple[str, ...]] = (
        "inner_step",
        "schedule",
        "inner_batch",
        "estimator.batch_size",
        "estimator.smoothing_radius",
    )

    inner_step = Scale(None, softbounds=(1e-4, 1.0), label="Inner step ℓ", doc="Step of y.")
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "diminishing"],
        label="Step schedule",
        doc="constant, or diminishing: step / sqrt(t + 1).",
    )
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=RADIUS, batch_size=10),
        label="Estimator",
        doc="Gradient estimator of g in y.",
    )

    def from_constants(self, problem: Problem, constants: BilevelConstants) -> dict[str, Any]:
        """Return radius and step where they are left open: 0.005 and 0.01, as in the reference code for single images.

        The step is at most 1 / [2 L_g (1 + v)], half of what the follower's curvature bears, with v what it feels of
        the estimate's relative variance (d - 1) / k (``felt_variance``), and at most 0.005 where L_g is measured; a
        rule of ours, as 0.01 is too long for steeper functions than those.
        """
        d = OnlineBilevel.of(problem).inner_domain.n
        felt = felt_variance(self.relative_variance(d), d, constants)
        stable = _HALF_PACE / (constants.inner_curvature * (1.0 + felt))
        longest = LONGEST_MEASURED if constants.measured else LONGEST
        return {"estimator.smoothing_radius": RADIUS, "inner_step": min(longest, stable)}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Any:
        """Return the state with x the point of X nearest to x0 (R, n); no call."""
        return SingleLevelState(oracle.domain.project(x0), BilevelOracle(oracle).initial(streams), 0)

    def step(self, state: Any, oracle: Oracle, streams: Streams) -> tuple[Any, Info]:
        """Play one round: its functions are revealed, the slope of g at y is estimated, y moves."""
        oracle.resample((1, self.inner_batch))
        view = self.view(state.x, oracle)
        estimate = self.slope(state, view, streams)
        state = self.move(state, estimate, self.rate(state.iteration), view, BilevelOracle(oracle).inner_domain.project)
        return state, self.tell(state.x, estimate.variance, self.estimator.smoothing_radius)

    def rate(self, iteration: int) -> float:
        """Return the inner step of a round, from 0."""
        return diminishing(self.inner_step, iteration, self.schedule)

    def slope(self, state: Any, view: DerivedOracle, streams: RandomSource) -> Estimate:
        """Return the round's estimate of the gradient of g in y."""
        return self.estimator.estimate(objective, state.inner, view, streams)

    def view(self, x: Array, oracle: Oracle) -> DerivedOracle:
        """Return an oracle of the round's g at fixed x (R, n), as a function of y (R, d) alone."""
        rounds = BilevelOracle(oracle)

        def value(y: Array) -> Array:
            return rounds.inner(x if y.ndim == 2 else np.broadcast_to(x[:, None], (*y.shape[:2], x.shape[1])), y)

        return rounds.view(value)

    def move(self, state: Any, estimate: Estimate, rate: float, view: DerivedOracle, project: Any) -> Any:
        """Return the state after a round, y moved along the estimated slope of g.

        Parameters
        ----------
        estimate : Estimate
            Of the gradient of g at ``state.inner``; its base is g there, where the estimator paid for it.
        rate : float
            The round's inner step.
        view : DerivedOracle
            For further values of the round's g.
        project : callable
            Onto Y.
        """
        raise NotImplementedError(f"{type(self).__name__} must define move(state, estimate, rate, view, project).")
