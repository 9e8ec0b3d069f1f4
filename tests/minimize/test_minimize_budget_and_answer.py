"""The front door: one budget, and one honest answer."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.black_box import f_at
from helpers.minimizing import BOUNDS, LINE, Diary
from zoviz import minimize
from zoviz.core.types import Array
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import ZOCEG


@pytest.mark.parametrize("max_calls", [41, 200, 1001])
@pytest.mark.parametrize("replicas", [1, 3])
def test_the_budget_is_what_is_called_and_counted(max_calls: int, replicas: int) -> None:
    diary = Diary(f_at)
    result = minimize(
        diary, [0, 0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", max_calls=max_calls, replicas=replicas
    )
    assert result.calls == len(diary.points) <= max_calls
    assert result.calls > max_calls - 20 * replicas - 20, "and most of it is used"


def test_the_default_budget_is_a_thousand_calls_per_variable_and_one() -> None:
    diary = Diary(f_at)
    result = minimize(diary, [0.0, 0.0], bounds=BOUNDS, method="ZOEG")
    assert 2900 < result.calls == len(diary.points) <= 3000


def test_the_answer_is_the_best_feasible_point_that_was_queried_in_the_bounds() -> None:
    diary = Diary(f_at)
    result = minimize(
        diary,
        [0.0, 0.0],
        bounds=[(-1, 1.2)] * 2,
        constraints=lambda x: x[0] + x[1] - 2.0,
        method="ZOSPLM",
        max_calls=600,
    )
    points = np.array(diary.points)
    good = (points.sum(axis=1) - 2.0 <= result.tolerance) & (np.abs(points - 0.1) <= 1.1).all(axis=1)
    values = np.array([f_at(point) for point in points[good]])
    assert result.fun == values.min() == f_at(result.x)
    np.testing.assert_array_equal(result.x, points[good][values.argmin()])
    np.testing.assert_array_equal(result.best_x, result.x)
    assert result.feasible and result.maxcv == max(0.0, result.x.sum() - 2.0)


def test_where_nothing_is_feasible_the_least_violating_point_is_returned_and_it_is_said() -> None:
    diary = Diary(lambda x: float(x @ x))
    result = minimize(
        diary,
        [1.0, 1.0],
        bounds=BOUNDS,
        constraints=[lambda x: x[0] + 1.0, lambda x: 2.0 - x[0]],
        method="ZOCEG",
        max_calls=500,
    )
    points = np.array(diary.points)
    points = points[(np.abs(points) <= 4.0).all(axis=1)]
    violations = np.maximum(points[:, 0] + 1.0, 2.0 - points[:, 0])
    assert not result.feasible and result.maxcv == violations.min() >= 1.5
    assert result.maxcv == max(result.h) and np.isnan(result.best_x).all()
    assert f"No feasible point was found among {len(points)} queried: x is the least violating, by 1.5" in (
        result.message
    )


def test_the_answer_is_sought_between_the_best_point_and_the_last_iterate_too() -> None:
    diary = Diary(lambda x: -float(x[0]))
    # A small dual step: the iterates swing about the boundary, and the last of them lies outside.
    solver = ZOCEG(primal_step=0.1, dual_step=0.1, dual_cap=10.0)
    result = minimize(
        diary,
        [0.0],
        bounds=[(-5, 5)],
        constraints=lambda x: x[0] ** 3 - 1.0,
        method=solver,
        max_calls=1000,
        iterations=15,
        scaled=False,
    )
    points = np.array(diary.points)[:, 0]
    before, after = points[:-20], points[-20:]
    last = result.trace["objective"][-1, 0]
    assert result.calls == len(points) and last < -1.1 < result.fun, "the last iterate violates"
    assert before[before <= 1.0].max() < after.min() and after.max() < -last, "twenty calls in between"
    assert result.x[0] == pytest.approx(1.0, abs=1e-5) and result.feasible


def test_a_start_that_is_best_is_kept() -> None:
    result = minimize(lambda x: float(x @ x), [0.0, 0.0], method="ZOSPLM", max_calls=300)
    assert result.fun == 0.0 and (result.x == 0.0).all()


@pytest.mark.parametrize("method", ["auto", "ZOSPLM", "COBYQA", "NOMAD"])
@pytest.mark.parametrize("max_calls", [1, 400])
def test_where_the_bounds_leave_nothing_free_one_call_tells_everything(method: str, max_calls: int) -> None:
    points: list[Array] = []

    def bowl(x: Array) -> tuple[float, Array]:
        points.append(x)
        return float(x @ x), x[:1] - 1.5

    result = minimize(bowl, None, bounds=[(1.0, 1.0), (-2.0, -2.0)], joint=True, method=method, max_calls=max_calls)
    assert "no variable free" in result.message and result.feasible and result.status is Ending.NOTHING_TO_DO
    assert (result.calls, result.nit, result.fun) == (1, 0, 5.0) == (len(points), 0, 5.0)
    np.testing.assert_array_equal(result.x, [1.0, -2.0])


def test_the_course_of_a_run_that_leaves_the_floating_point_range_is_told_without_warnings() -> None:
    result = minimize(lambda x: 1e200 * (x @ x), [0.5, 0.5], constraints=lambda x: 1e200, method="ZOSPLM", max_calls=40)
    assert not result.feasible and result.maxcv == 1e200
