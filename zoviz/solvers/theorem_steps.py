"""Steps and radii by the papers' theorems, from a problem's constants and the number of iterations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array, Constants
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import OnlineBilevel


class Setting(NamedTuple):
    """The problem and the settings from which a theorem's steps follow.

    Attributes
    ----------
    problem : Problem
    iterations : int
        T or K of the theorem.
    given : mapping of str to object
        The parameters that are given by hand: ``dual_cap`` bounds the multipliers.
    """

    problem: Problem
    iterations: int
    given: Mapping[str, Any]

    @property
    def constants(self) -> Constants:
        """The problem's constants.

        Raises
        ------
        ValueError
            Where they are unknown.
        """
        if self.problem.constants is None:
            raise ValueError(
                f"Expected a problem whose constants are known for the steps of a theorem, got {self.problem.title}: "
                "give the steps, or leave them to the solver's rule by published()."
            )
        return self.problem.constants

    @property
    def ends(self) -> tuple[Array, Array]:
        """The lower and the upper ends (n,) of X.

        Raises
        ------
        ValueError
            Where X is no bounded box.
        """
        domain = self.problem.domain
        if not isinstance(domain, Box) or not np.isfinite([domain.lower, domain.upper]).all():
            raise ValueError(
                f"Expected a problem in a bounded box for the steps of a theorem, got {self.problem.title}: give it "
                "bounds, or leave the steps to the solver's rule by published()."
            )
        return domain.lower, domain.upper

    @property
    def diameter(self) -> float:
        """The largest distance between two points of X."""
        lower, upper = self.ends
        return float(np.linalg.norm(upper - lower))

    @property
    def dual_cap(self) -> float:
        """The bound of each multiplier: the given one, else that of the solver's rule."""
        return float(self.given.get("dual_cap") or self.constants.dual_cap)


class SaddleConstants(NamedTuple):
    """Bounds of paper zoeg's assumptions 2.2 and 2.3: of F's Lipschitz constant, of phi's, and the diameter of Z."""

    curvature: float
    slope: float
    diameter: float


def saddle_constants(setting: Setting) -> SaddleConstants:
    r"""Return bounds L, G and D of phi(x, y) = f(x) + <y, h(x)> on X x [0, y_max]^m.

    .. math::
        L = L_f + \|y\| L_h + G_h, \qquad
        G^2 = (G_f + \|y\| G_h)^2 + (G_h D_X)^2, \qquad D^2 = D_X^2 + m y_{max}^2, \qquad \|y\| = \sqrt m\, y_{max}

    ||h|| <= G_h D_X holds where every constraint is active at some point of X.
    """
    one, m = setting.constants, setting.problem.m
    most = math.sqrt(m) * setting.dual_cap
    return SaddleConstants(
        one.curvature + most * one.constraint_curvature + one.constraint_slope,
        math.hypot(one.slope + most * one.constraint_slope, one.constraint_slope * setting.diameter),
        math.hypot(setting.diameter, most),
    )


def one_step(setting: Setting, step: float) -> dict[str, Any]:
    """Return one step for x and y, and the bound of Y that it is made for."""
    return {"primal_step": step, "dual_step": step, "dual_cap": setting.dual_cap}


def random_directions(setting: Setting) -> dict[str, Any]:
    """Return paper zoeg's D / (6 sqrt(6 d K) G), d = n + m, of Corollary 3.2: it minimises Theorem 3.1's bound."""
    _, slope, diameter = saddle_constants(setting)
    d = setting.problem.domain.n + setting.problem.m
    return one_step(setting, diameter / (6.0 * math.sqrt(6.0 * d * setting.iterations) * slope))


def all_coordinates(setting: Setting) -> dict[str, Any]:
    """Return paper zoeg's longest step of Theorem 4.1, 1 / (2 L)."""
    return one_step(setting, 0.5 / saddle_constants(setting).curvature)


def blocks(setting: Setting) -> dict[str, Any]:
    """Return D / (2 G sqrt(K)), which minimises the terms of paper zoeg's Theorem 4.3 that do not fall as 1 / K."""
    _, slope, diameter = saddle_constants(setting)
    return one_step(setting, diameter / (2.0 * slope * math.sqrt(setting.iterations)))


def extrapolation(setting: Setting) -> dict[str, Any]:
    r"""Return paper conex's 1 / (L_0 + L_f + eta), 1 / tau and radius nu of Theorem 3.1, (10) and (11).

    One radius serves all functions, the least. L_i and M_i are bounded by those of all constraints together, ||y*|| by
    the known optimum's, else by ``dual_cap``; D_X is that of W = ||.||^2 / 2 (errata 19). Noise is of values that two
    points share, so that gradients have none.
    """
    one, n, m, T = setting.constants, setting.problem.domain.n, setting.problem.m, setting.iterations
    lower, upper = setting.ends
    farthest = float(np.linalg.norm(np.maximum(np.abs(lower), np.abs(upper))))
    radius = min(
        2.0 / (n + 3.0) ** 1.5,
        _over(1.0, math.sqrt(2.0 * one.curvature * n * math.sqrt(T))),
        _over(1.0, one.curvature * (n + 6.0) ** 1.5),
        _over(1.0, 2.0 * one.constraint_slope * math.sqrt((n + 2.0) * m)),
        _over(1.0, math.sqrt(one.constraint_curvature * n * math.sqrt(m))),
        _over(1.0, math.sqrt(2.0 * one.constraint_curvature * n * farthest * math.sqrt(T * m))),
        _over(1.0, one.constraint_curvature * (n + 6.0) ** 1.5 * math.sqrt(m)),
    )
    width = setting.diameter / math.sqrt(2.0)
    known = setting.problem.known_optimum
    duals = math.sqrt(m) * setting.dual_cap if known is None else float(np.linalg.norm(known.multipliers))

    def spread(curvature: float, slope: float) -> float:
        """Return sigma^2 of Lemma 2.2, the variance of an estimate."""
        size = 0.5 * radius * curvature * (n + 3.0) ** 1.5 + curvature * width + slope
        return (radius * curvature) ** 2 * (n + 6.0) ** 3 + 10.0 * (n + 4.0) * size**2

    mine, theirs = spread(one.curvature, one.slope), spread(one.constraint_curvature, one.constraint_slope)
    values = 4.0 * (n + 2.0) * (one.constraint_slope * radius) ** 2 + (one.constraint_curvature * radius**2 * n) ** 2
    values += 2.0 * one.constraint_noise**2
    bend = 0.5 * one.constraint_curvature * width * duals
    eta = max(
        math.sqrt(2.0 * T * (bend**2 + mine + 48.0 * theirs)) / width,
        6.0 * max(2.0 * one.constraint_slope, 4.0 * math.sqrt(theirs)) / width,
    )
    tau = max(
        math.sqrt(96.0 * T * (values + width**2 * theirs)),
        2.0 * width * max(one.constraint_slope, 4.0 * math.sqrt(theirs)),
    )
    return {
        "primal_step": 1.0 / (one.curvature + one.constraint_curvature + eta),
        "dual_step": 1.0 / tau,
        "estimator.smoothing_radius": radius,
    }


def _over(number: float, by: float) -> float:
    return number / by if by > 0.0 else math.inf


def horizon(setting: Setting) -> dict[str, Any]:
    """Return the number of iterations that paper salm's powers of T are of, and for the rest the method's rule."""
    return {"horizon": setting.iterations}


def growing_batches(setting: Setting) -> dict[str, Any]:
    """Return paper sogd's radii and batches of (26); batches are at least 1 (errata 35)."""
    problem, T = OnlineBilevel.of(setting.problem), setting.iterations
    n, d = problem.domain.n, problem.inner_domain.n
    return {
        "outer_batch": math.ceil(T ** (1.0 / 3.0) / (n + d) ** 1.5),
        "inner_batch": math.ceil(T ** (2.0 / 3.0) / (n + d) ** 0.75),
        "estimator.smoothing_radius": 1.0 / (d * math.sqrt(T)),
        "outer_estimator.smoothing_radius": 1.0 / (n * math.sqrt(T)),
    }
