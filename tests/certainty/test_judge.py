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


def test_without_noise_it_is_what_is_known_at_no_further_call() -> None:
    result = solved(300, noise=0.0)
    sure = result.certainty
    assert sure.f_x == Interval(result.fun, result.fun, result.fun) and sure.calls == 0 and not sure.noisy
    assert sure.activity == (Activity.ACTIVE, Activity.INACTIVE) and not sure.note
    assert inside(sure.f_star, 0.32) and sure.f_star.high - sure.f_star.low < 1e-6
    assert inside(sure.multipliers[0], 0.8) and sure.multipliers[0].high - sure.multipliers[0].low < 0.1


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
