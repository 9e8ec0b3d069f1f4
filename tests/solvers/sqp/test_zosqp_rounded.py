"""ZOSQP where values are rounded: that is seen by their digits, and taken for noise; not where they only look so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.types import Array
from zoviz.papers.minimize.printed_digits import PROBLEMS, PrintedBox
from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers import ALSPG, ZOSQP, Portfolio

SPACING = 3.3 / 4096.0
"""Of a converter, in volts: no short number."""


def bowl(x: Array) -> float:
    return float(1000.0 + np.square(x - [0.3, -0.7]) @ [1.0, 3.0])


@pytest.mark.parametrize("name", PROBLEMS)
def test_rounding_is_seen_and_costs_no_more_than_it_hides(name: str) -> None:
    """Of f, of rows or of both, to decimals, digits, single precision and other multiples."""
    box = PrintedBox(PROBLEMS[name])
    bounds = [(-5.0, 5.0)] * box.printed.n
    result = minimize(box, box.start(0), bounds=bounds, joint=True, method="ZOSQP", max_calls=320)
    assert "digit" in result.message and "so regression" in result.message
    assert box.loss(result.x) <= 3.0


@pytest.mark.parametrize(
    ("fun", "x0"),
    [
        (lambda x: (x @ x, [1.0 - x[0] - x[1]]), [1.0, 2.0, 0.0]),
        (lambda x: (x @ [3.0, 2.0, -1.0], [x @ [1.0, 1.0, 4.0] - 3.0]), [1.0, 0.0, 0.0]),
        (lambda x: (1e3 + x @ [0.5, 0.25, -0.125], [-0.05, x[0] - 2.0]), [0.5, 0.5, 0.5]),
        (lambda x: ((x**4).sum() + x[0] * x[1], [float(x[2] > 1.0), np.floor(x[0]) - 2.0]), [1.0, 1.0, 1.0]),
        (lambda x: (1e8 + (x**2).sum(), [-1.2345]), [1.0, 1.0, 1.0]),
        (lambda x: (x[0] + 0.0, [1.0 - x[0]]), [2.0, 0.0, 0.0]),
    ],
    ids=["polynomial", "linear", "binary slopes", "classes", "large constant", "one variable"],
)
def test_short_values_at_short_points_and_classes_are_no_rounding(fun: Callable[..., object], x0: list[float]) -> None:
    result = minimize(fun, x0, bounds=[(-4.0, 4.0)] * 3, joint=True, method="ZOSQP", max_calls=80)
    assert "values repeat exactly, so differences" in result.message


def test_a_lattice_of_any_spacing_is_seen_once_some_points_were_met() -> None:
    def converted(x: Array) -> float:
        return float(np.round(bowl(x) / SPACING) * SPACING)

    result = minimize(converted, [3.0, 2.0], bounds=[(-4.0, 4.0)] * 2, method="ZOSQP", max_calls=300)
    assert "about 7 digits" in result.message
    assert bowl(result.x) - 1000.0 <= 3.0 * SPACING


def test_a_start_without_values_is_left_behind() -> None:
    def printed(x: Array) -> float:
        return float("nan") if x[0] == 3.0 else round(bowl(x), 2)

    problem = BlackBox(printed, bounds=[(-4.0, 4.0)] * 2, x0=[3.0, 2.0], scaled=False)
    run = Run(problem, ZOSQP(), calls=120, iterations=10**6, replicas=1)
    run.run()
    assert "values have about" in run.result.message
    assert bowl(run.result.x[0]) - 1000.0 <= 0.03


def test_hardly_a_point_of_rounded_values_is_called_twice() -> None:
    """But for the start, and corners of the box within one design."""
    points: list[Array] = []

    def printed(x: Array) -> float:
        points.append(x.copy())
        return float(f"{bowl(x):.5e}")

    problem = BlackBox(printed, bounds=[(-4.0, 4.0)] * 2, x0=[3.0, 2.0])
    run = Run(problem, ZOSQP(), calls=150, iterations=10**6, replicas=1)
    run.run()
    assert run.result.calls[0] == 150 and "about 6 digits" in run.result.message
    assert len(np.unique(points[-140:], axis=0)) >= 126


def test_a_turn_of_differences_is_over_after_the_first_ones() -> None:
    problem = BlackBox(lambda x: round(bowl(x), 1), bounds=[(-4.0, 4.0)] * 2, x0=[3.0, 2.0])
    solver = Portfolio(members=2, share=0.5, first=ALSPG(), second=ZOSQP())
    run = Run(problem, solver, calls=60, iterations=10**6, replicas=1)
    run.run()
    message = run.result.message
    assert "AL-SPG (2 calls)" in message and "ZOSQP: values have about 5 digits" in message


@pytest.mark.parametrize("rounded", [np.float32, lambda value: round(value, 7)], ids=["single precision", "digits"])
def test_rounding_is_seen_where_parallel_calls_have_the_differences_already(rounded: Callable[..., object]) -> None:
    def coarse(x: Array) -> float:
        return float(rounded(bowl(x)))

    problem = BlackBox(coarse, bounds=[(-4.0, 4.0)] * 2, x0=[3.0, 2.0], noise="deterministic")
    result = Run(problem, ZOSQP(parallel_calls=8), replicas=1, calls=200, seed=3).run()
    assert result.calls[0] == 200 and "so regression" in result.message
    assert bowl(result.x[0]) - 1000.0 <= 1e-3
