"""The theorems of paper zoeg, small: the duality gap, costs without curvature, and what one step does to them."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.zoeg.convergence import (
    ALTERNATING,
    COORDINATES,
    ERROR,
    GAP,
    HALF,
    LINEAR,
    PROBLEMS,
    SINGLE,
    Averages,
    LinearCosts,
    answers_at,
    error,
    gap,
    longest_step,
)
from zoviz.problems import LoadTracking


@pytest.mark.parametrize("cls", PROBLEMS.values())
def test_the_gap_is_the_lagrangian_at_the_multiplier_less_that_at_the_solution(cls: type[LoadTracking]) -> None:
    problem = cls(n=12, seed=4)
    optimum, rng = problem.known_optimum, np.random.default_rng(0)
    x, y = problem.data.upper * rng.random((300, 12)), rng.uniform(0.0, 50.0, (300, 1))
    at_solution = problem.evaluate(optimum.point)
    above, below = problem.evaluate(x), at_solution.f + y @ at_solution.h
    whole = (above.f + above.h @ optimum.multipliers - below) / optimum.value
    np.testing.assert_allclose(gap(x, problem), whole, atol=1e-9)
    assert (gap(x, problem) >= -1e-12).all() and (gap(x, problem) <= error(x, problem) + 1e-12).all()
    assert abs(gap(optimum.point, problem)) < 1e-9 and abs(error(optimum.point, problem)) < 1e-9


def test_the_longest_step_is_half_of_one_over_the_norm_of_the_field() -> None:
    problem = LinearCosts(n=12, seed=4)
    assert np.isclose(longest_step(problem), 0.5 / np.linalg.norm(problem.data.weight))
    assert longest_step(LoadTracking(n=12, seed=4)) < longest_step(problem)


def test_with_linear_costs_one_step_of_both_leaves_a_floor_and_two_steps_do_not() -> None:
    problem, gaps = LinearCosts(n=20), {}
    for method in (COORDINATES, COORDINATES + SINGLE, COORDINATES + ALTERNATING):
        marks = [1000, 4000] if method == COORDINATES else [2000, 8000]
        gaps[method] = gap(answers_at(marks, method, longest_step(problem), problem), problem).mean(axis=1)
    early, late = np.array(list(gaps.values())).T
    assert late[0] < 0.3 * early[0] and late[2] < 0.3 * early[2]
    assert late[1] > 0.5 * early[1] and late[1] > 2.0 * late[0]


def test_one_step_is_measured_after_as_many_calls_and_after_half() -> None:
    class Small(Averages):
        __abstract = True
        sizes = {"quick": {"horizons": [5, 10], "instances": 1}}

    experiment = Small(size="quick")
    found = experiment.values(LINEAR, COORDINATES + SINGLE, 10)
    assert set(found) == {GAP, ERROR, GAP + HALF, ERROR + HALF}
    np.testing.assert_array_equal(found[GAP][0], found[GAP + HALF][1])
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    *_, table = experiment.tables(measured)
    assert len(table.rows) == 10 and all(len(row) == len(table.heads) for row in table.rows)
