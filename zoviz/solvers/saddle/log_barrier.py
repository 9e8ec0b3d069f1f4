"""LB-SGD: descent on a logarithmic barrier, whose steps are so short that constraints hold at every iterate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.jacobian import jacobian
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR
from zoviz.solvers.step_rules import median_width
from zoviz.solvers.theory import Info

_EXACT, _NOISY = 1e-6, 1e-2
"""Radii as shares of the domain's width, where values repeat and where they do not (chosen by us)."""
_STAGES, _LEAST_PATIENCE = 14, 6
"""Times that the weight is to shrink in a run, 2^-14 in all, and the least steps with the same one (chosen by us)."""
_BACK = 1.5
"""A step back from outside, over the one after which a linear constraint would be 0 (chosen by us)."""
_FAR = 10.0
"""Slopes are compared between points at least this number of radii apart: nearer ones differ by their errors."""
_ALIKE = 1e-6
"""Slopes that differ by this share are the same: a curvature of round-off would shorten steps by its root."""
_ROOM = 10.0
"""Probes are to be at most this share, 1 / 10, of the way outside, else the barrier's weight stays (chosen by us)."""
_TINY = 1e-300


class BarrierState(NamedTuple):
    """Iterate x, multipliers y, the oracle's value at x, and what is kept of each replica.

    Attributes
    ----------
    before : Array, shape (R, n)
        The last iterate.
    slopes, curvature : Array, shapes (R, 1 + m, n) and (R, 1 + m)
        Gradients there, and the largest curvatures that were seen, f first.
    weight, tried : Array, shape (R,)
        The barrier's weight eta, and the steps taken with it.
    iteration : int
    """

    x: Array
    y: Array
    value: Evaluation
    before: Array
    slopes: Array
    curvature: Array
    weight: Array
    tried: Array
    iteration: int


class LogBarrier(Solver):
    r"""A method of gradient steps on f - eta sum_i log(-h_i), each so short that no constraint can be left.

    .. math::
        g = \nabla f + \sum_i \frac{\eta}{\alpha_i} \nabla h_i, \qquad \alpha_i = -h_i(x), \qquad
        \theta_i = \frac{|\langle \nabla h_i, g\rangle|}{\|g\|} \\
        x^+ = \Pi_X(x - \gamma g), \qquad
        \gamma = \min\Big\{\frac{1}{\|g\|} \min_i \frac{\alpha_i}{2\theta_i + \sqrt{\alpha_i L_i}},\;
        \Big[L_0 + 2\eta\sum_i \frac{L_i}{\alpha_i} + 4\eta\sum_i \frac{\theta_i^2}{\alpha_i^2}\Big]^{-1}\Big\}

    The multipliers are eta / alpha. eta is multiplied by ``weight_factor`` once ||g|| is a tenth of ||grad f||, or
    after ``patience`` steps, as long as differences are much shorter than the way outside.

    Notes
    -----
    The reference knows the curvatures L_i. Here they are the largest that differences of gradients have shown, and at
    the first point the slope over ``first_reach`` widths of the domain; eta begins where both terms of g have the same
    size; and a start outside is led inside by steps along the gradient of the constraint that is violated most: all
    ours.

    References
    ----------
    Usmanova, As, Kamgarpour and Krause (2024), Log barriers for safe black-box optimization with smooth non-convex
    constraints, Journal of Machine Learning Research 25.
    """

    title = "LB-SGD (log barrier)"
    keeps_rows = True
    families = (Coordinate, Sphere, Gaussian, CentralSphere)
    planned = ("patience",)
    live: ClassVar[tuple[str, ...]] = ("weight_factor", "patience", *LIVE_ESTIMATOR)

    weight_factor = param.Number(
        default=0.5, bounds=(0, 1), inclusive_bounds=(False, False), label="Weight factor", doc="What eta shrinks by."
    )
    patience = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, 10**6),
        softbounds=(1, 100),
        label="Patience",
        doc="Most steps with the same eta. Auto: a fourteenth of those that the budget covers, at least 6.",
    )
    first_reach = Scale(
        0.05, bounds=(1e-9, 1e3), label="First reach", doc="Widths over which a slope is expected to change by itself."
    )
    estimator = Part(
        GradientEstimator, default=Coordinate(smoothing_radius=None), label="Estimator", doc="Of all gradients."
    )

    def measure_constants(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
        """Assume every constant to be 1, at no call: measuring them would take calls that may be outside."""
        return Constants.assumed()

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the radius where it is open: 1e-6 of the domain's width, under noise a hundredth."""
        share = _EXACT if problem.contract == "deterministic" else _NOISY
        return {
            "estimator.smoothing_radius": self.estimator.smoothing_radius
            or share * (median_width(problem.domain) or 1.0)
        }

    def from_budget(self, problem: Problem, budgets: Mapping[str, Any]) -> dict[str, Any]:
        """Return the patience where it is open: a fourteenth of the iterations that the tightest budget covers."""
        if self.patience is not None:
            return {}
        prices = {"iterations": 1, "calls": self.estimator.calls(problem.domain.n)}
        bounds = [budgets[name] // price for name, price in prices.items() if budgets[name] is not None]
        return {"patience": int(np.clip(min(bounds, default=0) // _STAGES, _LEAST_PATIENCE, 10**6))}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> BarrierState:
        """Return the state at x0 (R, n); one call."""
        replicas, n, m = len(x0), oracle.n, oracle.m
        none, zero = np.zeros((replicas, 1 + m, n)), np.zeros(replicas)
        return BarrierState(
            x0, np.zeros((replicas, m)), oracle(x0), x0, none, np.zeros((replicas, 1 + m)), zero, zero, 0
        )

    def step(self, state: BarrierState, oracle: Oracle, streams: Streams) -> tuple[BarrierState, Info]:
        """Estimate all gradients, and take one step."""
        x, value = state.x, state.value
        estimates = jacobian(self.estimator, x, oracle, streams, base=value, shared=True, with_objective=True)
        slopes = estimates.gradients
        curvature = self._curvature(state, slopes, oracle)
        room = np.where(value.h < 0.0, -value.h, 1.0)  # 1 where a step goes back inside, which takes none of it
        outside = value.h.max(axis=1, initial=-np.inf) >= 0.0
        weight, count = self._weight(state, slopes, room, ~outside)
        y = weight[:, None] / room
        barrier = slopes[:, 0] + _weighted(y, slopes[:, 1:])
        move = -_length(barrier, slopes[:, 1:], room, curvature, y)[:, None] * barrier
        if outside.any():
            move = np.where(outside[:, None], _way_back(value.h, slopes[:, 1:]), move)
        x_next = oracle.domain.project(x + move)
        oracle.resample()
        state = BarrierState(x_next, y, oracle(x_next), x, slopes, curvature, weight, count + 1.0, state.iteration + 1)
        return state, Info(estimates.variances[:, 0], x, y, self.estimator.smoothing_radius)

    def _curvature(self, state: BarrierState, slopes: Array, oracle: Oracle) -> Array:
        """Return the largest curvatures (R, 1 + m) that were seen, or the first ones."""
        if not state.iteration:
            return np.asarray(
                np.linalg.norm(slopes, axis=-1) / (self.first_reach * (median_width(oracle.domain) or 1.0))
            )
        way = np.linalg.norm(state.x - state.before, axis=1)[:, None]
        change = np.linalg.norm(slopes - state.slopes, axis=-1)
        change = np.where(change > _ALIKE * np.linalg.norm(slopes, axis=-1), change, 0.0)
        far = way > _FAR * self.estimator.smoothing_radius
        seen = np.where(far, change / np.maximum(way, _TINY), 0.0)
        assumed = far & (state.iteration == 1)
        return np.where(assumed, seen, np.maximum(state.curvature, seen))

    def _weight(self, state: BarrierState, slopes: Array, room: Array, inside: np.ndarray) -> tuple[Array, Array]:
        """Return eta, 0 before the first point inside, and the number of steps taken with it, (R,)."""
        pull = np.linalg.norm(_weighted(1.0 / room, slopes[:, 1:]), axis=1)
        size = np.linalg.norm(slopes[:, 0], axis=1)
        begun = state.weight > 0.0
        first = np.divide(size, pull, out=np.zeros(len(pull)), where=inside & (pull > 0.0))
        barrier = slopes[:, 0] + _weighted(state.weight[:, None] / room, slopes[:, 1:])
        near = _ROOM * self.estimator.smoothing_radius * np.linalg.norm(slopes[:, 1:], axis=-1)
        shrink = (np.linalg.norm(barrier, axis=1) <= 0.1 * size) | (state.tried >= (self.patience or _LEAST_PATIENCE))
        shrink &= (room > near).all(axis=1)
        weight = np.where(shrink, self.weight_factor, 1.0) * state.weight
        return np.where(begun, weight, first), np.where(begun & shrink, 0.0, state.tried)


def _length(barrier: Array, slopes: Array, room: Array, curvature: Array, y: Array) -> Array:
    """Return the step gamma (R,) along the barrier's gradient (R, n), for rows of slopes (R, m, n) and room (R, m)."""
    size = np.maximum(np.linalg.norm(barrier, axis=1), _TINY)
    along = np.abs((slopes * barrier[:, None]).sum(axis=-1)) / size[:, None]
    inside = room / np.maximum(2.0 * along + np.sqrt(room * curvature[:, 1:]), _TINY)
    bend = curvature[:, 0] + (2.0 * y * curvature[:, 1:] + 4.0 * y * np.square(along) / room).sum(axis=1)
    return np.asarray(np.minimum(inside.min(axis=1, initial=np.inf) / size, 1.0 / np.maximum(bend, _TINY)))


def _weighted(weights: Array, slopes: Array) -> Array:
    """Return sums (R, n) of slopes (R, m, n) with weights (R, m), in an order that does not depend on R."""
    return np.asarray((weights[..., None] * slopes).sum(axis=1))


def _way_back(h: Array, slopes: Array) -> Array:
    """Return steps (R, n) along the gradient of the row that is violated most, of h (R, m) and slopes (R, m, n)."""
    rows = np.arange(len(h))
    worst = h.argmax(axis=1)
    slope, value = slopes[rows, worst], np.maximum(h[rows, worst], 0.0)
    return np.asarray(-_BACK * (value / np.maximum(np.square(slope).sum(axis=1), _TINY))[:, None] * slope)
