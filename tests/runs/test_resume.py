"""Runs that were interrupted: they are listed so, and go on as if nothing had happened."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sqlalchemy import select, update

from helpers import waiting
from helpers.black_box import h_at
from helpers.same_run import assert_same_course
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.problems import BlackBox
from zoviz.runs.storage.database import StoreError
from zoviz.runs.storage.schema import EVALUATIONS, RUNS
from zoviz.runs.store import Store
from zoviz.solvers import CMAES, ZOCEG


class Box:
    """A black box whose calls are counted, with something to do at one of them."""

    def __init__(self) -> None:
        self.calls, self.at, self.then = 0, -1, lambda: None

    def __call__(self, x: np.ndarray) -> float:
        self.calls += 1
        if self.calls == self.at:
            self.then()
        return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def boxed(store: Store, box: Box, **settings: Any) -> Run:
    problem = BlackBox(box, h_at, bounds=[(-4, 4)] * 2, m=2, noise="deterministic")
    defaults = {"solver": ZOCEG(), "replicas": 2, "seed": 5, "iterations": 3, "checkpoint": "every call"}
    return Run(problem=problem, store=store, **(defaults | settings))


def copied(store: Store, folder: Path) -> Store:
    """The store as it is on disk at this moment, with its runs those of a process that is gone."""
    path = folder / f"copy{len(list(folder.iterdir()))}.db"
    with closing(sqlite3.connect(store.database.name)) as now, closing(sqlite3.connect(path)) as then:
        now.backup(then)
    copy = Store(f"sqlite:///{path}")
    with copy.database.writing() as connection:
        connection.execute(update(RUNS).values(pid=2**30, updated=time.time()))
    return copy


@pytest.mark.parametrize(("solver", "at"), [(ZOCEG, 30), (CMAES, 40)])
def test_every_call_is_kept_and_none_is_paid_twice(solver: type, at: int, store: Store, tmp_path: Path) -> None:
    """Interrupted in the midst of a call: what is on disk then is all but that call."""
    box, copies = Box(), []
    box.at, box.then = at, lambda: copies.append(copied(store, tmp_path))
    whole = boxed(store, box, solver=solver())
    whole.run()
    assert whole.result.calls.sum() == box.calls > 40
    (copy,) = copies
    assert copy.load(whole.id).status == "interrupted"
    assert [r.id for r in copy.runs(status="interrupted")] == [whole.id] and copy.runs(status="running") == []
    rest = Box()
    run = copy.load(whole.id).resume(problem=BlackBox(rest, h_at, bounds=[(-4, 4)] * 2, m=2, noise="deterministic"))
    run.run()
    assert rest.calls == box.calls - (at - 1)
    assert_same_course(run, whole)
    assert_same_course(copy.load(whole.id), store.load(whole.id))
    assert run.id == whole.id and copy.count() == 1 and copy.load(run.id).status == "finished"
    copy.close()


def test_a_resumed_run_is_itself_resumed_steering_and_all(
    store: Store, small: Callable[..., Run], until: Callable[..., None], tmp_path: Path
) -> None:
    def watch() -> None:
        if whole.progress.iteration in (50, 150, 250):
            whole.set({"primal_step": whole.resolved["primal_step"] * whole.progress.iteration / 300.0})
        if whole.progress.iteration in (100, 200):
            before = store.load(whole.id).record.updated
            until(lambda: store.load(whole.id).record.updated > before)
            # What was being written then may have been read off the run before it was steered.
            until(lambda: len(store.load(whole.id).journal) == len(whole.journal))
            copies.append(copied(store, tmp_path))

    copies: list[Store] = []
    whole = small(iterations=300, checkpoint=0.02, targets={"violation": [20.0, 1.0]})
    whole.run(watch)
    first, second = copies
    for copy, journal in ((first, 1), (second, 2)):
        assert len(copy.load(whole.id).journal) == journal
    # Steered after the interruption, the run goes another way than it did.
    again = first.load(whole.id).resume()
    again.run(lambda: again.progress.iteration == 170 and again.set({"primal_step": 1e-4}))
    assert [c.iteration for c in again.journal] == [50, 170] == [c.iteration for c in first.load(again.id).journal]
    run = second.load(whole.id).resume()
    run.run(lambda: run.progress.iteration == 250 and run.set({"primal_step": whole.journal[2].new}))
    assert_same_course(run, whole)
    assert_same_course(second.load(whole.id), whole)
    assert [t.iteration.tolist() for t in run.hits] == [t.iteration.tolist() for t in whole.hits]
    replay = second.load(run.id).replay()
    replay.run()
    assert_same_course(replay, whole)
    first.close(), second.close()


def test_a_run_that_was_stopped_goes_on_with_another_budget(store: Store, small: Callable[..., Run]) -> None:
    run = small()
    run.start(steps=30)
    run.stop()
    run.wait(120)
    stopped = run.progress.iteration
    again = store.load(run.id[:8]).resume(iterations=stopped + 40)
    again.run()
    whole = small(iterations=stopped + 40)
    whole.run()
    assert_same_course(again, whole)
    assert store.load(run.id).settings["iterations"] == stopped + 40 and store.count() == 2
    with pytest.raises(ZovizError, match="for a run that goes on, got seed: fork it"):
        store.load(run.id).resume(seed=3)


def test_a_run_at_work_is_not_resumed(store: Store, small: Callable[..., Run]) -> None:
    run = small().start()
    try:
        again = store.load(run.id).resume()
        with pytest.raises(StoreError, match="Expected a run that is not at work, got .* running in process"):
            again.start()
        assert again.status != "running" or again.worker.iteration == 0
    finally:
        run.stop()
        run.wait(120)
    assert store.load(run.id).status == "stopped"


def test_a_run_that_is_refused_is_not_among_the_recorded(store: Store, small: Callable[..., Run]) -> None:
    """Each of them makes the others be written less often."""
    run = small(iterations=2)
    run.run()
    again = store.load(run.id).resume(iterations=4)
    with store.database.writing() as connection:
        connection.execute(update(RUNS).values(status="running", host="elsewhere", updated=time.time()))
    with pytest.raises(StoreError, match="Expected a run that is not at work"):
        again.start()
    assert not store.database.recorded


def test_who_is_gone_is_told_by_process_host_and_sign_of_life(store: Store, small: Callable[..., Run]) -> None:
    def status(**values: Any) -> str:
        with store.database.writing() as connection:
            connection.execute(update(RUNS).where(RUNS.c.id == run.id).values(status="running", **values))
        return store.load(run.id).status

    run = small(iterations=2)
    run.run()
    with store.database.reading() as connection:
        mine = dict(connection.execute(select(RUNS)).mappings().one())
    assert status(updated=time.time() - 1e4) == "running", "its process is here, however silent"
    assert status(pid=2**30, updated=time.time()) == "interrupted", "no such process"
    silent = time.time() - 31
    assert status(pid=mine["pid"], process_started=mine["process_started"] - 1e5, updated=silent) == "interrupted"
    elsewhere = {"host": "elsewhere", "pid": 2**30}
    assert status(**elsewhere, updated=time.time()) == "running"
    assert status(**elsewhere, updated=silent) == "interrupted"


def test_a_zombie_is_not_at_work(store: Store, small: Callable[..., Run]) -> None:
    run = small(iterations=2)
    run.run()
    process = subprocess.Popen([sys.executable, "-c", ""])
    waiting.until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    with store.database.writing() as connection:
        connection.execute(update(RUNS).values(status="running", pid=process.pid))
    assert store.load(run.id).status == "interrupted"
    process.wait()


def test_evaluations_are_kept_in_their_order(store: Store) -> None:
    box = Box()
    run = boxed(store, box, replicas=1)
    run.run()
    with store.database.reading() as connection:
        ordinals = [row.ordinal for row in connection.execute(select(EVALUATIONS.c.ordinal))]
    assert sorted(ordinals) == list(range(box.calls)) == list(range(run.result.calls.sum()))
