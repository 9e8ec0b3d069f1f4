"""A trial of remedies by forks with common random numbers, and what it says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from zoviz import Run, Store
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.diagnosis.remedies import Remedy
from zoviz.diagnosis.trial import try_remedies
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOCEG


def ill(replicas: int = 4, **settings: object) -> Run:
    """A run that hardly moves."""
    solver = ZOCEG(primal_step=1e-9, dual_step=1e-9)
    run = Run(NonconvexQCQP(n=4), solver, replicas=replicas, iterations=30, **settings)
    run.run()
    return run


def black_box() -> Run:
    """A run on a user's function."""

    def objective(x: Array) -> float:
        return float(np.square(x - 0.3).sum())

    run = Run(BlackBox(objective, bounds=[(-1, 1)] * 3), ZOCEG(primal_step=1e-6), replicas=2, iterations=20)
    run.run()
    return run


def test_the_better_remedy_is_found_and_a_run_that_is_tried_stays_as_it_was() -> None:
    run = ill()
    calls, rows = run.progress.calls, len(run.trace)
    trial = run.try_remedies()
    first, longer, method = trial.outcomes
    assert (run.progress.calls, len(run.trace)) == (calls, rows)
    assert method.better and first.gain.value > longer.gain.value
    assert trial.best is not None and trial.best.remedy.words.startswith("another method")
    assert "times as near" in trial.sentence and str(trial).count("\n") == 4
    assert trial.unchanged.progress.calls == longer.run.progress.calls == calls + trial.place.further


def test_a_fork_repeats_the_run_to_the_bit_and_its_journal_has_the_remedy() -> None:
    run = ill()
    trial = try_remedies(run, 100, [Remedy("longer", {"primal_step": 1e-8})])
    (outcome,) = trial.outcomes
    for fork in (trial.unchanged, outcome.run):
        repeated = fork.trace.snapshot().columns["gap"][: len(run.trace)]
        assert np.array_equal(repeated, run.trace.snapshot().columns["gap"])
    assert [(one.iteration, one.name, one.new) for one in outcome.run.journal] == [(30, "primal_step", 1e-8)]
    assert not len(trial.unchanged.journal) and outcome.run.seed == run.seed


def test_what_changes_nothing_is_not_better_and_one_replica_tells_nothing() -> None:
    same = try_remedies(ill(), 60, [Remedy("the same", {"primal_step": 1e-9})])
    assert same.best is None and same.outcomes[0].gain.value == 0.0
    assert "no clear difference" in same.outcomes[0].sentence
    assert same.sentence == "No remedy is clearly better than none."
    alone = try_remedies(ill(replicas=1), 60)
    assert alone.best is None and math.isinf(alone.outcomes[0].error)
    assert alone.outcomes[0].sentence.endswith("one replica cannot tell.")


def test_a_start_elsewhere_counts_no_worse_than_the_end_that_there_is() -> None:
    run = Run(NonconvexQCQP(n=4), ZOCEG(), replicas=3, iterations=100)
    run.run()
    outcome = try_remedies(run, 30, [Remedy("another start", afresh={"seed": 1})]).outcomes[0]
    assert outcome.run.seed == 1 and outcome.run.progress.calls <= 30
    assert outcome.gain.value <= 0.0 and outcome.gain.value > -1.0


def test_a_run_that_is_well_has_nothing_to_be_tried_and_more_calls_are_beside_its_end() -> None:
    run = Run(NonconvexQCQP(n=4), ZOCEG(), replicas=6, iterations=20)
    run.run()
    (outcome,) = run.try_remedies().outcomes
    assert outcome.remedy.words == "more calls" and outcome.better
    with pytest.raises(ZovizError, match="has an iterate"):
        Run(NonconvexQCQP(n=4), ZOCEG(), iterations=5).try_remedies()


def test_forks_of_a_stored_run_are_kept_and_whoever_calls_off_ends_them(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    run = ill(store=store)
    trial = store.load(run.id).try_remedies(60)
    labels = {one.id: one.label for one in store.runs(parent=run.id)}
    assert labels == {trial.unchanged.id: "no remedy"} | {one.run.id: one.remedy.words for one in trial.outcomes}

    def proceed() -> None:
        raise ZovizError("Cancelled.")

    with pytest.raises(ZovizError, match="Cancelled"):
        try_remedies(run, 60, proceed=proceed)


@pytest.mark.parametrize("budget", [{"iterations": 30}, {"calls": 400}])
@pytest.mark.parametrize("stored", [False, True])
def test_no_call_is_made_for_what_a_user_has_paid_for(budget: dict[str, int], stored: bool, tmp_path: Path) -> None:
    made: list[float] = []

    def objective(x: Array) -> float:
        made.append(float(x[0]))
        return float(np.square(x - 0.3).sum())

    problem = BlackBox(objective, bounds=[(-1, 1)] * 3, noise="deterministic")
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}") if stored else None
    run = Run(problem, ZOCEG(primal_step=1e-6, dual_step=1e-6), replicas=2, store=store, **budget)
    run.run()
    paid, counted = len(made), int(run.result.calls.sum())
    trial = try_remedies(run, 60, [Remedy("longer", {"primal_step": 1e-3}), Remedy("shorter", {"primal_step": 1e-9})])
    forks = [trial.unchanged, *(one.run for one in trial.outcomes)]
    charged = sum(int(fork.result.calls.sum()) - counted for fork in forks)
    assert len(made) - paid <= charged + 3 * 2 * trial.place.repeated <= 3 * 2 * (60 + trial.place.repeated)
    assert trial.place.repeated == 0 if "iterations" in budget else trial.place.repeated < 20
    if store is not None:
        made.clear()
        again = store.load(run.id).fork(problem=problem, iterations=run.progress.iteration + 1, calls=None)
        again.run()
        assert 0 < len(made) < 40


def test_calls_that_are_made_again_are_said() -> None:
    assert "that repeat the run" in str(try_remedies(ill(), 60))
    assert "repeat" not in try_remedies(black_box(), 60).price
