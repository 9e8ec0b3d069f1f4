"""Budgets of a few calls: the best of the calls that were made, or a refusal before the first one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.every_solver import EVERY
from helpers.minimizing import Diary
from helpers.odd_black_boxes import is_bayesian
from zoviz import AskTell, Run, minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOCEG

METHODS = ["auto", *(name for name, cls in EVERY.items() if "constrained" in cls.forms)]
BUDGETS = [1, 2, 3, 5, 7, 13, 29, 31, 60]


def bowl(x: Array) -> float:
    return float(((x - 0.3) ** 2).sum())


def bowl_of_numbers(x: Array) -> float:
    return float(np.square(x - np.arange(len(x))).sum())


def half(x: Array) -> Array:
    return np.array([0.5 - x[0]])


def assert_best_of(result: Any, diary: Diary, budget: int) -> None:
    """Assert that the result is the best of the points that the diary has, which are as many as it says."""
    points = np.array(diary.points)
    assert result.calls == len(points) <= budget
    violation = np.maximum(0.5 - points[:, 0], 0.0)
    feasible = violation <= result.tolerance[0]
    if feasible.any():
        assert result.feasible and result.fun == min(bowl(point) for point in points[feasible])
    else:
        assert not result.feasible and result.maxcv == violation.min()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_with_the_best_of_a_few_calls(method: str) -> None:
    reason = EVERY[method]().accepts(BlackBox(bowl, half, bounds=[(0, 2)] * 2)) if method in EVERY else None
    if reason is not None and "not installed" in reason:
        pytest.skip(reason)
    for budget in (2, 13, 6 if is_bayesian(method) else 30):  # a design alone, whose models are there with 13 calls
        diary = Diary(bowl)
        result = minimize(diary, [1.0, 1.0], bounds=[(0, 2)] * 2, constraints=half, method=method, max_calls=budget)
        assert_best_of(result, diary, budget)


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("x0", ["given", "drawn"])
def test_any_small_budget_ends_with_the_best_of_its_calls(n: int, x0: str) -> None:
    for budget in BUDGETS:
        diary = Diary(bowl)
        start = [1.0] * n if x0 == "given" else None
        assert_best_of(minimize(diary, start, bounds=[(0, 2)] * n, constraints=half, max_calls=budget), diary, budget)


@pytest.mark.parametrize("n", [2, 5, 10, 20])
def test_a_few_calls_are_all_made_and_lead_somewhere(n: int) -> None:
    """Where they are fewer than two gradients by differences take."""
    for budget in (n + 2, 2 * n):
        diary = Diary(bowl_of_numbers)
        result = minimize(diary, [0.0] * n, max_calls=budget)
        assert result.calls == len(diary.points) == budget and "COBYLA" in result.message
        first = bowl_of_numbers(np.zeros(n))
        assert result.fun < first - 0.3


@pytest.mark.parametrize("replicas", [3, 28])
def test_replicas_share_what_there_is_or_are_refused_before_the_first_call(replicas: int) -> None:
    for budget in BUDGETS:
        diary = Diary(bowl)
        arguments: dict[str, Any] = {"bounds": [(0, 2)] * 2, "constraints": half, "max_calls": budget}
        if budget < replicas:
            with pytest.raises(ValueError, match=f"a call for each of {replicas} replicas, got {budget}: raise it"):
                minimize(diary, None, **arguments, replicas=replicas)
            assert not diary.points
        else:
            assert_best_of(minimize(diary, None, **arguments, replicas=replicas), diary, budget)


def test_noise_leaves_every_replica_a_call() -> None:
    rng = np.random.default_rng(0)
    diary = Diary(lambda x: bowl(x) + 1e-3 * rng.standard_normal())
    result = minimize(diary, None, bounds=[(0, 2)] * 2, constraints=half, max_calls=31, replicas=28)
    assert result.calls == len(diary.points) <= 31 and np.isfinite(result.fun)


def test_a_run_whose_budget_ends_before_its_method_begins_has_the_best_point() -> None:
    for calls in (1, 2, 5, 6, 7, 13, 19):
        diary = Diary(bowl)
        run = Run(BlackBox(diary, half, bounds=[(0, 2)] * 3), ZOCEG(), calls=calls, replicas=2)
        result = run.run()
        assert result.status == "finished" and result.calls.sum() == len(diary.points)
        assert (result.calls <= calls).all() and np.isfinite(result.fun).all()
        if run.state is None:
            left = calls - result.calls.max()
            rest = f" but for {left}, too few for what comes next" if left else ""
            assert f"The budget of {calls} oracle calls is spent{rest}. It does not cover the choice" in result.message
            assert run.trace["objective"][-1].tolist() == result.fun.tolist() and np.isnan(result.multipliers).all()
        again = run.replay().run()
        np.testing.assert_array_equal(again.x, result.x)


def test_a_budget_that_a_batch_exceeds_at_once_is_told_by_a_session_too() -> None:
    for calls in (1, 2, 5, 6, 7, 13, 19):
        session, told = AskTell(bounds=[(0, 2)] * 3, x0=[1, 1, 1], m=1, calls=calls), list[Array]()
        while not session.done:
            batch = session.ask()
            told.extend(batch.x)
            session.tell(batch, ((batch.x - 0.3) ** 2).sum(axis=1), 0.5 - batch.x[:, :1])
        result = session.result
        assert result.calls.tolist() == [len(told)] and 0 < len(told) <= calls
        feasible = [bowl(point) for point in told if point[0] >= 0.5 - 1e-6]
        assert result.best_fun.item() == pytest.approx(min(feasible), rel=1e-12)
