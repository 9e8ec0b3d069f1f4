"""Runs that are steered, replayed and forked."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from helpers.runs import assert_same_bits, columns, qcqp, small
from helpers.waiting import until
from zoviz import Run
from zoviz.estimators import Sphere
from zoviz.problems import LoadTracking
from zoviz.runs.engine import worker
from zoviz.runs.engine.trace import Trace
from zoviz.runs.script import script
from zoviz.solvers import ZOBCEG, ZOSPLM

# --- steering, replay, script, fork -----------------------------------------------------------------------------------


def steered(run: Run, changes: list[tuple[str, Any]], gap: int = 700) -> None:
    """Start, let another thread make the changes some iterations apart, pausing once; then stop."""
    run.start()
    fault: list[BaseException] = []

    def person() -> None:
        try:
            for count, (name, value) in enumerate(changes):
                at = run.progress.iteration + gap
                until(lambda at=at: run.progress.iteration >= at)
                if count == 2:
                    run.pause()
                    until(lambda: run.status == "paused")
                run.solver.set(name, value)
                if count == 2:
                    run.unpause()
            at = run.progress.iteration + gap
            until(lambda: run.progress.iteration >= at)
        except BaseException as error:
            fault.append(error)
        run.stop()

    thread = threading.Thread(target=person)
    thread.start()
    run.wait(120)
    thread.join()
    assert not fault, fault


STEERED = {
    "ZO-SPLM": (
        qcqp(),
        ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=10)),
        [
            ("primal_step", 0.004),
            ("estimator.batch_size", 25),
            ("dual_step", 0.003),
            ("proximal_weight", 0.5),
            ("estimator.smoothing_radius", 1e-4),
        ],
    ),
    "ZO-SPLM, independent noise": (
        qcqp(noise="independent", noise_scale=0.1, noise_distribution="student_t"),
        ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=10)),
        [
            ("primal_step", 0.004),
            ("primal_step", None),
            ("proximal_step", 0.2),
            ("estimator.batch_size", 3),
            ("dual_step", 1e-4),
        ],
    ),
    "ZOBCEG, common noise": (
        LoadTracking(n=12, noise="common", noise_scale=0.1),
        ZOBCEG(),
        [
            ("estimator.block_size", 3),
            ("primal_step", 0.1),
            ("schedule", "diminishing"),
            ("estimator.block_size", 12),
            ("report", "average"),
        ],
    ),
}


@pytest.mark.parametrize("name", STEERED)
def test_a_run_steered_five_times_replays_bit_for_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From another thread, once over a trace that is thinned; then from the script that the run writes."""
    problem, solver, changes = STEERED[name]
    if name == "ZO-SPLM":  # room for fewer rows than it takes steps
        monkeypatch.setattr(worker, "Trace", lambda capacity=256: Trace(capacity))
    run = Run(problem=problem.clone(), solver=solver.clone(), replicas=3, seed=11)
    steered(run, changes, gap=60)
    assert [change.name for change in run.journal] == [name for name, _ in changes]
    assert run.trace.stride > 1 or name != "ZO-SPLM"
    again = run.replay()
    again.run()
    assert_same_bits(run, again)
    assert [c[:2] + c[3:] for c in again.journal] == [c[:2] + c[3:] for c in run.journal]
    source = script(run)
    namespace: dict[str, Any] = {}
    exec(compile(source, "<script of the run>", "exec"), namespace)
    assert_same_bits(run, namespace["run"])


def test_without_the_steering_the_course_is_another() -> None:
    run = small(iterations=40)
    run.run()
    other = run.fork(at=5, changes={"primal_step": 0.01})
    other.run()
    assert not np.array_equal(run.result.x, other.result.x)


@pytest.mark.parametrize("budget", [{"iterations": 25}, {"calls": 300}, {"seconds": 0.05}])
def test_replay_ends_where_the_run_ended(budget: dict[str, Any]) -> None:
    run = small(**budget)
    run.run()
    again = run.replay()
    again.run()
    assert run.worker is not None
    # Time may end a run in mid-step: the calls of that step are not repeated.
    assert_same_bits(run, again, calls=not run.worker.spent_time)
    assert (again.result.calls <= run.result.calls).all()


def test_a_replica_does_not_depend_on_how_many_there_are() -> None:
    settings = {"problem": qcqp(), "iterations": 30}
    few, many = (small(**settings, solver=ZOSPLM(), replicas=replicas).run() for replicas in (2, 5))
    np.testing.assert_allclose(few.x, many.x[:2], rtol=1e-9)


def test_fork_repeats_the_beginning_and_then_goes_its_own_way() -> None:
    run = small()
    run.start(steps=30)
    until(lambda: run.status == "paused")
    run.solver.dual_step = 0.05
    run.step(30)
    until(lambda: run.progress.iteration == 60)
    fork = run.fork(at=50, changes={"primal_step": 0.05, "schedule": "diminishing"}, iterations=80)
    run.stop()
    run.wait(120)
    fork.run()
    assert [(c.iteration, c.name, c.new) for c in fork.journal] == [
        (30, "dual_step", 0.05),
        (50, "primal_step", 0.05),
        (50, "schedule", "diminishing"),
    ]
    assert fork.progress.iteration == 80
    for name, column in columns(run).items():
        np.testing.assert_array_equal(column[:51], columns(fork)[name][:51], err_msg=name)
    assert not np.array_equal(run.trace["objective"][51], fork.trace["objective"][51])
    assert run.solver.primal_step is None, "the fork has clones of its own"
    before = run.fork(at=20, iterations=25)
    before.run()
    assert len(before.journal) == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dual_cap": 3.0}, "Expected one of primal_step, .* to change, got 'dual_cap'"),
        ({"nonsense": 3.0}, "got 'nonsense'"),
        ({"primal_step": -1.0}, "Expected primal_step a number from"),
    ],
)
def test_fork_refuses_bad_changes_at_once(changes: dict[str, Any], sentence: str) -> None:
    run = small(iterations=5)
    run.run()
    with pytest.raises(ValueError, match=sentence):
        run.fork(at=2, changes=changes)
