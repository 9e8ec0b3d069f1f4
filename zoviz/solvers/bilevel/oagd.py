"""OAGD: online alternating gradient descent with a window of past functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Iterate
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.solvers.bilevel.base import HypergradientSolver, conjugate_gradients, neumann, window_mean
from zoviz.solvers.theory import Info


class OAGDState(NamedTuple):
    """Leader x, follower inner, the newest round's system v, the samples of the window, newest first, the round."""

    x: Array
    inner: Array
    v: Array
    samples: tuple[Any, ...]
    round: int


class OAGD(HypergradientSolver):
    r"""A method of K inner steps, then a step of the leader along the mean of the last w functions' hypergradients.

    .. math::
        y &\leftarrow y - \beta\nabla_y g_t(x_t, y) \quad (K \text{ times, from } y_t \text{ to } y_{t+1}) \\
        x_{t+1} &= \Pi_X\Big(x_t - \frac{\alpha}{\Gamma}\sum_{i<w}\gamma^i\,\tilde\nabla f_{t-i}(x_t, y_{t+1})\Big),
        \qquad \Gamma = \sum_{i<w}\gamma^i

    with the past functions at the present point: each of the w hypergradients solves a system of its own, by a Neumann
    series of ``system_iterations`` products (as in paper sogd's runs) or as many conjugate gradient steps. The samples
    of the last w rounds are kept; functions before the first round count as 0.

    v stays in the ball of radius p of SOGD, ||v|| <= p, where the rule chooses the steps.

    K + w (2 + ``system_iterations``) calls a round, with conjugate gradients w more.

    Notes
    -----
    The ball is ours: a Neumann series diverges where a round's curvature is more than 2 over its step
    (``system_radius`` of 1e9 is the published form).

    References
    ----------
    Tarzanagh et al. (2024), Online bilevel optimization: regret analysis of online alternating gradient methods.
    """

    title = "OAGD"
    caps = HypergradientSolver.caps | {"system_radius"}
    live = (
        "inner_step",
        "inner_steps",
        "outer_step",
        "window",
        "decay",
        "system",
        "system_iterations",
        "neumann_step",
        "system_radius",
        "outer_batch",
        "inner_batch",
    )

    inner_steps = param.Integer(
        default=1, bounds=(1, 10_000), softbounds=(1, 20), label="Inner steps K", doc="Inner steps in a round."
    )
    window = param.Integer(
        default=5, bounds=(1, 1000), softbounds=(1, 20), label="Window w", doc="Rounds that are averaged."
    )
    decay = param.Number(default=0.9, bounds=(0.0, 1.0), label="Decay γ", doc="Weight of a round over that after it.")
    system: param.Selector[str] = param.Selector(
        default="neumann",
        objects=["neumann", "cg"],
        label="System solver",
        doc="How the linear system is solved: by a Neumann series or by conjugate gradients.",
    )
    system_iterations = param.Integer(
        default=5, bounds=(1, 10_000), softbounds=(1, 50), label="System iterations Q", doc="Products in one solution."
    )
    neumann_step = Scale(
        None, softbounds=(1e-3, 1.0), label="Neumann step", doc="Step of the series; below 2 / L_g it converges."
    )

    def iterate(self, state: OAGDState) -> Iterate:
        """Return the leader's x (R, n), the follower's y (R, d) and the system's v (R, d)."""
        return Iterate(state.x, inner=state.inner, solved=state.v)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> OAGDState:
        """Return the state at x0 (R, n): no system solved, an empty window; no calls."""
        y = BilevelOracle(oracle).initial(streams)
        return OAGDState(x0, y, np.zeros_like(y), (), 0)

    def step(self, state: OAGDState, oracle: Oracle, streams: Streams) -> tuple[OAGDState, Info]:
        """Play a round: K steps of the follower, then one of the leader."""
        x, y = state.x, state.inner
        rounds = self.reveal(oracle)
        for _ in range(self.inner_steps):
            y = rounds.inner_domain.project(y - self.inner_step * rounds.inner_gradient(x, y))
        samples = (rounds.sample, *state.samples)[: self.window]
        directions = [self._hypergradient(rounds.at(sample), x, y) for sample in samples]
        slopes = np.zeros((len(x), self.window, x.shape[1]))
        slopes[:, : len(directions)] = np.stack([slope for slope, _ in directions], axis=1)
        new = rounds.domain.project(x - self.outer_step * window_mean(slopes, self.decay))
        return OAGDState(new, y, directions[0][1], samples, state.round + 1), self.tell(x)

    def _hypergradient(self, rounds: BilevelOracle, x: Array, y: Array) -> tuple[Array, Array]:
        """Return the hypergradient of one round's functions, and its system's solution."""
        f_x, f_y = rounds.outer_gradients(x, y)
        if self.system == "neumann":
            v = neumann(rounds, x, y, f_y, self.system_iterations, self.neumann_step)
        else:
            v = conjugate_gradients(rounds, x, y, f_y, np.zeros_like(y), self.system_iterations)
        v = self.in_ball(v)
        return f_x + rounds.jacobian_vector(x, y, v), v
