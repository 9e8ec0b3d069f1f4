"""What theory predicts of a step's gradient estimate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array, ExactValues
from zoviz.problems.base import Problem


class Info(NamedTuple):
    """The facts about the gradient estimate of one step: its measured variance, its point, multipliers and radius.

    Attributes
    ----------
    variance : Array, shape (R,)
        Measured variance of the step's (first) gradient estimate.
    point, dual : Array, shapes (R, n) and (R, m)
        Where that gradient was estimated.
    radius : float
        The smoothing radius in use.
    added : Array, shape (R, n), or None
        Gradient of what is estimated with the Lagrangian, e.g. of a proximal term; None where it is that alone.
    """

    variance: Array
    point: Array
    dual: Array
    radius: float
    added: Array | None = None


class Target(NamedTuple):
    """The exact magnitudes of the scalar phi whose gradient is estimated, from which theory predicts a variance.

    Attributes
    ----------
    square : Array, shape (R,)
        ||grad phi||^2 where the estimate was taken.
    n : int
        Dimension of the estimate.
    slope, curvature : Array, shape (R,)
        Bounds G on ||grad phi|| over the domain and L on its Lipschitz constant.
    """

    square: Array
    n: int
    slope: Array
    curvature: Array


class Theory:
    """The part of a solver that says what theory predicts of its estimates."""

    estimator: Any = None
    """A ``GradientEstimator``; None for a method that estimates no gradient."""

    def theory(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> dict[str, Array]:
        """Return the variance that theory predicts for a step's estimate, and the papers' bounds on it, at no call.

        Parameters
        ----------
        problem : Problem
        info : Info
        exact : ExactValues, optional
            Values and gradients at ``info.point``, where the caller has them already; computed otherwise.

        Returns
        -------
        dict of str to Array, shape (R,)
            ``variance_predicted``, and ``bound: <source>`` for each published bound; empty where the problem has no
            exact gradients, or the method no estimator.
        """
        estimator = self.estimator
        target = None if estimator is None else self.target(problem, info, exact)
        if target is None:
            return {}
        noise = problem.lagrangian_noise(info.dual)
        if estimator.takes_values:
            value = problem.evaluate(info.point) if exact is None else exact.value
            noise = noise + np.square(value.f + (info.dual * value.h).sum(axis=-1))
        prediction = estimator.predicted_variance(target.square, target.n, noise, info.radius)
        bounds = estimator.published_bounds(target.slope, target.curvature, target.n, info.radius)
        return {"variance_predicted": prediction} | {f"bound: {source}": bound for source, bound in bounds.items()}

    def target(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> Target | None:
        """Return exact magnitudes of the scalar that the estimator works on: the Lagrangian in x and what is added."""
        constants = problem.constants
        gradients = problem.gradient(info.point) if exact is None else exact.gradients
        if gradients is None or constants is None:
            return None
        lagrangian = gradients[0] + np.matmul(info.dual[:, None, :], gradients[1])[:, 0, :]
        size = np.sqrt(np.square(info.dual).sum(axis=-1))
        slope = constants.slope + size * constants.constraint_slope
        if info.added is not None:
            lagrangian, slope = lagrangian + info.added, slope + np.linalg.norm(info.added, axis=-1)
        return Target(
            square=np.square(lagrangian).sum(axis=-1),
            n=lagrangian.shape[-1],
            slope=slope,
            curvature=constants.curvature + size * constants.constraint_curvature,
        )
