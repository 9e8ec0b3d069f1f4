"""ZO-signSGD: descent on the follower's problem along the signs of an estimated gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.types import Estimate
from zoviz.oracle import DerivedOracle
from zoviz.solvers.single_level.base import SingleLevel, SingleLevelState


class ZOSignSGD(SingleLevel):
    r"""A method that moves every coordinate by the same length, in the direction of its estimated descent.

    .. math:: y_{t+1} = \Pi_Y(y_t - \ell_t\,\mathrm{sign}\,\hat\nabla_y g_t(x, y_t))

    Notes
    -----
    The default step is ours: the reference code's 0.001 takes thousands of rounds to cross a unit.

    References
    ----------
    Liu, Chen, Chen and Hong (2019), signSGD via zeroth-order oracle; paper sogd, §5.1 (ZO-O-SignSGD).
    """

    title = "ZO-signSGD (single-level)"

    inner_step = Scale(1e-2, softbounds=(1e-4, 1.0), label="Inner step ℓ", doc="Length of a coordinate's step.")

    def move(
        self, state: SingleLevelState, estimate: Estimate, rate: float, view: DerivedOracle, project: Any
    ) -> SingleLevelState:
        """Move along the signs of the estimated gradient."""
        return SingleLevelState(state.x, project(state.inner - rate * np.sign(estimate.gradient)), state.iteration + 1)
