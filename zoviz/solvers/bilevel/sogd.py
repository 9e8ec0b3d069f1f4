"""SOGD: simultaneous online gradient descent on leader, follower and linear system."""

from __future__ import annotations

from zoviz.core.streams import RandomSource
from zoviz.core.types import Array
from zoviz.oracle import BilevelOracle
from zoviz.solvers.bilevel.base import Triple
from zoviz.solvers.bilevel.simultaneous import Simultaneous


class SOGD(Simultaneous):
    r"""A method of one gradient step a round on follower, system and leader, along recursive directions.

    .. math::
        D^y &= \nabla_y g_t, \quad D^v = \nabla_y f_t + \nabla_y^2 g_t\,v, \quad
        D^x = \nabla_x f_t + \nabla_{xy}^2 g_t\,v \\
        d_t &= D_t(z_t, v_t) + (1 - w_t)\,(d_{t-1} - D_t(z_{t-1}, v_{t-1})), \qquad w_t \in \{\gamma_t, \lambda_t,
        \eta_t\} \\
        y_{t+1} &= \Pi_Y(y_t - \beta_t d^y_t), \quad v_{t+1} = \Pi_{\|\cdot\| \le p}(v_t - \delta_t d^v_t), \quad
        x_{t+1} = \Pi_X(x_t - \alpha_t d^x_t)

    4 calls at each of two points in a round (a gradient of f, one of g, a Hessian- and a Jacobian-vector product); at
    one point in the first round, and where all weights are 1. Schedules: constant steps and weights (practice), or
    alpha_t = (c + t)^(-1/3), beta_t and delta_t in constant ratios to it, weights min(1, c_w alpha_t^2) (theory).

    Notes
    -----
    The printed algorithm gives three directions one name and lacks the recursions of d^y and d^v: those above are the
    ones that its theory uses (errata 27), with the present round's functions and batches, and the last round's y, x
    and v, in the old term (errata 28). y is projected on Y, which the paper leaves free (errata 32).

    References
    ----------
    Paper sogd, Algorithm 1, (7), (8) and Theorem 3.6.
    """

    title = "SOGD"
    source = "paper sogd, Algorithm 1"

    def raw(self, rounds: BilevelOracle, at: Triple, streams: RandomSource, t: int) -> tuple[Triple, Array | None]:
        """Return the raw directions in x (R, n), y and v (R, d) from gradients and products at a point."""
        x, y, v = at
        f_x, f_y = rounds.outer_gradients(x, y)
        return Triple(
            x=f_x + rounds.jacobian_vector(x, y, v),
            inner=rounds.inner_gradient(x, y),
            v=f_y + rounds.hessian_vector(x, y, v),
        ), None
