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


def test_values_that_are_all_too_large_still_tell_where_to_call() -> None:
    warm, _ = run((X, values(1.2)), 14)
    cold, _ = run(None, 14)
    assert warm.result.best_fun[0] < cold.result.best_fun[0]
    assert "none of them counts" in warm.message


@pytest.mark.parametrize("seed", range(2))
def test_values_without_sense_cost_a_few_calls(seed: int) -> None:
    nonsense = np.random.default_rng(seed).standard_normal((len(X), 2))
    warm, _ = run((X, nonsense), 200)
    cold, _ = run(None, 200)
    assert warm.result.best_fun[0] == pytest.approx(cold.result.best_fun[0], abs=1e-6)


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
    Run(problem, "ZOSQP", replicas=1, calls=20, past=(X, known)).run()
    moved = [int((new != old).sum()) for old, new in pairwise(points[1:])]
    assert moved[: N + 3] == [N] * (N + 2) + [1], "differences move one variable"


def test_values_that_repeat_to_the_bit_need_no_further_call_at_the_start() -> None:
    for factor, expected in ((1.0, 1), (1.0 + 1e-9, 4)):
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


def test_where_a_fresh_call_gave_other_values_the_first_miss_ends_the_steps_by_models() -> None:
    """Differences around a point are two variables apart."""
    nonsense = np.random.default_rng(0).standard_normal((len(X), 2))
    _, points = run((X, nonsense), 20)
    moved = [int((new != old).sum()) for old, new in pairwise(points)]
    assert moved[:6] == [N, N, N, 2, 2, 2], "to the own start, to one minimiser of models, and to the differences"


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
