"""ZO-GD: projected descent on the follower's problem along an estimated gradient."""

from __future__ import annotations

from typing import Any

from zoviz.core.parameters import Scale
from zoviz.core.types import Estimate
from zoviz.oracle import DerivedOracle
from zoviz.solvers.single_level.base import SingleLevel, SingleLevelState


class ZOGD(SingleLevel):
    r"""A method of projected gradient descent from values.

    .. math:: y_{t+1} = \Pi_Y(y_t - \ell_t\,\hat\nabla_y g_t(x, y_t))

    with :math:`\ell_t` constant or :math:`\ell / \sqrt{t + 1}`.

    References
    ----------
    Nesterov and Spokoiny (2017); paper sogd, §5.1 (ZO-O-GD).
    """

    title = "ZO-GD (single-level)"

    inner_step = Scale(None, softbounds=(1e-4, 1.0), label="Inner step ℓ", doc="Step of y along the estimate.")

    def move(
        self, state: SingleLevelState, estimate: Estimate, rate: float, view: DerivedOracle, project: Any
    ) -> SingleLevelState:
        """Move along the estimated gradient."""
        return SingleLevelState(state.x, project(state.inner - rate * estimate.gradient), state.iteration + 1)
