"""What every solver keeps on every problem that it accepts: no paid value is lost, none is paid twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from helpers.every_pair import EACH_PAIR, PAIRS, SOLVERS, run_of, solver_of
from helpers.every_solver import EVERY_PROBLEM
from helpers.interruption import assert_same, logged, prepared, resumed_with
from zoviz import AskTell, Store
from zoviz.problems.base import Problem
from zoviz.runs.engine.checkpoint import points, snapshot
from zoviz.runs.engine.evaluation_log import Entry, Log


def test_every_solver_and_every_problem_is_in_a_pair() -> None:
    assert {solver for solver, _ in PAIRS} == {name for name in SOLVERS if not solver_of(name).missing_package}
    assert {problem for _, problem in PAIRS} >= set(EVERY_PROBLEM)


@EACH_PAIR
def test_a_kill_between_two_checkpoints_costs_no_paid_value(solver: str, problem: str) -> None:
    entries: dict[int, Entry] = {}
    at_two, first = [], prepared(lambda: run_of(solver, problem))

    def look() -> None:
        worker = first.worker
        if worker.iteration == 2 and solver_of(solver).checkpointable:
            at_two.append((snapshot(worker), worker.trace.snapshot(), worker.path.snapshot()))

    whole = logged(lambda: first, Log(write=entries.__setitem__), look)
    assert sum(len(entry.x) for entry in entries.values()) == whole.result.calls.sum() > 0
    for state in (None, *at_two):
        count = points(state[0]) if state is not None else 0
        behind = [ordinal for ordinal in sorted(entries) if ordinal >= count]
        log = {ordinal: entries[ordinal] for ordinal in behind[: len(behind) // 2]}
        later: dict[int, Entry] = {}
        run = resumed_with(lambda: run_of(solver, problem), state, Log(log, later.__setitem__))
        assert_same(run, whole)
        assert sorted(later) == behind[len(behind) // 2 :]


@EACH_PAIR
def test_every_call_in_a_store_and_a_kill_in_mid_step(solver: str, problem: str, tmp_path: Path) -> None:
    whole, copy = run_of(solver, problem, iterations=2), tmp_path / "killed.db"
    whole.run()
    store = Store(f"sqlite:///{tmp_path / 'whole.db'}")
    run = run_of(solver, problem, iterations=2, store=store, checkpoint="every call")

    def kill() -> None:
        """What the disk holds if the process is killed shortly before the first step has ended."""
        if run.progress.iteration == 1:
            with closing(sqlite3.connect(tmp_path / "whole.db")) as here, closing(sqlite3.connect(copy)) as there:
                here.backup(there)
                there.execute("UPDATE runs SET host = 'elsewhere', updated = 0")
                there.execute("DELETE FROM evaluations WHERE ordinal = (SELECT max(ordinal) FROM evaluations)")
                there.commit()

    run.run(kill)
    assert_same(run, whole)
    again = Store(f"sqlite:///{copy}").load(run.id).resume()
    again.run()
    assert_same(again, whole)


def answer(session: AskTell, problem: Problem) -> None:
    """Tell the values that the question asks for, evaluated as a run evaluates them."""
    question = session.question
    if question.kind:
        method = {"f value": problem.outer, "g value": problem.inner}[question.kind]
        session.tell(session.ask(), method(*question.places, question.sample).ravel())
    else:
        f, h = problem.evaluate(*question.places, question.sample)
        session.tell(session.ask(), f.ravel(), h.reshape(f.size, -1))


@EACH_PAIR
def test_asking_and_telling_equals_a_run_or_is_refused(solver: str, problem: str) -> None:
    run = run_of(solver, problem, iterations=2)
    settings = {"replicas": 2, "iterations": 2, "seed": 1}
    if solver_of(solver).asks_derivatives:
        with pytest.raises(ValueError, match="Expected a method that asks for values, got .* asks for der"):
            AskTell(run.problem, solver_of(solver), **settings)
    else:
        run.run()
        session = AskTell(run.problem, solver_of(solver), **settings)
        while not session.done:
            answer(session, run.problem)
        assert_same(session, run)
