"""Steps by models of past points: they come before differences, and end where they do not keep what they promise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from zoviz import BlackBox, Run, minimize
from zoviz.core.types import Array

N = 4
X = np.random.default_rng(2).uniform(-1.0, 1.0, (60, N))


def bowl(x: Array) -> tuple[float, float]:
    return float(((x - 0.3) ** 2 * np.arange(1, N + 1)).sum()), float(1.0 - x.sum())


def run(past: object, calls: int, **settings: object) -> tuple[Run, list[Array]]:
    points: list[Array] = []

    def function(x: Array) -> tuple[float, float]:
        points.append(x.copy())
        return bowl(x)

    problem = BlackBox(function, bounds=[(-1, 1)] * N, x0=[-0.5] * N, joint=True, m=1, noise="deterministic")
    made = Run(problem, "ZOSQP", replicas=1, calls=calls, past=past, **settings)
    made.run()
    return made, points


def values(factor: float = 1.0) -> Array:
    return factor * np.array([bowl(x) for x in X])


def test_models_of_quadratic_functions_find_the_minimum_in_a_few_calls() -> None:
    warm, points = run((X, values()), 20)
    cold, _ = run(None, 20)
    lowest = run(None, 300)[0].result.best_fun[0]
    assert warm.result.best_fun[0] - lowest < 1e-3 < cold.result.best_fun[0] - lowest
    assert np.abs(points[3] - points[2]).max() > 1e-3, "a step by models, no difference"


def test_where_a_search_ended_values_that_are_all_too_large_still_tell_where_to_call() -> None:
    ended = np.concatenate([X, 0.35 + 0.01 * X[:20]])
    warm, points = run((ended, 1.2 * np.array([bowl(x) for x in ended])), 18)
    cold, _ = run(None, 18)
    lowest = run(None, 300)[0].result.best_fun[0]
    assert warm.result.best_fun[0] - lowest < 0.05 * (cold.result.best_fun[0] - lowest)
    assert np.abs(points[6] - points[0]).max() > 1e-3, "a step by models, no difference, after the probes"
    assert "none of them counts" in warm.message


@pytest.mark.parametrize("table", ["random values", "values of another version"])
def test_a_table_that_a_fresh_call_contradicts_costs_that_call_alone(table: str) -> None:
    """What follows is the course without a table, to the bit."""
    nonsense = np.random.default_rng(0).standard_normal((len(X), 2))
    warm, points = run((X, nonsense if table == "random values" else values(1.2)), 121)
    _, cold = run(None, 120)
    assert np.array_equal(points[1:], cold)
    assert "none of them counts" in warm.message


@pytest.mark.parametrize("failed", [0, 20])
def test_where_models_of_true_values_fail_the_run_is_that_without_a_table(failed: int) -> None:
    """Waves that are shorter than the distances of the table: models promise what is not there."""
    points: list[Array] = []

    def waves(x: Array) -> tuple[float, float]:
        points.append(x.copy())
        return float(np.sin(40.0 * x).sum() + 0.1 * (x**2).sum()), float(-1.0 - np.exp(9.0 * x[0]))

    def called(past: object, calls: int) -> list[Array]:
        points.clear()
        problem = BlackBox(waves, bounds=[(-1, 1)] * N, x0=[-0.5] * N, joint=True, m=1, noise="deterministic")
        Run(problem, "ZOSQP", replicas=1, calls=calls, past=past).run()
        return points.copy()

    known = X, np.array([waves(x) for x in X])
    known[1][:failed] = np.nan
    warm, cold = called(known, 60), called(None, 60)
    first = next(i for i, x in enumerate(cold) if 0.0 < np.abs(x - cold[0]).max() < 1e-3)  # of differences
    trials = next(i for i, x in enumerate(warm) if np.array_equal(x, cold[first])) - 1 - first
    assert 0 < trials <= N + 2, "the price of a step by differences"
    rest = warm[1 : 1 + first] + warm[1 + first + trials :]
    assert np.array_equal(rest[:40], cold[:40]), "until the first point that is drawn at random"


def test_failed_calls_are_avoided() -> None:
    known = values()
    known[X[:, 0] > 0.5] = np.nan
    warm, points = run((X, known), 60)
    assert np.array(points)[:, 0].max() < 0.9
    assert warm.result.success[0]


def test_fixed_variables_are_left_out() -> None:
    problem = BlackBox(bowl, bounds=[(-1, 1)] * 3 + [(0.25, 0.25)], x0=[-0.5] * 3 + [0.25], joint=True, m=1)
    fixed = X.copy()
    fixed[:, 3] = 0.25
    made = Run(problem, "ZOSQP", replicas=1, calls=40, past=(fixed, np.array([bowl(x) for x in fixed])))
    assert made.run().success[0]


def test_models_have_the_calls_of_a_step_by_differences() -> None:
    """A function whose minimum is far from all that is known: its models gain step after step."""
    points: list[Array] = []

    def far(x: Array) -> tuple[float, float]:
        points.append(x.copy())
        return float(((x - 5.0) ** 4).sum()), float(x[0] - 100.0)

    problem = BlackBox(far, bounds=[(-10, 10)] * N, x0=[-0.5] * N, joint=True, m=1, noise="deterministic")
    known = np.array([far(x) for x in X])
    points.clear()
    Run(problem, "ZOSQP", replicas=1, calls=30, past=(X, known)).run()
    moved = [int((new != old).sum()) for old, new in pairwise(points[1:])]
    assert moved[: N + 9] == [N] * (4 + N + 2 + 1) + [2, 2], "differences around a start are two variables apart"


def test_values_that_repeat_to_the_bit_need_no_further_call_at_the_start() -> None:
    for factor, expected in ((1.0, 1), (1.0 + 1e-9, 3)):
        points: list[Array] = []

        def function(x: Array, points: list[Array] = points) -> tuple[float, float]:
            points.append(x.copy())
            return bowl(x)

        known = X, values(factor)
        minimize(function, [-0.5] * N, bounds=[(-1, 1)] * N, joint=True, method="ZOSQP", max_calls=60, past=known)
        assert sum(np.allclose(x, points[0], rtol=0.0, atol=1e-12) for x in points[:8]) == expected


def test_where_the_best_past_point_led_to_another_minimum_the_next_run_begins_at_the_problems_own_start() -> None:
    """A narrow well around the own start is lower than the wide one that the table is of."""
    well, bowl_at = np.full(3, -1.5), np.full(3, 1.5)

    def wells(x: Array) -> tuple[float, float]:
        return float(min(50.0 * ((x - well) ** 2).sum() - 1.0, 0.1 * ((x - bowl_at) ** 2).sum())), float(-x[0] - 9.0)

    known = np.random.default_rng(0).uniform(0.0, 3.0, (40, 3))
    problem = BlackBox(wells, bounds=[(-3, 3)] * 3, x0=well + 0.1, joint=True, m=1, noise="deterministic")
    past = known, np.array([wells(x) for x in known])
    result = Run(problem, "ZOSQP", replicas=1, calls=120, past=past).run()
    assert result.best_fun[0] == pytest.approx(-1.0, abs=1e-6)


def test_a_table_of_rows_that_grow_by_orders_of_magnitude_costs_little() -> None:
    def chain(x: Array) -> tuple[float, list[float]]:
        return float(x[2] - 0.5 * x[0] - 0.1 * x[1]), [float(np.exp(0.5 * x[0]) - x[1]), float(np.exp(x[1] - 1) - x[2])]

    known = np.random.default_rng(0).uniform(0.0, [100.0, 100.0, 10.0], (50, 3))
    past = known, np.array([[f, *h] for f, h in map(chain, known)])
    bounds = [(0, 100), (0, 100), (0, 10)]
    problem = BlackBox(chain, bounds=bounds, x0=[0.0, 1.5, 3.0], joint=True, m=2, noise="deterministic")
    result = Run(problem, "ZOSQP", replicas=1, calls=60, past=past).run()
    assert result.success[0] and result.best_fun[0] == pytest.approx(0.8975, abs=1e-3)


def test_a_first_run_that_finds_no_end_gives_way_to_the_problems_own_start() -> None:
    """A valley that winds takes more than a thousand calls from the table's points; the own start is in a well."""
    middle = np.full(2, 0.5)

    def winding(x: Array) -> tuple[float, float]:
        valley = 1e4 * (x[1] - np.sin(9.0 * x[0])) ** 2 + 0.3 * (2.0 - x[0])
        return float(min(valley, 400.0 * ((x - middle) ** 2).sum() - 1.0)), -1.0

    first = np.random.default_rng(1).uniform(-2.0, -1.0, 30)
    known = np.column_stack([first, np.sin(9.0 * first)])
    problem = BlackBox(winding, bounds=[(-2, 2)] * 2, x0=middle - 0.08, joint=True, m=1, noise="deterministic")
    past = known, np.array([winding(x) for x in known])
    result = Run(problem, "ZOSQP", replicas=1, calls=260, past=past).run()
    assert result.best_fun[0] == pytest.approx(-1.0, abs=1e-6)
