"""The rules that algorithms share: schedules of steps and radii, the proximal term, the target of a saddle field."""

from __future__ import annotations

import math

import numpy as np
import param

from zoviz.core.parameters import PlainNumber
from zoviz.core.sets import Box, Set
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import Coordinate
from zoviz.estimators.base import DirectionalEstimator
from zoviz.oracle import DerivedOracle, ValueOracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Info, Solver, Target

FINE_RADIUS = 1e-5
"""The smoothing radius of paper splm; also where constants are measured: bias of order r stays below what tells."""
COARSE_RADIUS = 1e-3
"""The smoothing radius of paper zoeg, on load tracking, and of a public constrained version of ZO-Min-Max."""
DUAL_SHARE = 0.3
"""Share of L / G_0^2 that a dual step takes (chosen by us): where the primal step is near 1 / L, their product with
G_0^2 stays below 1/2, under which primal-dual steps contract on a quadratic with linear constraints."""
FAR = 1e9
"""As good as no bound, for a size of multipliers."""
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


_STEEPER = 1.0 / 3.0
"""Share by which the Lagrangian's curvature may exceed the one that a primal step was chosen for: ZO-SPLM's 1.5 / L,
the longest, then is the longest that a quadratic bears, 2 / L."""


def step_reach_parameter() -> PlainNumber[float | None]:
    """Return the parameter w of ``following``, for a solver with a primal step that a rule may choose."""
    return PlainNumber(
        default=None,
        allow_None=True,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        label="Reach of the step w",
        doc="Beyond multipliers of this size the step of x is shortened as w / ||y||. 1e9: constant, as published. "
        "Auto: by the rule, where that chooses the step.",
    )


def reach_of(solver: Solver, curvature: float, constants: Constants, apart: float = 0.0) -> dict[str, float]:
    """Return the reach w of a step that the rule chooses for a curvature L: where w L_h exceeds its part of L by L / 3.

    Nothing where the step is given, which then stays as it is; 1e9, as good as none, where the constraints are linear.

    Parameters
    ----------
    solver : Solver
        With the parameters ``primal_step`` and ``step_reach``.
    curvature : float
        L, of L_f, of multipliers of moderate size times L_h, and of ``apart``, e.g. a proximal weight.
    constants : Constants
    apart : float
    """
    if solver.get("primal_step") is not None or solver.get("step_reach") is not None:
        return {}
    bend, share = constants.constraint_curvature, curvature - constants.curvature - apart + _STEEPER * curvature
    return {"step_reach": share / bend if FAR * bend > share else FAR}


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


def directions_of(solver: Solver, problem: Problem, constants: Constants) -> dict[str, str]:
    """Return which directions a solver's estimator takes: coordinates where values repeat and nothing is told.

    A sweep of all n where k >= n: n + 1 calls give the gradient itself, where k + 1 gave an estimate of relative
    variance (n - 1) / k. Else a block of k: the gradient is not zero at a solution where bounds are active, so that
    random directions carry noise into all variables there, which blocks do not. Nothing is returned where the primal
    step is given, as in what is published, or the directions are.
    """
    estimator = solver.estimator
    if not isinstance(estimator, DirectionalEstimator) or estimator.directions is not None:
        return {}
    if solver.get("primal_step") is not None:
        return {}
    if problem.contract != "deterministic" or not constants.measured:
        return {"estimator.directions": "random"}
    return {"estimator.directions": "sweep" if estimator.batch_size >= problem.domain.n else "block"}


def variance_of(solver: Solver, directions: dict[str, str], n: int) -> float:
    """Return the relative variance of a solver's estimates in n variables, along what ``directions_of`` returned."""
    if not directions:
        return solver.relative_variance(n)
    estimator = solver.estimator.clone()
    estimator.directions = directions["estimator.directions"]
    return float(estimator.predicted_variance(np.ones(1), n, 0.0, 1.0)[0])


def following(step: float | Array, reach: float | None, y: Array) -> float | Array:
    r"""Return a primal step that is shortened as multipliers y (R, m) grow beyond their reach, (R, 1).

    .. math:: c_t = c \min\{1, w / \|y_t\|\}

    keeps c_t (L_f + ||y_t|| L_h) below c (L_f + w L_h): a step that is fixed for moderate multipliers is too long for
    larger ones, and the iterates that it throws out make them grow for ever. The step itself where the reach is open,
    or no multiplier comes near it.
    """
    if reach is None or math.sqrt(np.vdot(y, y)) < reach:  # the norm of all replicas' together
        return step
    size = np.sqrt(np.square(y).sum(axis=1, keepdims=True))
    return step * np.minimum(1.0, reach / np.maximum(size, NEGLIGIBLE))


def mean_square(before: Array, gradient: Array, decay: float) -> Array:
    """Return Adam's moving average (R, n) of the squares of gradients, coordinate by coordinate."""
    return decay * before + (1.0 - decay) * np.square(gradient)


def root_mean_square(square: Array, decay: float, t: int, floor: float) -> Array:
    """Return Adam's denominator (R, n) after t >= 1 steps: the unbiased average's root, and a floor."""
    return np.sqrt(square / (1.0 - decay**t)) + floor


def with_proximal(oracle: ValueOracle, centre: Array, weight: float) -> DerivedOracle:
    """Return the oracle with (weight/2) ||x - centre||^2 added to f, for a centre (R, n)."""

    def evaluate(x: Array) -> Evaluation:
        value = oracle(x)
        offset = x - (centre if x.ndim == 2 else centre[:, None])
        return Evaluation(value.f + 0.5 * weight * np.square(offset).sum(axis=-1), value.h)

    return DerivedOracle(oracle, evaluate, oracle.bounds)


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


def diminishing(value: float, iteration: int, schedule: str) -> float:
    """Return a step: ``value`` by the schedule "constant", value / sqrt(iteration + 1) by "diminishing"."""
    return value if schedule == "constant" else value / float(np.sqrt(iteration + 1.0))


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


def central_radius(constants: Constants, domain: Set) -> float:
    r"""Return the radius at which noise and bias of central differences balance, up to a quarter of X's width W.

    .. math:: r = (3 \sigma W / L)^{1/3}

    as if the curvature L changed by itself over W: third derivatives are not measured. W is the median of the finite
    widths of a box; 0 is returned where there is none, and where there is no noise. sigma and L are the Lagrangian's.

    References
    ----------
    Nocedal and Wright (2006), section 8.1, for the cube root of 3 sigma over the third derivative.
    """
    widths = domain.upper - domain.lower if isinstance(domain, Box) else np.zeros(1)
    widths = widths[np.isfinite(widths) & (widths > 0)]
    if not widths.size:
        return 0.0
    width, curvature = float(np.median(widths)), constants.lagrangian_curvature(constants.multiplier)
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
