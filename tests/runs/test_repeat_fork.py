"""A fork that waits where it leaves its run: what it shows there, whose word counts, and how far it may go."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine import startup
from zoviz.runs.engine.checkpoint import restore, snapshot
from zoviz.runs.engine.observer import StepCallback
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.stopping import BUDGETS, Progress
from zoviz.runs.repeat import onward
from zoviz.runs.script import script
from zoviz.solvers import ZOSPLM


def made(*script: Change, **settings: Any) -> Run:
    solver = ZOSPLM(primal_step=1e-3)
    return Run(
        problem=NonconvexQCQP(n=4), solver=solver, replicas=2, **{"iterations": 40, **settings}, schedule=tuple(script)
    )


def at(iteration: int, name: str, value: float) -> Change:
    return Change(iteration, 0, 0.0, name, None, value)


def waiting(run: Run, iteration: int) -> Run:
    run.start(pause_at=iteration)
    until(lambda: run.status == "paused")
    assert run.progress.iteration == iteration
    return run


def steps(run: Run) -> list[tuple[int, str, Any]]:
    return [(change.iteration, change.name, change.new) for change in run.journal]


def test_who_changes_while_a_fork_waits_has_the_last_word() -> None:
    """Also over what the run that is repeated changed at that very iteration."""
    source = made(at(5, "primal_step", 2e-3), at(10, "primal_step", 3e-3))
    source.run()
    fork = waiting(source.fork(10), 10)
    assert steps(fork) == [(5, "primal_step", 2e-3), (10, "primal_step", 3e-3)]
    fork.solver.primal_step = 4e-3
    fork.unpause()
    fork.wait(120)
    assert steps(fork)[2:] == [(10, "primal_step", 4e-3)] and fork.worker.solver.primal_step == 4e-3
    again = fork.replay()
    again.run()
    np.testing.assert_array_equal(again.result.x, fork.result.x)
    assert not np.array_equal(source.result.x, fork.result.x)


def test_a_fork_that_waited_and_was_not_changed_is_the_run_itself() -> None:
    source = made(at(5, "dual_step", 2e-3))
    source.run()
    for place in (0, 5, 23):
        fork = waiting(source.fork(place), place)
        fork.unpause()
        np.testing.assert_array_equal(fork.wait(120).x, source.result.x if place >= 5 else unsteered())


def unsteered() -> Any:
    return made().run().x


def test_a_change_beside_the_scripts_is_found_again_after_an_interruption() -> None:
    script = (at(5, "primal_step", 2e-3), at(8, "dual_step", 1e-3))
    run = made(*script, iterations=20)
    run.prepare()
    checkpoints: list[Any] = []
    worker = run.worker
    worker.observers = (StepCallback(lambda: checkpoints.append(snapshot(worker)) if worker.iteration == 3 else None),)
    worker.inbox.command("step", 5)
    thread = threading.Thread(target=worker.work)
    thread.start()
    until(lambda: run.status == "paused" and run.progress.iteration == 5)
    run.solver.primal_step = 4e-3
    run.unpause()
    thread.join(120)
    other = made(*script, iterations=20)
    other.prepare()
    restore(other.worker, checkpoints[0], steering=run.journal)
    other.worker.work()
    np.testing.assert_array_equal(other.result.x, run.result.x)
    assert other.worker.solver.primal_step == 4e-3


def test_what_is_in_force_is_what_the_journal_says_and_the_public_solver_is_left_alone() -> None:
    run = waiting(made(at(2, "primal_step", 2e-3), at(4, "estimator.batch_size", 7), at(9, "dual_step", 0.5)), 6)
    assert (run.in_force["primal_step"], run.in_force["estimator.batch_size"]) == (2e-3, 7)
    assert run.in_force["dual_step"] is None, "not yet, and it is left to the rule"
    assert (run.solver.primal_step, run.solver.dual_step) == (1e-3, None)
    run.set({"primal_step": 1e-3})  # as the public solver has it
    until(lambda: run.in_force["primal_step"] == 1e-3)
    run.solver.primal_step = 5e-3
    until(lambda: run.in_force["primal_step"] == 5e-3)
    run.step(4)
    until(lambda: run.status == "paused" and run.progress.iteration == 10)
    assert (run.in_force["primal_step"], run.in_force["dual_step"], run.awaited) == (5e-3, 0.5, {})
    assert [name for _, name, _ in steps(run)] == ["primal_step", "estimator.batch_size"] + 2 * ["primal_step"] + [
        "dual_step"
    ]
    run.set({"dual_step": None})
    until(lambda: len(run.journal) == 6)
    assert run.in_force["dual_step"] is None, "what the rule chose is shown as chosen by the rule"
    with pytest.raises(ValueError, match="structural"):
        run.replicas = 5
    with pytest.raises(ValueError, match="structural"):
        run.set({"restoration": run.solver.restoration})
    run.stop()
    run.wait(120)
    assert run.solver.primal_step == 5e-3


def test_a_resumed_run_shows_what_was_steered_before(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'kept.db'}")
    run = waiting(made(store=store), 4)
    run.solver.primal_step = 7e-3
    run.unpause()
    run.step(3)
    run.stop()
    run.wait(120)
    again = store.load(run.id).resume()
    assert again.solver.primal_step == 1e-3
    again.start(steps=1)
    until(lambda: again.status in ("paused", "finished"))
    assert again.in_force["primal_step"] == 7e-3 and len(again.journal) == 1
    again.stop()
    again.wait(120)


@pytest.mark.parametrize(
    ("budgets", "counters", "place", "expected"),
    [
        ((40, None), (40, 400, False), 20, (40, None)),
        ((40, None), (40, 400, False), 40, (80, None)),
        ((40, None), (25, 250, False), 25, (40, None)),
        ((None, 400), (39, 399, True), 20, (None, 400)),
        ((None, 400), (39, 399, True), 39, (None, 799)),
        ((None, 400), (39, 400, False), 39, (None, 800)),
        ((50, 400), (39, 399, True), 39, (50, 799)),
        ((None, None), (39, 399, False), 39, (None, None)),
    ],
)
def test_a_fork_has_a_way_to_go(budgets: Any, counters: Any, place: int, expected: Any) -> None:
    iterations, calls, spent = counters
    source = SimpleNamespace(
        initial=RunSpec(NonconvexQCQP(), ZOSPLM(), iterations=budgets[0], calls=budgets[1], seconds=3.0),
        progress=Progress(dict.fromkeys(BUDGETS, 0) | {"iterations": iterations, "calls": calls}, 1.0),
        spent_calls=spent,
    )
    assert onward(source, place) == {
        "iterations": expected[0],
        "calls": expected[1],
        "samples": None,
        "zeta_samples": None,
        "seconds": None,
    }


@pytest.mark.parametrize("stored", [False, True])
def test_a_repetition_takes_the_steps_of_its_run_and_not_todays_rule(
    stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules of steps change between versions; what a store has must replay all the same, and cost as many calls."""
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        source = Run(NonconvexQCQP(n=4), ZOSPLM(), iterations=12, store=store)
        source.run()
        rule = ZOSPLM.from_constants
        monkeypatch.setattr(
            ZOSPLM,
            "from_constants",
            lambda *args: {
                name: 0.5 * value if isinstance(value, float) else value for name, value in rule(*args).items()
            },
        )
        other = Run(NonconvexQCQP(n=4), ZOSPLM(), iterations=12)
        other.run()
        repeatable = store.load(source.id) if stored else source
        replay, fork = repeatable.replay(), repeatable.fork(6, iterations=20)
        for again in (replay, fork):
            again.run()
            assert again.resolved == source.resolved != other.resolved
        third = store.load(replay.id).replay()  # what was given is stored too
        namespace: dict[str, Any] = {}
        exec(script(replay), namespace)
        for twin in (replay, namespace["run"], third):
            if twin.status == "ready":
                twin.run()
            np.testing.assert_array_equal(twin.result.x, source.result.x)
            assert twin.result.calls.tolist() == source.result.calls.tolist()
        np.testing.assert_array_equal(fork.trace["objective"][:13], source.trace["objective"])
        assert not np.array_equal(other.result.x, source.result.x)


def test_a_repetition_takes_the_units_of_its_run_and_not_todays_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = NonconvexQCQP(n=4, scaled=True)
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        source = Run(problem, ZOSPLM(), iterations=12, store=store)
        source.run()
        monkeypatch.setattr(startup, "_REACH", 0.5 * startup._REACH)
        other = Run(problem, ZOSPLM(), iterations=12)
        other.run()
        assert source.measured_units is not None and other.measured_units != source.measured_units
        replay = store.load(source.id).replay()
        replay.run()
        third = store.load(replay.id).replay()  # what was given is stored too
        namespace: dict[str, Any] = {}
        exec(script(source), namespace)
        for twin in (replay, third, namespace["run"], source.fork(12)):
            if twin.status == "ready":
                twin.run()
            assert twin.measured_units == source.measured_units
            np.testing.assert_array_equal(twin.result.x, source.result.x)
            assert twin.result.calls.tolist() == source.result.calls.tolist()
        assert not np.array_equal(other.result.x, source.result.x)
    assert Run(NonconvexQCQP(n=4), ZOSPLM(), iterations=1).measured_units is None
