"""The linearised augmented Lagrangian method with recursive momentum (STORM), without smoothing."""

from __future__ import annotations

from typing import Any

from zoviz.core.parameters import Scale
from zoviz.core.types import Constants
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import SHORT_HORIZON, Lifted
from zoviz.solvers.linear.recursive_base import Corrected, RecursiveMethod


class LinearisedStormALM(RecursiveMethod):
    r"""A method of one projected step on the augmented Lagrangian along a recursive estimate, then one dual step.

    .. math::
        x^{t+1} &= \Pi_X\big(x^t - \tau\,[g^t + A^\top y^t + \rho A^\top (A x^t - b)]\big), \qquad
        y^{t+1} = y^t + \eta (A x^{t+1} - b) \\
        g^{t+1} &= \nabla f(x^{t+1}, \xi^{t+1}) + (1 - a)\,[g^t - \nabla f(x^t, \xi^{t+1})]

    with steps of order T^(-1/3) and a of order T^(-2/3). Two stochastic gradients per iteration.

    Notes
    -----
    Our implementation of the method of Alacaoglu and Wright (2024) for linear equations, from what paper salm says of
    it: a constant penalty, dual steps that are not negligible, one loop. Their theory is for X = R^n; the projection,
    and the slacks of inequalities, are ours, and so are the factors of the steps.

    References
    ----------
    Alacaoglu and Wright (2024), Complexity of single loop algorithms for nonlinear programming with stochastic
    objective and constraints; paper salm, Table 1 and §7.
    """

    title = "Linearised ALM with STORM"
    live = (*RecursiveMethod.live, "dual_step")
    takes_samples = False

    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step η", doc="Step of the multipliers along Ax - b.")

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the common start times min{1, (400 / T)^(1/3)}, that to the square as a, and eta = rho L_f tau."""
        values = super().from_constants(problem, constants)
        values["primal_step"] *= min(1.0, (SHORT_HORIZON / self.length) ** (1.0 / 3.0))
        values["momentum"] = min(1.0, (SHORT_HORIZON / self.length) ** (2.0 / 3.0))
        step = self.primal_step or values["primal_step"]
        return values | {"dual_step": values["penalty"] * constants.curvature * step}

    def advance(self, state: Corrected, lifted: Lifted) -> Corrected:
        """Return the state after the dual step at its new point."""
        residual = lifted.residual(state.point)
        return super().advance(state._replace(shift=state.shift + self.dual_step * residual), lifted)
