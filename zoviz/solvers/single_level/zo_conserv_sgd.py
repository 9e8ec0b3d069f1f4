"""ZO-ConservSGD: an estimated step is taken forwards, backwards or not at all, whichever value is lowest."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.types import Estimate
from zoviz.oracle import DerivedOracle
from zoviz.solvers.single_level.base import SingleLevel, SingleLevelState


class ZOConservSGD(SingleLevel):
    r"""A method that tries the step both ways on the round's own mini-batch and keeps the best of three points.

    .. math:: y_{t+1} = \arg\min\{g_t(x, y) : y \in \{y_t,\ \Pi_Y(y_t - \ell_t \hat g),\ \Pi_Y(y_t + \ell_t \hat g)\}\},
              \qquad \hat g = \hat\nabla_y g_t(x, y_t)

    Two calls more than the estimate, and one more for the value at y_t where the estimator has not paid for it: k + 3
    with forward differences, 2k + 3 with central ones. Where values are equal y stays.

    Notes
    -----
    Paper sogd cites Cutkosky and Boahen (2019), who have no such method; a later version of it cites Kim et al.

    References
    ----------
    Kim, Cai, McKenzie and Yin (2021), Curvature-aware derivative-free optimization; paper sogd, §5.1
    (ZO-O-ConservSGD).
    """

    title = "ZO-ConservSGD (single-level)"

    def move(
        self, state: SingleLevelState, estimate: Estimate, rate: float, view: DerivedOracle, project: Any
    ) -> SingleLevelState:
        """Return the best of the point itself and those one step along and against the estimated gradient."""
        step = rate * estimate.gradient
        stay = view(state.inner) if estimate.base is None else estimate.base
        tried = project(np.stack([state.inner - step, state.inner + step], axis=1))
        points = np.concatenate([state.inner[:, None], tried], axis=1)
        values = np.concatenate([stay.f[:, None], view(tried).f], axis=1)
        best = np.where(np.isnan(values), np.inf, values).argmin(axis=1)  # the first of equal ones: y_t
        inner = np.take_along_axis(points, best[:, None, None], axis=1)[:, 0]
        return SingleLevelState(state.x, inner, state.iteration + 1)
