"""Rules that algorithms share: schedules of steps and radii, the proximal term, the target of a saddle field."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Constants, Evaluation
from zoviz.oracle import DerivedOracle, ValueOracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Info, Target


def with_proximal(oracle: ValueOracle, centre: Array, weight: float) -> DerivedOracle:
    """The oracle with (weight/2) ||x - centre||^2 added to f."""

    def evaluate(x: Array) -> Evaluation:
        value = oracle(x)
        offset = x - (centre if x.ndim == 2 else centre[:, None])
        return Evaluation(value.f + 0.5 * weight * np.square(offset).sum(axis=-1), value.h)

    return DerivedOracle(oracle, evaluate)


def joint_target(target: Target | None, problem: Problem, info: Info) -> Target | None:
    """A target for the Lagrangian in x, widened to the saddle function in (x, y), whose gradient in y is h(x)."""
    constants = problem.constants
    if target is None or constants is None:
        return None
    dual_square = np.square(problem.evaluate(info.point).h).sum(axis=-1)
    return Target(
        square=target.square + dual_square,
        n=target.n + info.dual.shape[-1],
        slope=np.sqrt(np.square(target.slope) + dual_square),
        curvature=target.curvature + constants.constraint_slope,
    )


def diminishing(value: float, iteration: int, schedule: str) -> float:
    """``value`` (schedule "constant") or value / sqrt(iteration + 1) ("diminishing")."""
    return value if schedule == "constant" else value / float(np.sqrt(iteration + 1.0))


def radius_at(iteration: int, ceiling: float, scale: float, power: float) -> float:
    """min{scale / (iteration + 1)^power, ceiling}, never below 1e-7 times the ceiling (round-off)."""
    return max(min(scale / (iteration + 1.0) ** power, ceiling), 1e-7 * ceiling)


def noisy_radius(constants: Constants, n: int, batch: int, floor: float) -> float:
    """The radius at which smoothing bias and independent noise balance, at least ``floor``.

    [2 n^2 sigma^2 / (L^2 (k + n^2 / 4))]^(1/4) minimises the mean square error of ``Sphere`` up to the part that does
    not depend on r; without noise it is ``floor``. sigma and L are those of the Lagrangian (see ``Constants``).

    References
    ----------
    More and Wild (2012) for the constant 8^(1/4) sqrt(sigma / L) that it tends to.
    """
    sigma = constants.lagrangian_noise
    if not sigma:
        return floor
    curvature = constants.lagrangian_curvature(constants.multiplier)
    ratio = 2.0 * (n * sigma / curvature) ** 2 / (batch + 0.25 * n * n)
    return max(float(ratio**0.25), floor)
