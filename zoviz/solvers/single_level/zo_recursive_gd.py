"""The single-level form of ZO-SOGD: descent on the follower's problem along a recursive direction from values."""

from __future__ import annotations

from typing import Any, NamedTuple

import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import RandomSource, Streams
from zoviz.core.types import Array, Estimate
from zoviz.estimators.scalars import objective
from zoviz.oracle import DerivedOracle, Oracle
from zoviz.solvers.bilevel.base import RepeatedNumbers, recursive
from zoviz.solvers.single_level.base import SingleLevel


class RecursiveState(NamedTuple):
    """Leader x, the follower's decision ``inner``, the one before, the last direction, and the number of rounds."""

    x: Array
    inner: Array
    last: Array
    direction: Array
    iteration: int


class ZORecursiveGD(SingleLevel):
    r"""A method of projected descent along a direction that each round's values correct and do not replace.

    .. math::
        d_t = \hat\nabla_y g_t(x, y_t) + (1 - \gamma_t)\,[d_{t-1} - \hat\nabla_y g_t(x, y_{t-1})], \qquad
        y_{t+1} = \Pi_Y(y_t - \ell_t d_t)

    with the round's batch and the same directions at both points: twice the calls of ``ZOGD``, but in the first round.
    Schedules: constant, or theory's, both step and weight times (t + 1)^(-1/3).

    Notes
    -----
    It is what Algorithm 2 of paper sogd becomes without a leader, for which it claims a better regret than Roy et al.
    (2022) and Guan et al. (2023); their methods are ``ZOGD`` with diminishing steps.

    References
    ----------
    Paper sogd, Remark 4.4, Algorithm 2 and (26).
    """

    title = "ZO-SOGD (single-level)"
    live = (*SingleLevel.live, "weight")

    inner_step = Scale(None, softbounds=(1e-4, 1.0), label="Inner step ℓ", doc="Step of y along the direction.")
    weight = param.Number(
        default=0.99, bounds=(0, 1), label="Weight γ", doc="Weight of the newest estimate; 1: no recursion."
    )
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "theory"],
        label="Step schedule",
        doc="constant, or theory: step and weight times (t + 1)^(-1/3).",
    )

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> RecursiveState:
        start = super().init(x0, oracle, streams)
        return RecursiveState(start.x, start.inner, start.inner, 0.0 * start.inner, 0)

    def decay(self, iteration: int) -> float:
        """Return the factor of step and weight in a round, from 0."""
        return 1.0 if self.schedule == "constant" else (iteration + 1.0) ** (-1.0 / 3.0)

    def rate(self, iteration: int) -> float:
        return self.inner_step * self.decay(iteration)

    def slope(self, state: RecursiveState, view: DerivedOracle, streams: RandomSource) -> Estimate:
        """Return the recursive direction: the estimate at y, corrected by that at the last y with the same numbers."""
        shared, t = RepeatedNumbers(streams), state.iteration
        estimate, weight = super().slope(state, view, shared), self.weight * self.decay(t) if t else 1.0
        if weight == 1.0:
            return estimate
        old = self.estimator.estimate(objective, state.last, view, shared.again())
        return estimate._replace(gradient=recursive(weight, estimate.gradient, state.direction, old.gradient))

    def move(
        self, state: RecursiveState, estimate: Estimate, rate: float, view: DerivedOracle, project: Any
    ) -> RecursiveState:
        """Move along the direction."""
        y = project(state.inner - rate * estimate.gradient)
        return RecursiveState(state.x, y, state.inner, estimate.gradient, state.iteration + 1)
