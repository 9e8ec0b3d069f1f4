"""OGD: online gradient descent on leader and follower, each as if the other stood still."""

from __future__ import annotations

from typing import NamedTuple

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.solvers.bilevel.base import BilevelSolver
from zoviz.solvers.theory import Info


class PairState(NamedTuple):
    """Leader x, follower inner, and the round."""

    x: Array
    inner: Array
    round: int


class OGD(BilevelSolver):
    r"""A method of one step of the follower on g_t and one of the leader on f_t, blind to how y* depends on x.

    .. math:: y_{t+1} = \Pi_Y(y_t - \beta\nabla_y g_t(x_t, y_t)), \qquad
              x_{t+1} = \Pi_X(x_t - \alpha\nabla_x f_t(x_t, y_t))

    2 calls a round. Where f_t does not contain x, x stays where it is: the follower learns alone. A problem where the
    zero of grad_x f_t is no nearer to a stationary point of F_t than a start is refused
    (``OnlineBilevel.leader_gradient_doubt``).

    Notes
    -----
    Paper sogd compares with "OGD" without saying what it descends on in two levels; this reading is ours.

    References
    ----------
    Zinkevich (2003), online convex programming; paper sogd, Fig. 3.
    """

    title = "OGD"
    live = ("inner_step", "outer_step", "outer_batch", "inner_batch")

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return the sentence of every such method, or one for a problem that the leader's own gradient misleads."""
        doubt = OnlineBilevel.of(problem).leader_gradient_doubt
        reason = super().unsupported_reason(problem)
        if reason is not None or not doubt:
            return reason
        return (
            f"OGD follows the leader's own gradient, and on {problem.title or type(problem).__name__} {doubt}: choose "
            "SOGD, which follows the hypergradient."
        )

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> PairState:
        """Return the state at x0 (R, n); no calls."""
        return PairState(x0, BilevelOracle(oracle).initial(streams), 0)

    def step(self, state: PairState, oracle: Oracle, streams: Streams) -> tuple[PairState, Info]:
        """Play a round: both steps from the point that was played."""
        x, y, t = state
        rounds = self.reveal(oracle)
        new = PairState(
            x=rounds.domain.project(x - self.outer_step * rounds.outer_gradients(x, y)[0]),
            inner=rounds.inner_domain.project(y - self.inner_step * rounds.inner_gradient(x, y)),
            round=t + 1,
        )
        return new, self.tell(x)
