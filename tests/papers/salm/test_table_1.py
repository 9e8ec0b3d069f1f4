"""Samples to a stationary and feasible point: how they are counted, and what the verdicts follow from."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.salm import table_1
from zoviz.papers.salm.table_1 import (
    KNOWN_ROWS,
    TRIAL_SEED,
    TRIALS,
    Method,
    Samples,
    cases,
    cells,
    medians,
    samples_to,
    solver_for,
    tuned,
)
from zoviz.problems import StochasticQP
from zoviz.runs.run import Run
from zoviz.solvers import SmoothedALM, StormALM
from zoviz.studies.experiment import plain
from zoviz.studies.verdict import Verdict


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


def test_a_search_ends_runs_that_cannot_win_and_chooses_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases()["qp"]
    grid = list(itertools.product((1.0, 3.0), (0.25, 1.0)))
    method = KNOWN_ROWS["linearised ALM"]
    limits: list[float] = []

    def counted(*args: Any, limit: float) -> Array:
        limits.append(limit)
        return samples_to(*args, limit=limit)

    monkeypatch.setattr(table_1, "samples_to", counted)
    best = tuned(method, case, 300, grid, TRIAL_SEED)
    assert len(limits) == 4
    in_full = {
        pair: medians(
            samples_to(
                solver_for(method, case.problem, 300, *pair), case.problem, case.tolerances, 300, TRIALS, TRIAL_SEED
            )
        )
        for pair in grid
    }
    assert in_full[best] == min(in_full.values())


def test_claims_are_judged_at_the_tightest_tolerance_that_is_reached() -> None:
    experiment = Samples(size="quick")
    spread = np.linspace(-1.0, 1.0, 10)

    def part(last: float) -> dict[str, Any]:
        return {"tuned": plain(np.array([np.ones(10), last + spread, np.full(10, np.inf)])), "factors": [1.0, 1.0]}

    measured = {f"qp / {name}": part(50.0) for name in KNOWN_ROWS} | {"qp / salm, Algorithm 3": part(30.0)}
    verdicts = [claim.evidence(measured, claim.method).verdict for claim in experiment.claims()]
    assert verdicts == [Verdict.YES] * 3
    measured["qp / Lu et al., penalty"] = part(20.0)
    verdicts = [claim.evidence(measured, claim.method).verdict for claim in experiment.claims()]
    assert verdicts == [Verdict.YES, Verdict.NO, Verdict.NO]
    assert cells(np.array([[3.0, 5.0], [7.0, np.inf]])) == "4 (2), never (1)"
