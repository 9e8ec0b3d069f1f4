"""The judge of an answer: fresh calls out of the reserve, and what a result says of its own certainty."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import BlackBox, minimize
from zoviz.certainty.judge import KEPT, Judge
from zoviz.certainty.stationarity import Activity, Interval
from zoviz.core.types import Array, Evaluation
from zoviz.runs.engine.result import OptimizeResult

BOUNDS, SD = [(-2.0, 2.0)] * 2, 0.01


def solved(budget: int, noise: float = SD, **options: object) -> OptimizeResult:
    """Minimise (x1 - 1)^2 + (x2 - 0.8)^2 with x1 + x2 <= 1 beside a slack row: f* = 0.32, y1 = 0.8."""
    random = np.random.default_rng(0)

    def function(x: Array) -> tuple[float, Array]:
        values = np.array([(x[0] - 1.0) ** 2 + (x[1] - 0.8) ** 2, x[0] + x[1] - 1.0, x[0] - 0.9])
        values = values + noise * random.standard_normal(3)
        return float(values[0]), values[1:]

    return minimize(function, [0.0, 0.0], bounds=BOUNDS, joint=True, max_calls=budget, **options)


def inside(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def test_a_noisy_answer_says_how_sure_it_is_within_the_budget() -> None:
    result = solved(1500)
    sure = result.certainty
    assert result.calls <= 1500 and sure.calls == 16 + 48 and sure.x is result.x
    assert inside(sure.f_star, 0.32) and inside(sure.multipliers[0], 0.8) and sure.f_star.high - sure.f_star.low < 0.02
    assert sure.activity == (Activity.ACTIVE, Activity.INACTIVE) and sure.next_digit == 99 * sure.calls
    assert "certainty: f(x) 0.3" in repr(result)


def test_a_small_budget_leaves_calls_at_the_point_alone() -> None:
    result = solved(60)
    assert result.calls <= 60 and np.isnan(result.certainty.f_star.value) and result.certainty.f_x.low < result.fun
    assert "too few calls" in result.certainty.sentence


def test_without_noise_some_calls_around_an_answer_that_stands_tell_it() -> None:
    result = solved(300, noise=0.0)
    sure = result.certainty
    assert sure.f_x == Interval(result.fun, result.fun, result.fun) and sure.calls == 11 and not sure.noisy
    assert sure.activity == (Activity.ACTIVE, Activity.INACTIVE) and not sure.note
    assert inside(sure.f_star, 0.32) and sure.f_star.high - sure.f_star.low < 1e-7
    assert inside(sure.multipliers[0], 0.8) and sure.multipliers[0].high - sure.multipliers[0].low < 1e-5
    assert inside(sure.x_star[0], 0.6) and sure.x_star[0].high - sure.x_star[0].low < 1e-5


def bowl(x: Array) -> float:
    return float(((x - 1.0) ** 2).sum())


def test_the_first_problem_of_a_person_gets_a_definite_answer_that_it_has_not_without_the_calls_around_it() -> None:
    points: list[Array] = []

    def counted(x: Array) -> float:
        points.append(x.copy())
        return bowl(x)

    result = minimize(counted, [0.0, 0.0])
    sure, steps = result.certainty, np.array(points[-11:]) - result.x
    assert result.nfev == len(points) and sure.calls == 11
    assert inside(sure.f_star, 0.0) and sure.f_star.high - sure.f_star.low < 1e-8
    assert all(inside(one, 1.0) and one.high - one.low < 1e-6 for one in sure.x_star) and not sure.note
    assert 1e-3 < np.abs(steps).max(axis=1).min() and np.abs(steps).max() < 1e-2
    without = minimize(bowl, [0.0, 0.0], max_calls=219)  # of which a twentieth is less than eleven
    assert without.nfev == result.nfev - 11 and np.array_equal(without.x, result.x)
    assert not without.certainty.tells_minimum and without.certainty.calls == 0
    assert "a budget of 220 calls has room for 11 around x" in without.certainty.note
    assert minimize(bowl, [0.0, 0.0], max_calls=220).certainty.tells_minimum


@pytest.mark.parametrize("options", [{"iterations": 3}, {"max_calls": 12}, {"keep": "while searching"}])
def test_none_are_made_where_the_search_had_not_ended_or_constraints_are_kept(options: dict[str, object]) -> None:
    result = minimize(bowl, [0.0, 0.0], constraints=lambda x: x[0] + x[1] - 1.0, **options)
    assert result.certainty.calls == 0 and result.nfev <= options.get("max_calls", 3000)
    assert "iterations" not in options or "the search had not ended: raise its budget" in result.certainty.note


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_the_best_of_all_calls_those_around_it_too(seed: int) -> None:
    values: list[float] = []

    def rough(x: Array) -> float:
        values.append(float(np.abs(x - 0.3).sum() + 0.01 * np.floor(40.0 * x[0]) % 1.0))
        return values[-1]

    result = minimize(rough, np.random.default_rng(seed).uniform(-1.0, 1.0, 2), bounds=BOUNDS)
    assert result.fun == min(values) and len(values) == result.nfev


def test_at_a_kink_it_says_that_it_cannot_tell_and_why() -> None:
    sure = minimize(lambda x: abs(x[0] - 0.3) + 2.0 * abs(x[1] + 0.2), [1.0, 1.0], bounds=BOUNDS).certainty
    assert sure.calls == 11 and not sure.tells_minimum and "as near a kink" in sure.note


def test_directions_along_which_f_is_flat_are_named() -> None:
    sure = minimize(lambda x: (x[0] + x[1] - 1.0) ** 2, [0.0, 0.0], bounds=BOUNDS).certainty
    assert inside(sure.f_star, 0.0) and sure.f_star.high - sure.f_star.low < 1e-8 and set(sure.flat[0]) == {0, 1}


def test_beyond_thirty_variables_it_says_so() -> None:
    sure = minimize(bowl, np.zeros(31)).certainty
    assert sure.calls == 0 and "not estimated with more than 30 variables" in sure.note


def test_where_no_call_is_left_there_is_none() -> None:
    assert solved(4, noise=SD).certainty is None or solved(4, noise=SD).certainty.calls == 0


def test_failures_among_the_fresh_calls_are_counted_and_left_out() -> None:
    random, count = np.random.default_rng(1), 0

    def function(x: Array) -> float:
        nonlocal count
        count += 1
        return float("nan") if count > 700 and count % 7 == 0 else float(x @ x + SD * random.standard_normal())

    result = minimize(function, [0.5, 0.5], bounds=BOUNDS, max_calls=800, noise="independent", stop="budget")
    assert result.failures > 0 and inside(result.certainty.f_star, 0.0)


def test_time_that_is_spent_leaves_no_certainty_and_loses_no_answer() -> None:
    result = solved(100_000, seconds=0.05)
    assert np.isfinite(result.fun) and "certainty" in result


def test_the_newest_calls_are_kept() -> None:
    judge = Judge(BlackBox(lambda x: float(x @ x), bounds=BOUNDS, m=0))
    asked: list[Array] = []

    def evaluate(points: Array) -> tuple[Evaluation, np.ndarray]:
        asked.append(points)
        return Evaluation(np.square(points).sum(axis=1), np.zeros((len(points), 0))), np.ones(len(points), dtype=bool)

    for _ in range(3):
        judge.enter(np.full((KEPT // 2, 2), 1.9), Evaluation(np.full(KEPT // 2, 7.22), np.zeros((KEPT // 2, 0))))
    judged = judge.judge(np.zeros(2), 24, evaluate, np.random.default_rng(0))
    assert judged.calls == 24 == len(asked[0]) and judged.failures == 0
    assert judged.certainty.f_x.value == pytest.approx(0.0, abs=1e-6) and judge.wants(100) == 5 == 100 // 20
