"""ZO-Adam and ZO-AdaMM: adaptive steps on the follower's problem from values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Estimate
from zoviz.oracle import DerivedOracle, Oracle
from zoviz.solvers.single_level.base import SingleLevel
from zoviz.solvers.step_rules import mean_square, root_mean_square

FIRST_PEAK = 1e-5
"""What the largest mean square begins with in AdaMM, so that the first steps stay bounded (ours)."""


class AdamState(NamedTuple):
    """x, y, the running means of the gradient and of its squares, the largest mean square, the number of rounds."""

    x: Array
    inner: Array
    mean: Array
    square: Array
    peak: Array
    iteration: int


class ZOAdam(SingleLevel):
    r"""A method of Adam's or AdaMM's steps along an estimated gradient.

    .. math::
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1)\hat g_t, \qquad s_t = \beta_2 s_{t-1} + (1 - \beta_2)\hat g_t^2 \\
        \text{Adam:}\quad y_{t+1} &= \Pi_Y\Big(y_t - \ell_t\,\frac{m_t / (1 - \beta_1^t)}
                                     {\sqrt{s_t / (1 - \beta_2^t)} + \epsilon}\Big) \\
        \text{AdaMM:}\quad y_{t+1} &= \Pi_Y\big(y_t - \ell_t\,m_t / \sqrt{\hat s_t}\big), \qquad
                                      \hat s_t = \max(\hat s_{t-1}, s_t),\ \hat s_0 = 10^{-5}

    The projection of AdaMM in the metric of its steps is the ordinary one for the boxes that Y is here.

    Notes
    -----
    Paper sogd cites both for its "ZO Adam". AdaMM's authors take beta_2 = 0.3 for universal attacks, 0.9 else.

    References
    ----------
    Kingma and Ba (2014); Chen, Liu, Xu, Li, Lin, Hong and Cox (2019), ZO-AdaMM; paper sogd, §5.1 (ZO-O-Adam).
    """

    title = "ZO-Adam, ZO-AdaMM (single-level)"
    live = (*SingleLevel.live, "first_decay", "second_decay", "epsilon")

    inner_step = Scale(1e-2, softbounds=(1e-4, 1.0), label="Inner step ℓ", doc="Step length of each coordinate.")
    variant: param.Selector[str] = param.Selector(
        default="Adam", objects=["Adam", "AdaMM"], label="Variant", doc="Variant of the method: ADAM or AMSGrad."
    )
    first_decay = param.Number(
        default=0.9, bounds=(0, 1), inclusive_bounds=(True, False), label="Decay β₁", doc="Decay of the mean gradient."
    )
    second_decay = param.Number(
        default=0.999, bounds=(0, 1), inclusive_bounds=(True, False), label="Decay β₂", doc="Decay of the mean square."
    )
    epsilon = Scale(1e-8, softbounds=(1e-10, 1e-3), label="ε", doc="Number added to Adam's denominator.")

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> AdamState:
        """Return the state at x0 (R, n) with running means of 0; no call."""
        start = super().init(x0, oracle, streams)
        nothing = np.zeros_like(start.inner)
        return AdamState(start.x, start.inner, nothing, nothing, np.full_like(nothing, FIRST_PEAK), 0)

    def move(self, state: AdamState, estimate: Estimate, rate: float, view: DerivedOracle, project: Any) -> AdamState:
        """Move along the mean gradient, each coordinate in its own scale."""
        first, second, t = self.first_decay, self.second_decay, state.iteration + 1
        mean = first * state.mean + (1.0 - first) * estimate.gradient
        square = mean_square(state.square, estimate.gradient, second)
        peak = np.maximum(state.peak, square)
        if self.variant == "Adam":
            step = mean / (1.0 - first**t) / root_mean_square(square, second, t, self.epsilon)
        else:
            step = mean / np.sqrt(peak)
        return AdamState(state.x, project(state.inner - rate * step), mean, square, peak, t)
