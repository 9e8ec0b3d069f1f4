"""Small constrained problems of which much is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.sets import Ball, Box
from zoviz.core.types import Array, Constants, Evaluation, Optimum
from zoviz.problems import NonconvexQCQP, Problem


class TwoConstraints(Problem):
    """f = sum a_i x_i^2 / 2 - x_i; h_1 = sum x - 1, h_2 = x_1^2 + x_2^2 - 1/4; X = [-2, 2]^5."""

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 5, 2
    domain = Box(np.full(5, -2.0), np.full(5, 2.0))
    weights = np.arange(1.0, 6.0)
    constants = Constants(6.0, 2.0, 30.0, 10.0, 4.0, 0.0)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f = (0.5 * self.weights * x * x - x).sum(axis=-1)
        h = np.stack([x.sum(axis=-1) - 1.0, x[..., 0] ** 2 + x[..., 1] ** 2 - 0.25], axis=-1)
        return Evaluation(f, h)

    def gradient(self, x: Array, xi: Any = None) -> tuple[Array, Array]:
        of_h = np.zeros((*x.shape[:-1], 2, x.shape[-1]))
        of_h[..., 0, :] = 1.0
        of_h[..., 1, :2] = 2.0 * x[..., :2]
        return self.weights * x - 1.0, of_h


class Known(Problem):
    """A strongly convex problem made from its solution: two constraints active there, one not, and one bound."""

    __abstract = True

    n, m = 4, 3
    domain = Box(np.full(4, -3.0), np.array([0.8, 3.0, 3.0, 3.0]))
    point, multipliers = np.array([0.8, -0.5, 0.3, 1.0]), np.array([0.7, 0.4, 0.0])
    curvatures = np.array([1.0, 2.0, 3.0, 4.0])
    lines = np.array([[1.0, -1.0, 2.0, 0.5], [0.3, 0.2, -1.0, 1.0]])
    constants = Constants(4.0, 1.0, 40.0, 10.0, 4.0, 0.0)

    @property
    def known_optimum(self) -> Optimum:
        return Optimum(float(self.evaluate(self.point).f), self.point, self.multipliers, "by construction")

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        star = self.point
        slope = -(self.multipliers[0] * star + self.multipliers[1] * self.lines[0])
        slope = slope - np.array([0.5, 0.0, 0.0, 0.0])  # the bound's own multiplier
        f = (0.5 * self.curvatures * (x - star) ** 2 + slope * x).sum(axis=-1)
        ball = 0.5 * (x * x).sum(axis=-1) - 0.5 * star @ star
        return Evaluation(f, np.stack([ball, (x - star) @ self.lines[0], (x - star) @ self.lines[1] - 1.0], axis=-1))


class Round(NonconvexQCQP):
    """The quadratic problem on a ball."""

    __abstract = True  # keeps it out of the registry

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.n), 3.0)
