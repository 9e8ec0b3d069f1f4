"""Runs side by side: what is compared, and whose replicas are pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import Run
from zoviz.benchmark.paired_comparison import Decision
from zoviz.benchmark.run_comparison import BEST_GAP, FINAL_GAP, Quartiles, compared, measures_of, paired
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, SpeedReducer
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSPLM


def ended(solver: ZOCEG | ZOSPLM, iterations: int = 300, **settings: object) -> Run:
    run = Run(LoadTracking(n=5), solver, iterations=iterations, **{"replicas": 10, **settings})
    run.run()
    return run


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {
        "long": ended(ZOCEG()),
        "short": ended(ZOCEG(primal_step=1e-3), 20),
        "other seed": ended(ZOCEG(), 20, seed=1),
        "other": ended(ZOSPLM(), 20, replicas=4, targets={"gap": 1e9}),
    }


def test_measures_are_the_last_row_and_the_calls_to_targets(runs: dict[str, Run]) -> None:
    run = runs["other"]
    measures = measures_of(run)
    rows = run.trace.snapshot().columns
    np.testing.assert_array_equal(measures[FINAL_GAP], np.abs(rows["gap"][-1]))
    best = rows["best_gap"][-1]
    np.testing.assert_array_equal(measures[BEST_GAP], np.where(np.isnan(best), np.inf, np.maximum(best, 0.0)))
    np.testing.assert_array_equal(measures["calls to gap 1e+09"], run.hits[0].calls)


def test_no_feasible_point_is_an_outcome_and_what_is_not_measured_is_none() -> None:
    run = Run(NonconvexQCQP(), ZOSPLM(), iterations=3, replicas=2)
    run.run()
    measures = measures_of(run)
    assert np.isinf(measures[BEST_GAP]).all() and "mean regret at the end" not in measures


def test_only_parameters_that_differ_are_named(runs: dict[str, Run]) -> None:
    one, other, seed, fourth = compared(runs)
    assert one.parameters == {
        "primal_step": "auto",
        "solver": "ZOCEG",
        "replicas": "10",
        "seed": "0",
        "iterations": "300",
    }
    assert other.parameters["primal_step"] == "0.001" and seed.parameters["seed"] == "1"
    assert fourth.parameters == {"solver": "ZO-SPLM", "replicas": "4", "seed": "0", "iterations": "20"}


def test_noise_that_is_not_there_is_no_difference_and_steering_is_one(runs: dict[str, Run]) -> None:
    noisy = Run(LoadTracking(n=5, noise="independent", noise_scale=0.1), ZOCEG(), iterations=20, replicas=2)
    other = Run(LoadTracking(n=5, noise_scale=0.2, noise_degrees=4.0), ZOCEG(), iterations=20, replicas=2)
    other.run()
    noisy.start(5)
    noisy.set({"primal_step": 1e-3})
    noisy.unpause()
    noisy.wait()
    one, two = compared({"noisy": noisy, "exact": other})
    assert one.parameters == {"changed": "primal_step"} and two.parameters == {}
    assert one.problem.endswith("(noise = independent, noise_scale = 0.1)")
    assert two.problem.endswith("(noise = deterministic)")


def test_problems_of_the_same_words_are_told_by_a_number() -> None:
    problems = [BlackBox(lambda x: float(x @ x), bounds=[(0.0, 1.0)] * 8 + [(0.0, at)]) for at in (2.0, 3.0)]
    done = {str(at): Run(problem, ZOCEG(), iterations=2, replicas=1) for at, problem in enumerate(problems)}
    for run in done.values():
        run.run()
    first, second = compared(done)
    assert first.problem != second.problem and second.problem == f"{first.problem} #2"


def test_quartiles_are_values_of_replicas(runs: dict[str, Run]) -> None:
    one = compared(runs)[0]
    values = one.measures[FINAL_GAP] = np.array([4.0, np.inf, 1.0, 2.0, 3.0])
    assert one.quartiles(FINAL_GAP) == Quartiles(*np.sort(values)[[1, 2, 3]])


def test_replicas_are_pairs_of_one_problem_seed_and_number_alone(runs: dict[str, Run]) -> None:
    (one,) = paired(compared(runs), FINAL_GAP, np.random.default_rng(0))
    assert (one.first, one.second, one.pairs, one.decision) == ("long", "short", 10, Decision.BETTER)


def test_equal_runs_cannot_be_told_apart(runs: dict[str, Run]) -> None:
    again = ended(ZOCEG())
    (one,) = paired(compared({"one": runs["long"], "again": again}), FINAL_GAP, np.random.default_rng(0))
    assert one.decision is Decision.CANNOT_TELL and one.difference == 0.0


def test_a_stored_run_is_compared_as_the_live_one_is(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    run = ended(ZOCEG(), store=store)
    live, stored = compared({"live": run, "stored": store.load(run.id)})
    assert live.draws == stored.draws and live.verdict == stored.verdict and not live.parameters
    for name, values in live.measures.items():
        np.testing.assert_array_equal(stored.measures[name], values)


def test_a_run_that_has_not_begun_is_left_out() -> None:
    assert compared({"none": Run(LoadTracking(n=5), ZOCEG(), iterations=5)}) == []


def test_a_best_point_below_the_optimum_counts_as_one_at_it() -> None:
    run = Run(SpeedReducer(), ZOCEG(), iterations=250, replicas=4)
    run.run()
    (one,) = compared({"run": run})
    best = run.trace["best_gap"][-1]
    assert best.min() < 0.0 and one.below == int((best < 0.0).sum())
    np.testing.assert_array_equal(one.measures[BEST_GAP], np.maximum(best, 0.0))
