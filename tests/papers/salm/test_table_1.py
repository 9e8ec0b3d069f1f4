"""Samples to a stationary and feasible point: how they are counted, and what the verdicts follow from."""

from __future__ import annotations

import numpy as np

from zoviz.papers.salm.table_1 import KNOWN_ROWS, Method, Row, cells, samples_to, solver_for, verdicts
from zoviz.problems import StochasticQP
from zoviz.runs.run import Run
from zoviz.solvers import SmoothedALM, StormALM


def test_counts_are_those_of_a_run_with_targets_of_its_own() -> None:
    """Each look is an iteration here, so that the first hits are those that a run finds by itself."""
    problem, method = StochasticQP(n=9), Method(StormALM, {}, "", False)
    solver = solver_for(method, problem, 50, 1.0, 1.0)
    counts = samples_to(solver, problem, (4.0, 3.0, 1e-9), 50, 3, 0)
    run = Run(problem=problem, solver=solver.clone(), replicas=3, seed=0, iterations=45)
    run.run()
    worst = np.maximum(run.trace["normal_residual"], run.trace["violation"])[1:]  # not at the start
    for level, row in zip((4.0, 3.0), counts[:2], strict=True):
        first = (worst <= level).argmax(axis=0)
        assert (worst <= level).any(axis=0).all() and row.max() <= 48  # up to there each is looked at
        np.testing.assert_array_equal(row, run.trace["samples"][first + 1, range(3)])
    assert np.isinf(counts[2]).all()


def test_other_steps_follow_the_step_and_the_penalty_that_are_tried() -> None:
    problem = StochasticQP(n=9)
    rule, other = (solver_for(Method(SmoothedALM, {}, "", False), problem, 100, *pair) for pair in ((1, 1), (3, 4)))
    assert other.get("penalty") == 4.0 * rule.get("penalty")
    curvature, square, weight = problem.constants.curvature, problem.operator_norm**2, rule.get("proximal_weight")
    long = 1.5 / (curvature + other.get("penalty") * square + weight)  # three times the rule's under that penalty
    np.testing.assert_allclose(other.get("primal_step"), long)
    np.testing.assert_allclose(other.get("proximal_step"), min(1.0, 2.0 * weight * long))


def test_verdicts_compare_medians_at_the_tightest_tolerance_that_is_reached() -> None:
    def row(last: float) -> Row:
        return Row(np.zeros((3, 2)), np.array([[1.0, 1.0], [last, last], [np.inf, np.inf]]), (1.0, 1.0))

    figures = dict.fromkeys(KNOWN_ROWS, 50.0) | {"salm, Algorithm 1": 40.0, "salm, Algorithm 3": 30.0}
    rows = {name: row(value) for name, value in figures.items()}
    assert list(verdicts(rows, KNOWN_ROWS).values()) == [True, True, True]
    rows["Lu et al., penalty"] = row(20.0)
    assert list(verdicts(rows, KNOWN_ROWS).values()) == [True, False, False]
    assert cells(np.array([[3.0, 5.0], [7.0, np.inf]])) == "4 (2) | never (1)"
