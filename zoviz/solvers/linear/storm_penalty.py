"""The quadratic-penalty method with recursive momentum (STORM), for constraints that may be only sampled."""

from __future__ import annotations

from zoviz.solvers.linear.recursive_base import RecursiveMethod


class StormPenalty(RecursiveMethod):
    r"""A method of projected steps on a growing quadratic penalty, along a recursive estimate of its gradient.

    .. math::
        x^{t+1} &= \Pi_X(x^t - \tau_t\, g^t), \qquad
        G_t(x, \zeta) = \nabla f(x, \xi) + \rho_t A_{\zeta^1}^\top (A_{\zeta^2} x - b_{\zeta^2}) \\
        g^{t+1} &= G_{t+1}(x^{t+1}, \zeta^{t+1}) + (1 - a_t)\,[g^t - G_t(x^t, \zeta^{t+1})] \\
        \rho_t &= \rho\,(1 + t/400)^{1/5}, \qquad \tau_t = \tau\,(1 + t/400)^{-3/5}, \qquad
        a_t = a\,(1 + t/400)^{-4/5}

    Two stochastic gradients per iteration. The multipliers that are shown are rho_t times the estimate of A x - b.

    Notes
    -----
    Our implementation of the method of Alacaoglu and Wright (2024) for constraints that are expectations, from what
    paper salm says of it. The powers are ours: with rho ~ 1 / eps, curvature and deviation of the penalty grow like
    rho, and O(eps^-5) samples follow from tau ~ rho^(-4/3) T^(-1/3) and a ~ rho^2 tau^2, that is T^(-3/5) and
    T^(-4/5).

    References
    ----------
    Alacaoglu and Wright (2024), Complexity of single loop algorithms for nonlinear programming with stochastic
    objective and constraints; paper salm, Table 1 and §7.
    """

    title = "Penalty with STORM"
    powers = (0.2, 0.6, 0.8)
    stiffness = 30.0
