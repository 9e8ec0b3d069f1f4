"""The convex load-tracking problem of paper zoeg."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.types import Array, Constants, Evaluation, Optimum
from zoviz.problems.base import Problem


class _Data(NamedTuple):
    a: Array
    b: Array
    upper: Array
    weight: Array
    demand: float
    constants: Constants
    optimum: Optimum
    domain: Box


class LoadTracking(Problem):
    r"""Users curtail their loads at least cost until the total load tracks a target.

    .. math:: \min_{0 \le x \le u} \sum_i a_i x_i^2 + b_i x_i \quad\text{s.t.}\quad
              p_c(x) = \sum_i (1 + \gamma_i)(u_i - x_i) \le D

    x_i is the curtailed load of user i in kW; a ~ U(0.5, 1.5), b ~ U(0, 5), u ~ U(0, 50) kW, gamma ~ U(0.03, 0.15)
    (line losses), D = p_c(0) - curtailment. The constraint is h(x) = p_c(x) - D, in kW.

    Notes
    -----
    Optimum in closed form: x_i = clip((lam (1 + gamma_i) - b_i) / (2 a_i), 0, u_i), the multiplier lam by bisection.

    References
    ----------
    Paper zoeg, §5.1.
    """

    title = "Load tracking (convex)"
    order = 1
    domain: Box

    n = param.Integer(default=100, bounds=(1, 100_000), softbounds=(2, 500), label="Users n", doc="Number of users.")
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of a, b, u and gamma.")
    curtailment = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Curtailment in kW",
        doc="p_c(0) - D in kW: by how much the total load must fall. Auto: 15 kW per user, the paper's 1500 kW at "
        "n = 100. More than all users together can give leaves no feasible point, which is refused.",
    )

    m = 1

    def build(self) -> _Data:
        n, rng = self.n, np.random.default_rng(self.seed)
        a, b = rng.uniform(0.5, 1.5, n), rng.uniform(0.0, 5.0, n)
        upper, weight = rng.uniform(0.0, 50.0, n), 1.0 + rng.uniform(0.03, 0.15, n)
        demand = 15.0 * n if self.curtailment is None else float(self.curtailment)
        available = float(weight @ upper)
        if demand > available:
            raise ValueError(
                f"Expected a curtailment of at most {available:.1f} kW, which is all that the {n} users have, got "
                f"{demand:g} kW: lower it, or choose another instance seed."
            )
        optimum = _optimum(a, b, upper, weight, demand)
        constants = Constants(
            curvature=2.0 * float(a.max()),
            constraint_curvature=0.0,
            slope=float(np.linalg.norm(2.0 * a * upper + b)),
            constraint_slope=float(np.linalg.norm(weight)),
            start_slope=float(np.linalg.norm(weight)),
            weak_convexity=0.0,
            # E ||2 a x + b||^2 for x uniform in [0, u]
            objective_start_slope=float(np.sqrt(np.sum(4.0 / 3.0 * (a * upper) ** 2 + 2.0 * a * b * upper + b * b))),
        )
        return _Data(a, b, upper, weight, demand, constants, optimum, Box(np.zeros(n), upper))

    @property
    def known_optimum(self) -> Optimum:
        """The optimum in closed form."""
        return self.data.optimum

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return the cost (...) and p_c(x) - D (..., 1) at x (..., n)."""
        data = self.data
        f = np.einsum("...i,...i->...", x, data.a * x + data.b)
        return Evaluation(f, (data.demand - x @ data.weight)[..., None])

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return 2ax + b (..., n) and -(1 + gamma) (..., 1, n), the gradients of cost and constraint."""
        data = self.data
        return 2.0 * data.a * x + data.b, np.broadcast_to(-data.weight, (*x.shape[:-1], 1, self.n))


def _optimum(a: Array, b: Array, upper: Array, weight: Array, demand: float) -> Optimum:
    low, high = 0.0, float(np.max((2.0 * a * upper + b) / weight))
    for _ in range(200):
        lam = 0.5 * (low + high)
        x = np.clip((lam * weight - b) / (2.0 * a), 0.0, upper)
        low, high = (lam, high) if weight @ x < demand else (low, lam)
    x = np.clip((high * weight - b) / (2.0 * a), 0.0, upper)
    value = float(x @ (a * x + b))
    return Optimum(value, x, np.array([high]), "closed form, multiplier by bisection")
