"""Forks of a user's function: what its run has paid for is not called again, wherever the fork leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.same_run import assert_same_course
from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.repeat import calls_again
from zoviz.runs.store import Store
from zoviz.solvers import CMAES, ZOCEG, Solver


class Counted:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Array) -> float:
        self.calls += 1
        return float(np.square(x - 0.3).sum() + np.sin(3.0 * x[0]))

    @property
    def problem(self) -> BlackBox:
        return BlackBox(self, bounds=[(-1, 1)] * 3, noise="deterministic")


def made(function: Counted, solver: Solver | None = None, **settings: Any) -> Run:
    return Run(function.problem, solver or ZOCEG(), replicas=2, seed=4, **{"iterations": 20} | settings)


def steered(run: Run) -> Callable[[], object]:
    """Change a step after the twelfth iteration."""
    return lambda: run.progress.iteration == 12 and run.set({"primal_step": 1e-3})


def check(fork: Run, function: Counted) -> None:
    """Run a fork: the calls that it makes are those behind its place, and it is what its replay is."""
    begun = fork.prepare()
    before, paid = function.calls, int(begun.oracle.calls.sum())
    begun.work()
    assert function.calls - before == fork.result.calls.sum() - paid > 0
    assert paid > 0
    again = fork.replay()
    again.run()
    assert_same_course(fork, again)


@pytest.mark.parametrize("at", [0, 12, 20])
def test_a_fork_goes_on_from_the_start_the_last_change_or_the_end(at: int) -> None:
    function = Counted()
    run = made(function)
    run.run(steered(run) if at else None)
    fork = run.fork(at, {"dual_step": 1e-2}, iterations=at + 5)
    assert calls_again(run, at) == 0 < calls_again(run, 5)
    check(fork, function)
    assert fork.progress.iteration == at + 5 and [one.iteration for one in fork.journal][-1] == at


def test_a_fork_takes_over_none_of_it_where_a_setting_decides_what_was_computed() -> None:
    function = Counted()
    run = made(function)
    run.run()
    assert run.fork(seed=5).prepare().iteration == 0 and run.fork(label="other").prepare().iteration == 20


def test_a_fork_waits_where_it_leaves_its_run_and_is_itself_forked() -> None:
    function = Counted()
    run = made(function)
    run.run(steered(run))
    fork = run.fork(iterations=30)
    fork.start(pause_at=20)
    fork.unpause()
    fork.wait(120)
    calls = function.calls
    check(fork.fork(iterations=33), function)
    assert fork.progress.iteration == 30 and function.calls > calls


@pytest.mark.parametrize("settings", [{}, {"calls": 200, "iterations": None}])
def test_a_stored_run_is_forked_without_calls_and_its_fork_goes_on_when_it_was_killed(
    settings: dict[str, Any], store: Store
) -> None:
    function = Counted()
    run = made(function, store=store, **settings)
    run.run()
    fork = store.load(run.id).fork(
        problem=function.problem, iterations=run.progress.iteration + 4, calls=None, checkpoint=3600.0
    )
    worker = fork.prepare()
    assert (worker.iteration, worker.oracle.account.spent) == (
        run.progress.iteration,
        run.worker.marks.last["oracle"]["spent"],
    )
    before = function.calls
    fork.interrupt()
    worker.work()
    again = store.load(fork.id).resume(problem=function.problem)
    assert function.calls == before
    check(again, function)
    assert len(store.load(fork.id).trace) == len(again.trace) and store.load(fork.id).parent == run.id


def test_a_method_without_states_goes_on_from_the_calls_that_are_stored(store: Store) -> None:
    function = Counted()
    run = made(function, CMAES(), store=store)
    run.run()
    paid = function.calls
    fork = store.load(run.id).fork(problem=function.problem, iterations=22)
    assert calls_again(store.load(run.id), 20) == 0
    fork.run()
    assert function.calls - paid == fork.result.calls.sum() - run.result.calls.sum()
    in_memory = made(function, CMAES())
    in_memory.run()
    assert calls_again(in_memory, 20) == in_memory.progress.calls
