"""SOBOW: single-loop online bilevel optimisation with a window of past hypergradients."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Iterate
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.solvers.bilevel.base import HypergradientSolver, conjugate_gradients, pushed, window_mean
from zoviz.solvers.theory import Info


class WindowState(NamedTuple):
    """Leader x, follower inner, system v, past hypergradients (R, w, n), mean square of what x moved along, round."""

    x: Array
    inner: Array
    v: Array
    past: Array
    square: Array
    round: int


class SOBOW(HypergradientSolver):
    r"""A method of one inner step, Q conjugate gradient steps and the mean of w past hypergradients.

    .. math::
        y_{t+1} &= \Pi_Y(y_t - \beta\nabla_y g_t(x_t, y_t)), \qquad
        \nabla_y^2 g_t(x_t, y_{t+1})\,v_t \approx -\nabla_y f_t(x_t, y_{t+1}) \\
        \hat g_t &= \nabla_x f_t + \nabla_{xy}^2 g_t\,v_t \;\text{ at } (x_t, y_{t+1}), \qquad
        \hat F_t = \frac{1}{W}\sum_{i<w}\nu^i\,\hat g_{t-i}, \quad W = \sum_{i<w}\nu^i \\
        x_{t+1} &= \Pi_X(x_t - \alpha\hat F_t)

    v stays in the ball of radius p of SOGD, ||v|| <= p, where the rule chooses the steps.

    One hypergradient a round, where OAGD takes w: what is kept are the past estimates (0 before the first round).
    4 + Q calls a round.

    Notes
    -----
    Paper sogd writes (x_t, y_t) where y_{t+1}, the freshest, stands here. Q is constant, as in its runs; the theory
    lets it grow. The ball is ours: where the Hessian is not positive definite, conjugate gradients that begin at the
    last round's v make it longer in every round without a bound (``system_radius`` of 1e9 is the published form).

    References
    ----------
    Lin et al. (2024), arXiv 2308.03811; paper sogd, (35)-(36).
    """

    title = "SOBOW"
    caps = HypergradientSolver.caps | {"system_radius"}
    live: ClassVar[tuple[str, ...]] = (
        "inner_step",
        "outer_step",
        "window",
        "decay",
        "system_iterations",
        "system_radius",
        "outer_batch",
        "inner_batch",
    )

    window = param.Integer(
        default=5, bounds=(1, 1000), softbounds=(1, 20), label="Window w", doc="Rounds that are averaged."
    )
    decay = param.Number(default=0.9, bounds=(0.0, 1.0), label="Decay ν", doc="Weight of a round over that after it.")
    system_iterations = param.Integer(
        default=5, bounds=(1, 10_000), softbounds=(1, 50), label="CG steps Q", doc="Conjugate gradient steps a round."
    )

    def iterate(self, state: WindowState) -> Iterate:
        """Return the leader's x (R, n), the follower's y (R, d) and the system's v (R, d)."""
        return Iterate(state.x, inner=state.inner, solved=state.v)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> WindowState:
        """Return the state at x0 (R, n) with v = 0; no calls."""
        y = BilevelOracle(oracle).initial(streams)
        return WindowState(x0, y, np.zeros_like(y), np.zeros((len(x0), self.window, x0.shape[1])), np.zeros_like(x0), 0)

    def step(self, state: WindowState, oracle: Oracle, streams: Streams) -> tuple[WindowState, Info]:
        """Play a round: follower, system, leader."""
        x = state.x
        rounds = self.reveal(oracle)
        y = rounds.inner_domain.project(state.inner - self.inner_step * rounds.inner_gradient(x, state.inner))
        f_x, f_y = rounds.outer_gradients(x, y)
        v = self.in_ball(conjugate_gradients(rounds, x, y, f_y, state.v, self.system_iterations))
        past = pushed(f_x + rounds.jacobian_vector(x, y, v), state.past, self.window)
        along, square = self.along(window_mean(past, self.decay), state.square, state.round + 1)
        new = rounds.domain.project(x - self.outer_step * along)
        return WindowState(new, y, v, past, square, state.round + 1), self.tell(x)

    def history(self, state: WindowState) -> Array:
        """Return the hypergradients of a window (R, w, n), the last round's first; 0 before the first round."""
        return state.past

    def along(self, mean: Array, square: Array, t: int) -> tuple[Array, Array]:
        """Return the leader's direction (R, n), here the window's mean, and the mean square (R, n) to carry on."""
        return mean, square
