"""What counts as feasible goes by each row's own size, in whatever units that is, and is said in the result."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run, Store, minimize
from zoviz.core import defaults
from zoviz.core.sets import Box
from zoviz.core.types import Array, Evaluation
from zoviz.problems import BlackBox, WeldedBeam
from zoviz.runs.engine.best_point import BestPoint
from zoviz.solvers import ZOSQP

BOUNDS = [(-4.0, 4.0)] * 2
START = [-2.0, -1.0]


def bowl(x: Array) -> float:
    return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def rows(x: Array) -> Array:
    """Problem 22 of Hock and Schittkowski: f* = 1 at (1, 1)."""
    return np.array([x[0] + x[1] - 2.0, x[0] ** 2 - x[1]])


def small_rows(x: Array) -> Array:
    return 1e-9 * rows(x)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e10, "mixed"])
@pytest.mark.parametrize("method", ["auto", "COBYLA", "SLSQP", "ALSPG"])
def test_the_unit_of_a_row_does_not_matter(method: str, unit: float | str) -> None:
    size = np.array([1e-9, 1e9]) if unit == "mixed" else np.full(2, unit)

    def solved(unit: Array) -> Array:
        result = minimize(
            bowl, START, bounds=BOUNDS, constraints=lambda x: unit * rows(x), method=method, max_calls=200
        )
        assert result.feasible and (result.h <= result.tolerance).all()
        np.testing.assert_allclose(result.tolerance / unit, [1.8e-6, 4.0e-6], rtol=0.03)
        return np.asarray(result.x)

    np.testing.assert_allclose(solved(size), solved(np.ones(2)), atol=1e-5)


def test_a_row_in_small_units_is_not_ignored_where_it_cannot_be_satisfied() -> None:
    result = minimize(bowl, START, bounds=BOUNDS, constraints=lambda x: 1e-9 * (x[0] ** 2 + 0.01), max_calls=100)
    assert not result.feasible and "No feasible point was found" in result.message
    assert "(row 1, where " in result.message and result.tolerance[0] < 1e-14


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    "row",
    [
        lambda x: max(0.0, x[0] - 1.0),
        lambda x: float(x[0] > 1.0),
        lambda x: x[0] - 1.0 if x[0] > -2.0 else 1e8,
    ],
    ids=["clipped", "0 or 1", "a plateau at the start"],
)
def test_a_row_that_is_flat_around_the_start_has_no_size_and_no_tolerance(row: object, unit: float) -> None:
    start = [-3.9, 0.0]
    result = minimize(bowl, start, bounds=BOUNDS, constraints=lambda x: unit * row(x), max_calls=150)  # type: ignore[operator]
    assert result.feasible and result.maxcv == 0.0 == result.tolerance[0]


@pytest.mark.parametrize("total", [1.0, 12345.678])
def test_an_identity_up_to_round_off_is_met(total: float) -> None:
    def balance(x: Array) -> float:
        parts = total * np.array([0.1 + x[0] ** 2, 0.3, 0.2 + abs(x[1])]) / (0.6 + x[0] ** 2 + abs(x[1]))
        return float(parts[0] + parts[1] + parts[2] - total)

    equality = {"type": "eq", "fun": balance}
    result = minimize(bowl, START, bounds=BOUNDS, constraints=[equality], max_calls=60)
    assert result.feasible and result.fun < 1e-3 and result.tolerance.tolist() == [1e-6, 1e-6]


def test_a_row_that_is_huge_far_away_has_the_size_that_it_has_at_the_start() -> None:
    result = minimize(bowl, START, bounds=[(-1e8, 1e8)] * 2, constraints=rows, max_calls=100)
    assert (result.tolerance <= 5e-6).all()


def test_a_tolerance_that_is_given_is_in_the_functions_units() -> None:
    for constraints in (rows, small_rows):
        result = minimize(bowl, START, bounds=BOUNDS, constraints=constraints, tolerance=1e-4, max_calls=200)
        assert result.feasible and result.tolerance.tolist() == [1e-4, 1e-4]
    unscaled = minimize(bowl, START, bounds=BOUNDS, constraints=rows, scaled=False, max_calls=200)
    assert unscaled.tolerance.tolist() == [defaults.FEASIBILITY_TOLERANCE] * 2
    beam = Run(WeldedBeam(), ZOSQP(), replicas=1, calls=30).run()
    assert set(beam.tolerance.tolist()) == {defaults.FEASIBILITY_TOLERANCE}, "its units are known"


def test_a_run_is_stored_with_its_tolerances_and_judges_by_them(tmp_path: object) -> None:
    problem = BlackBox(bowl, small_rows, bounds=BOUNDS, x0=START)
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        run = Run(problem, ZOSQP(), replicas=2, calls=120, store=store)
        result, stored = run.run(), store.load(run.id)
        np.testing.assert_array_equal(stored.result.tolerance, result.tolerance)
        np.testing.assert_array_equal(run.tolerances, stored.tolerances)
        again = store.load(run.id).resume(calls=160).run()
    assert (result.tolerance < 1e-14).all() and np.isfinite(result.best_fun).all()
    assert (small_rows(result.best_x.T).T <= result.tolerance).all()
    np.testing.assert_array_equal(again.tolerance, result.tolerance)


def test_what_was_met_before_sizes_are_known_is_ranked_again() -> None:
    best = BestPoint(None, Box([0.0], [1.0]))
    best.enter(np.array([[0.2], [0.4]]), Evaluation(np.array([1.0, 2.0]), np.array([[5e-7], [-1.0]])))
    assert best.feasible and best.f == 1.0
    best.size(np.array([1e-9]))
    assert best.feasible and best.f == 2.0 and best.points == 2
    best.enter(np.array([[0.6]]), Evaluation(np.array([0.0]), np.array([[5e-10]])))
    assert best.f == 0.0 and best.violation == 5e-10
