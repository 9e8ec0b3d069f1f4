"""The rules that algorithms share: schedules of steps and radii, the proximal term, the target of a saddle field."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.sets import Box, Set
from zoviz.core.types import Array, Constants
from zoviz.estimators import Coordinate
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.theory import Info, Target

FINE_RADIUS = 1e-5
"""The smoothing radius of paper splm; also where constants are measured: bias of order r stays below what tells."""
COARSE_RADIUS = 1e-3
"""The smoothing radius of paper zoeg, on load tracking, and of a public constrained version of ZO-Min-Max."""
DUAL_SHARE = 0.3
"""Share of L / G_0^2 that a dual step takes (chosen by us): where the primal step is near 1 / L, their product with
G_0^2 stays below 1/2, under which primal-dual steps contract on a quadratic with linear constraints."""
NEGLIGIBLE = 1e-12
"""As good as nothing, where a weight or a curvature has to be positive."""
_WIDEST = 0.25
"""Share of the width of X that a radius for central differences has at most (chosen by us)."""
_SMALLEST_SHARE = 1e-7
"""A schedule's radius stays above this share of its first: below it differences are round-off."""


def balanced_step(share: float, curvature: float, inflation: float, constants: Constants) -> float:
    """Return a dual step, or a penalty: share L / [(1 + v) G_0^2].

    It weighs the constraints' slope G_0 around the start against the objective's curvature L, whatever the units of f
    and h; ``inflation`` is 1 + v with v the relative variance of the estimates.
    """
    return share * curvature / (inflation * constants.safe_start_slope**2)


def dual_parameter() -> param.Selector[str | None]:
    """Return the parameter of a method of joint directions, which may take h(x) for its estimated slope in y."""
    return param.Selector(
        default=None,
        allow_None=True,
        objects=["estimated", "exact"],
        label="Slope in y",
        doc="estimated: joint direction in (x, y), as published. exact: h(x), which is already paid for. Auto: exact "
        "where the rule chooses the step.",
    )


def takes_exact_slope(solver: Solver) -> bool:
    """Return whether a method of joint directions perturbs x alone: where it is told to, or the rule chooses its step.

    Every value of h, also of rows that are far from active or drawn at random, is noise in x for a joint direction, and
    stays there at the solution.
    """
    dual = solver.get("dual")
    return dual == "exact" or (dual is None and solver.get("primal_step") is None)


def dual_of(solver: Solver) -> dict[str, str]:
    """Return the rule's choice of the slope in y; nothing where the primal step is given, or the slope is."""
    return {"dual": "exact"} if solver.get("dual") is None and takes_exact_slope(solver) else {}


def mean_square(before: Array, gradient: Array, decay: float) -> Array:
    """Return Adam's moving average (R, n) of the squares of gradients, coordinate by coordinate."""
    return decay * before + (1.0 - decay) * np.square(gradient)


def root_mean_square(square: Array, decay: float, t: int, floor: float) -> Array:
    """Return Adam's denominator (R, n) after t >= 1 steps: the unbiased average's root, and a floor."""
    return np.sqrt(square / (1.0 - decay**t)) + floor


def joint_target(target: Target | None, problem: Problem, info: Info) -> Target | None:
    """Return the target for the saddle function in (x, y), whose gradient in y is h(x), from that for x alone."""
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


def diminishing(value: float, iteration: int, schedule: str, power: float = 0.5) -> float:
    """Return a step: ``value`` by the schedule "constant", value / (iteration + 1)^power by "diminishing"."""
    return value if schedule == "constant" else float(value / np.power(iteration + 1.0, power))


def radius_at(iteration: int, ceiling: float, scale: float, power: float) -> float:
    """Return a smoothing radius min{scale / (iteration + 1)^power, ceiling}, at least 1e-7 of it (round-off)."""
    return max(min(scale / (iteration + 1.0) ** power, ceiling), _SMALLEST_SHARE * ceiling)


def noisy_radius(constants: Constants, n: int, batch: int, floor: float) -> float:
    """Return the radius at which smoothing bias and independent noise balance, at least ``floor``.

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


def median_width(domain: Set) -> float:
    """Return the median of the finite widths of a box; 0 where there is none."""
    widths = domain.upper - domain.lower if isinstance(domain, Box) else np.zeros(1)
    widths = widths[np.isfinite(widths) & (widths > 0)]
    return float(np.median(widths)) if widths.size else 0.0


def central_radius(constants: Constants, domain: Set) -> float:
    r"""Return the radius at which noise and bias of central differences balance, up to a quarter of X's width W.

    .. math:: r = (3 \sigma W / L)^{1/3}

    as if the curvature L changed by itself over W: third derivatives are not measured. W is the median of the finite
    widths of a box; 0 is returned where there is none, and where there is no noise. sigma and L are the Lagrangian's.

    References
    ----------
    Nocedal and Wright (2006), section 8.1, for the cube root of 3 sigma over the third derivative.
    """
    width, curvature = median_width(domain), constants.lagrangian_curvature(constants.multiplier)
    if not width:
        return 0.0
    return min((3.0 * constants.lagrangian_noise * width / curvature) ** (1.0 / 3.0), _WIDEST * width)


def radius_of(solver: Solver, problem: Problem, constants: Constants, floor: float) -> float:
    """Return the smoothing radius of an estimator: the one that was given, else ``noisy_radius``.

    Differences along coordinates that are central under independent noise have no bias of first order: their radius is
    at least ``central_radius``.
    """
    estimator = solver.estimator
    if estimator.smoothing_radius:
        return float(estimator.smoothing_radius)
    radius = noisy_radius(constants, problem.domain.n, estimator.batch_size, floor)
    if isinstance(estimator, Coordinate) and estimator.is_central(problem.contract == "independent"):
        radius = max(radius, central_radius(constants, problem.domain))
    return radius
