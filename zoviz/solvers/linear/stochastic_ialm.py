"""The stochastic inexact augmented Lagrangian method: stages of a recursion, under growing penalties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.types import Array, Constants
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import SHORT_HORIZON, Lifted
from zoviz.solvers.linear.recursive_base import Corrected, RecursiveMethod


class StochasticIALM(RecursiveMethod):
    r"""A method of stages: many steps on one augmented Lagrangian, then a damped dual step and a larger penalty.

    .. math::
        x^{t+1} &= \Pi_X(x^t - \tau_t\, g^t), \qquad
        g^{t+1} = G_k(x^{t+1}, \zeta^{t+1}) + (1 - a_t)\,[g^t - G_k(x^t, \zeta^{t+1})] \\
        G_k(x, \zeta) &= \nabla f(x, \xi) + A_{\zeta^1}^\top\big(y^k + \rho_k (A_{\zeta^2} x - b_{\zeta^2})\big) \\
        y^{k+1} &= y^k + \eta\, \min\{1, \gamma_k / \|\hat c\|\}\,\hat c, \qquad
        \gamma_k = \frac{(\log 2)^2 \|\hat c^1\|}{(k + 1) \log^2(k + 2)}, \qquad \rho_{k+1} = \sigma \rho_k

    Stage k has ``stage_length`` sigma^k iterations, with tau / sigma^k and a (1 + j / 400)^(-2/3) after j of them; it
    begins with estimates from N = ceil(T^(1/3)) samples, and c is the mean of as many of A_zeta x - b_zeta at its end.
    Two stochastic gradients per iteration.

    Notes
    -----
    Our implementation of the method of Li et al. (2024), of which we know what paper salm says: two loops, a penalty
    that goes to infinity, and dual steps that do not contribute to feasibility. Its damping is that of the method
    without noise (Li et al., 2021), whose sum over the stages is finite. The lengths of stages are ours; theirs end by
    a tolerance, which samples cannot show.

    References
    ----------
    Li, Chen, Liu, Lu and Xu (2024), Stochastic inexact augmented Lagrangian method for nonconvex expectation
    constrained optimization; Xu and Xu (2023) for the recursion; paper salm, Table 1 and §7.
    """

    title = "Stochastic iALM"
    live = (*RecursiveMethod.live, "dual_step")

    dual_step = Scale(None, softbounds=(1e-3, 1e2), label="Dual step η", doc="Step of the multipliers, before damping.")
    penalty_growth = param.Number(
        default=2.0, bounds=(1.1, 100), label="Growth σ", doc="Growth of the penalty and of the stages."
    )
    stage_length = param.Integer(
        default=200,
        bounds=(1, 10**8),
        softbounds=(10, 10**4),
        label="First stage",
        doc="Number of iterations of the first stage.",
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the common start, and eta = rho, that of the classical method."""
        values = super().from_constants(problem, constants)
        return values | {"dual_step": values["penalty"]}

    def place(self, iteration: int) -> tuple[int, int]:
        """Return the stage k of an iteration, and the iterations since it began."""
        growth, stage, start = self.penalty_growth, 0, 0
        while True:
            length = math.ceil(self.stage_length * growth**stage)
            if iteration < start + length:
                return stage, iteration - start
            stage, start = stage + 1, start + length

    def factors(self, iteration: int) -> tuple[float, float, float]:
        stage, since = self.place(iteration)
        size = self.penalty_growth**stage
        return size, 1.0 / size, (1.0 + since / SHORT_HORIZON) ** (-2.0 / 3.0)

    def begins(self, iteration: int) -> bool:
        """Return whether an iteration is the first of its stage."""
        return self.place(iteration)[1] == 0

    def stage(self, state: Corrected) -> int:
        """Return the stage k."""
        return self.place(state.iteration)[0]

    def advance(self, state: Corrected, lifted: Lifted) -> Corrected:
        """Return the state with the next stage's multipliers and penalty where one ends."""
        stage, since = self.place(state.iteration)
        if since == 0:
            residual = lifted.residual(state.point, copy=0)
            size = np.linalg.norm(residual, axis=1)
            first: Array = size if stage == 1 else state.reference
            reach = math.log(2.0) ** 2 * first / (stage * math.log(stage + 1.0) ** 2)  # gamma of the stage that ends
            damping = np.minimum(1.0, reach / np.maximum(size, 1e-300))
            state = state._replace(shift=state.shift + self.dual_step * damping[:, None] * residual, reference=first)
        return super().advance(state, lifted)
