"""The engineering design problems: formulas written out again, published points, and the best of many local solves."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import PressureVessel, SpeedReducer, Spring, WeldedBeam
from zoviz.problems.engineering.base import DesignProblem

CLASSICS = (PressureVessel, WeldedBeam, Spring, SpeedReducer)
EACH = pytest.mark.parametrize("cls", CLASSICS, ids=lambda cls: cls.__name__)


def vessel(x: list[float]) -> list[float]:
    ts, th, r, length = x
    cost = 0.6224 * ts * r * length + 1.7781 * th * r**2 + 3.1661 * ts**2 * length + 19.84 * ts**2 * r
    volume = -pi * r**2 * length - 4 / 3 * pi * r**3 + 1296000
    return [cost, -ts + 0.0193 * r, -th + 0.00954 * r, volume, length - 240]


def beam(x: list[float]) -> list[float]:
    h, l, t, b = x  # noqa: E741 - the symbols of the publications
    load, arm, young, rigid = 6000.0, 14.0, 30e6, 12e6
    moment, radius = load * (arm + l / 2), sqrt(l**2 / 4 + ((h + t) / 2) ** 2)
    polar = 2 * (sqrt(2) * h * l * (l**2 / 12 + ((h + t) / 2) ** 2))
    direct, torsion = load / (sqrt(2) * h * l), moment * radius / polar
    shear = sqrt(direct**2 + 2 * direct * torsion * l / (2 * radius) + torsion**2)
    buckling = 4.013 * young * sqrt(t**2 * b**6 / 36) / arm**2 * (1 - t / (2 * arm) * sqrt(young / (4 * rigid)))
    return [
        1.10471 * h**2 * l + 0.04811 * t * b * (14 + l),
        shear - 13600,
        6 * load * arm / (b * t**2) - 30000,
        h - b,
        0.10471 * h**2 + 0.04811 * t * b * (14 + l) - 5,
        0.125 - h,
        4 * load * arm**3 / (young * t**3 * b) - 0.25,
        load - buckling,
    ]


def spring(x: list[float]) -> list[float]:
    d, coil, count = x
    return [
        (count + 2) * coil * d**2,
        1 - coil**3 * count / (71785 * d**4),
        (4 * coil**2 - d * coil) / (12566 * (coil * d**3 - d**4)) + 1 / (5108 * d**2) - 1,
        1 - 140.45 * d / (coil**2 * count),
        (coil + d) / 1.5 - 1,
    ]


def reducer(x: list[float]) -> list[float]:
    a, b, c, d, e, p, q = x
    return [
        0.7854 * a * b**2 * (3.3333 * c**2 + 14.9334 * c - 43.0934)
        - 1.508 * a * (p**2 + q**2)
        + 7.4777 * (p**3 + q**3)
        + 0.7854 * (d * p**2 + e * q**2),
        27 / (a * b**2 * c) - 1,
        397.5 / (a * b**2 * c**2) - 1,
        1.93 * d**3 / (b * c * p**4) - 1,
        1.93 * e**3 / (b * c * q**4) - 1,
        sqrt((745 * d / (b * c)) ** 2 + 16.9e6) / (110 * p**3) - 1,
        sqrt((745 * e / (b * c)) ** 2 + 157.5e6) / (85 * q**3) - 1,
        b * c / 40 - 1,
        5 * b / a - 1,
        a / (12 * b) - 1,
        (1.5 * p + 1.9) / d - 1,
        (1.1 * q + 1.9) / e - 1,
    ]


FORMULAS = dict(zip(CLASSICS, (vessel, beam, spring, reducer), strict=True))


def inside(cls: type[DesignProblem], count: int) -> Array:
    low, high = np.array(cls.lower), np.array(cls.upper)
    return low + (high - low) * np.random.default_rng(1).random((count, cls.n))


@EACH
def test_values_are_those_of_the_formulas_written_out(cls: type[DesignProblem]) -> None:
    x, formula = inside(cls, 50), FORMULAS[cls]
    value = cls().evaluate(x)
    expected = np.array([formula(point.tolist()) for point in x])
    np.testing.assert_allclose(value.f, expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(value.h, expected[:, 1:], rtol=1e-9, atol=1e-9)


@EACH
def test_gradients_along_each_variable(cls: type[DesignProblem]) -> None:
    problem, x = cls(), inside(cls, 20)
    of_f, of_h = problem.gradient(x)
    for i in range(cls.n):
        step = np.zeros_like(x)
        step[:, i] = 1e-6 * x[:, i]
        ahead, behind, width = problem.evaluate(x + step), problem.evaluate(x - step), 2.0 * step[:, i]
        np.testing.assert_allclose(of_f[:, i], (ahead.f - behind.f) / width, rtol=1e-5, atol=1e-6)
        measured = (ahead.h - behind.h) / width[:, None]
        np.testing.assert_allclose(of_h[..., i], measured, rtol=1e-4, atol=1e-6 * (1.0 + np.abs(measured).max()))


@EACH
def test_the_published_point_is_feasible_as_far_as_it_is_printed(cls: type[DesignProblem]) -> None:
    problem, point = cls(), np.array(cls.published_point)
    value, optimum = problem.evaluate(point), problem.known_optimum
    slopes = np.abs(problem.gradient(point)[1])
    rounding = slopes @ np.array([0.5 * 10.0 ** -digits(number) for number in cls.published_point])
    assert (value.h <= rounding + 1e-9).all()
    assert value.f == pytest.approx(cls.published_value, rel=1e-4)
    assert optimum.value == pytest.approx(cls.published_value, rel=1e-6)
    np.testing.assert_allclose(optimum.point, point, rtol=1e-3)


def digits(number: float) -> int:
    """Printed decimals; a number without any is exact."""
    text = f"{number:.10f}".rstrip("0")
    return len(text.split(".")[1]) or 12


@EACH
def test_the_known_optimum_is_a_karush_kuhn_tucker_point(cls: type[DesignProblem]) -> None:
    problem = cls()
    optimum = problem.known_optimum
    value, (of_f, of_h) = problem.evaluate(optimum.point), problem.gradient(optimum.point)
    size = 1.0 + np.abs(of_h).max(axis=1)
    np.testing.assert_allclose(value.h[list(cls.active)] / size[list(cls.active)], 0.0, atol=1e-13)
    assert (optimum.multipliers[list(cls.active)] > 0.0).all()
    others = [j for j in range(cls.m) if j not in cls.active]
    assert (value.h[others] < 0.0).all() and (optimum.multipliers[others] == 0.0).all()
    slope = of_f + optimum.multipliers @ of_h
    on_low, on_high = optimum.point == cls.lower, optimum.point == cls.upper
    scale = np.linalg.norm(of_f)
    assert np.abs(slope[~(on_low | on_high)]).max(initial=0.0) <= 1e-9 * scale
    assert (slope[on_low] >= 0.0).all() and (slope[on_high] <= 0.0).all()


def local(problem: DesignProblem, start: Array) -> tuple[float, Array]:
    """SLSQP in variables and constraints of unit size, from a start."""
    low, width = problem.domain.lower, problem.domain.upper - problem.domain.lower
    size = 1.0 + np.linalg.norm(problem.gradient(problem.known_optimum.point)[1] * width, axis=1)
    unit = 1.0 + abs(problem.known_optimum.value)

    def scaled(what: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda u: what(low + width * u)

    solution = minimize(
        scaled(lambda x: problem.evaluate(x).f / unit),
        (start - low) / width,
        jac=scaled(lambda x: problem.gradient(x)[0] * width / unit),
        bounds=[(0.0, 1.0)] * problem.n,
        constraints={
            "type": "ineq",
            "fun": scaled(lambda x: -problem.evaluate(x).h / size),
            "jac": scaled(lambda x: -problem.gradient(x)[1] * width / size[:, None]),
        },
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-13},
    )
    x = problem.domain.project(low + width * solution.x)
    return float((problem.evaluate(x).h / size).max()), x


@EACH
def test_many_local_solves_reach_the_known_optimum_and_none_a_better_point(cls: type[DesignProblem]) -> None:
    problem = cls()
    optimum, values = problem.known_optimum, []
    for start in inside(cls, 25):
        with np.errstate(all="ignore"):
            violation, x = local(problem, start)
        if violation <= 1e-9:
            values.append(float(problem.evaluate(x).f))
    assert len(values) >= 4
    assert min(values) == pytest.approx(optimum.value, rel=1e-6)
    assert min(values) >= optimum.value * (1.0 - 1e-6)


@EACH
def test_starts_are_where_the_docstring_has_them(cls: type[DesignProblem]) -> None:
    low, high = cls.start or (cls.lower, cls.upper)
    x0 = cls().initial(Streams(0, 4000))
    np.testing.assert_allclose(x0.min(axis=0), low, atol=0.01 * np.ptp([low, high], axis=0).max())
    np.testing.assert_allclose(x0.max(axis=0), high, atol=0.01 * np.ptp([low, high], axis=0).max())
    assert (x0 >= cls.lower).all() and (x0 <= cls.upper).all()
