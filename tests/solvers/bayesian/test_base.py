"""What all Bayesian methods keep once they model: replicas apart, resumed to the bit, failures left out of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.interruption import assert_same, resumed, watched
from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Gramacy
from zoviz.problems.base import Problem
from zoviz.solvers.bayesian.base import BayesianSolver

SOLVERS = discover("zoviz.solvers.bayesian", BayesianSolver)
EACH = pytest.mark.parametrize("name", SOLVERS)
QUICK: dict[str, Any] = {"initial_points": 3, "candidates": 24, "restarts": 1}
PLAIN = Gramacy()
NOISY = Gramacy(noise="independent", noise_scale=0.05)


def made(name: str, problem: Problem, replicas: int, iterations: int = 4, **settings: Any) -> Run:
    solver = SOLVERS[name](**QUICK | settings | ({"samples": 8} if "samples" in SOLVERS[name].param else {}))
    return Run(problem=problem, solver=solver, replicas=replicas, iterations=iterations, seed=3)


QUICKEST = {
    ("ConstrainedEI", "exact"),
    ("SlackAL", "exact"),
    ("SCBO", "noisy"),
    ("PESCLite", "exact"),
    ("ADMMBO", "exact"),
}
"""Each branch once, by the cheapest that has it; all others are slow."""
CASES = [
    pytest.param(name, problem, id=f"{name}-{kind}", marks=() if (name, kind) in QUICKEST else pytest.mark.slow)
    for name in SOLVERS
    for kind, problem in (("exact", PLAIN), ("noisy", NOISY))
]


@pytest.mark.parametrize("name, problem", CASES)
def test_a_replica_is_alone_what_it_is_among_others_and_a_run_goes_on_to_the_bit(name: str, problem: Problem) -> None:
    both = made(name, problem, 2)
    states = watched(both, lambda t: t == 3)
    assert both.result.calls.tolist() == [5, 5], "the start, and one call a step"
    assert (both.state.fitted > 0).all(), "the surrogates were fitted"
    alone = made(name, problem, 1)
    alone.run()
    for field in ("x", "y", "points", "values", "hyper", "memory"):
        np.testing.assert_array_equal(getattr(alone.state, field)[0], getattr(both.state, field)[0], err_msg=field)
    assert_same(resumed(lambda: made(name, problem, 2), states[3]), both)


def test_the_design_is_a_latin_hypercube_of_each_replicas_own() -> None:
    run = made("ConstrainedEI", PLAIN, 2, iterations=6, initial_points=7)
    run.run()
    points = run.state.points[:, 1:]
    assert points.shape == (2, 6, 2) and (points[0] != points[1]).all()
    np.testing.assert_array_equal(np.sort(np.floor(6 * points), axis=1), np.tile(np.arange(6.0)[:, None], (2, 1, 2)))
    np.testing.assert_array_equal(run.state.fitted, 0.0)


def test_the_recommendation_is_the_best_point_evaluated() -> None:
    run = made("ConstrainedEI", PLAIN, 1, iterations=5)
    run.run()
    f, h = run.state.values[0, :, 0], run.state.values[0, :, 1:]
    feasible = (h <= 1e-6).all(axis=1)
    assert run.result.x[0] == pytest.approx(run.state.points[0, np.argmin(np.where(feasible, f, np.inf))])
    assert run.result.fun[0] == run.result.best_fun[0] == f[feasible].min()


def test_an_evaluation_that_fails_leaves_the_data() -> None:
    seen = []

    def objective(x: Array) -> float:
        seen.append(x)
        return float("nan") if len(seen) in (3, 5) else float(((x - 0.3) ** 2).sum())

    options = {"on_error": "fail", "scaled": False, "noise": "deterministic"}
    box = BlackBox(objective, lambda x: 0.2 - x[0], bounds=[(-1.0, 2.0)] * 2, **options)
    run = made("ConstrainedEI", box, 1, iterations=5, initial_points=4)
    result = run.run()
    assert result.failures.tolist() == [2] and run.frozen == 0 and np.isfinite(result.x).all()
    assert np.isnan(run.state.values[0, [2, 4], 0]).all() and len(seen) == 6


def test_live_parameters_are_steered() -> None:
    run = made("ConstrainedEI", PLAIN, 1, iterations=5)
    run.run(lambda: run.set({"candidates": 40, "refit_every": 1}) if run.progress.iteration == 3 else None)
    assert [change.name for change in run.journal] == ["candidates", "refit_every"]
    assert run.state.fitted[0] == 5, "fitted to all but the last"


def test_domains_without_ends_are_refused() -> None:
    for bounds in (None, [(0.0, np.inf)] * 2):
        reason = SOLVERS["ConstrainedEI"]().accepts(
            BlackBox(lambda x: 0.0, lambda x: -1.0, x0=[1.0, 1.0], bounds=bounds)
        )
        assert "needs finite bounds of all variables" in reason


@pytest.mark.slow
@pytest.mark.timeout(3000)
@EACH
def test_the_toy_is_solved_in_40_evaluations(name: str) -> None:
    run = Run(problem=PLAIN, solver=SOLVERS[name](initial_points=5), replicas=10, iterations=39, seed=1)
    best = run.run().best_fun
    print(f"\n{name}: best feasible of 10 replicas, sorted: {np.sort(best).round(4)}")
    assert np.median(best) <= (0.605 if name == "ADMMBO" else 0.6005) and best.max() <= 0.87
