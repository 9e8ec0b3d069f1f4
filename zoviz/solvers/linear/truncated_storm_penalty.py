"""The quadratic-penalty method with truncated recursive momentum, for constraints that are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.types import Constants
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import Estimates
from zoviz.solvers.linear.recursive_base import RecursiveMethod


class TruncatedStormPenalty(RecursiveMethod):
    r"""A method of projected steps on a growing quadratic penalty, along a recursive estimate that is kept bounded.

    .. math::
        x^{t+1} &= \Pi_X\big(x^t - \tau_t\,[g^t + \rho_t A^\top (A x^t - b)]\big) \\
        g^{t+1} &= \Pi_{\|g\| \le G}\big(\nabla f(x^{t+1}, \xi) + (1 - a_t)\,[g^t - \nabla f(x^t, \xi)]\big) \\
        \rho_t &= \rho\,(1 + t/400)^{1/3}, \qquad \tau_t = \tau\,(1 + t/400)^{-1/3}, \qquad
        a_t = a\,(1 + t/400)^{-2/3}

    Two stochastic gradients per iteration. The multipliers that are shown are rho_t (A x^t - b).

    Notes
    -----
    Our implementation of the method of Lu et al. (2024): a penalty, one loop, and momentum that is truncated to a bound
    on the gradient, so that the iterates' violation is bounded surely and not in the mean. The powers are ours: with
    rho ~ 1 / eps and exact rows, O(eps^-3) samples follow from rho ~ T^(1/3), tau ~ 1 / rho and a ~ tau^2.

    References
    ----------
    Lu, Mei and Xiao (2024), Variance-reduced first-order methods for deterministically constrained stochastic
    nonconvex optimization with strong convergence guarantees; paper salm, Table 1 and §7.
    """

    title = "Penalty with truncated STORM"
    live = (*RecursiveMethod.live, "gradient_cap")
    takes_samples = False
    powers = (1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0)
    stiffness = 30.0

    gradient_cap = Scale(
        None, softbounds=(1e-2, 1e4), label="Gradient cap G", doc="Longest gradient estimate; others are cut."
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the common start, and G = G_f, the largest ||grad f|| over the domain (1 where that is 0)."""
        return super().from_constants(problem, constants) | {"gradient_cap": float(constants.slope) or 1.0}

    def bounded(self, estimates: Estimates) -> Estimates:
        """Return estimates whose gradient of f has a norm of at most G."""
        size = np.linalg.norm(estimates.gradient, axis=1, keepdims=True)
        return estimates._replace(
            gradient=estimates.gradient * np.minimum(1.0, self.gradient_cap / np.maximum(size, 1e-300))
        )
