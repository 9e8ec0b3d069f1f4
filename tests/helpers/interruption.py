"""Runs that are interrupted, and what they must be when they have gone on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from helpers.black_box import f_at, h_at
from helpers.every_solver import EVERY
from helpers.same_run import FIELDS
from zoviz import AskTell, Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem, QuadraticBilevel, StochasticQP
from zoviz.runs.engine.checkpoint import restore, snapshot
from zoviz.runs.engine.evaluation_log import Log, LoggedValues
from zoviz.runs.engine.observer import StepCallback
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.trace import Snapshot, Trace

SOLVERS = {name: cls for name, cls in EVERY.items() if "not installed" not in (cls().accepts(NonconvexQCQP()) or "")}
GENERAL = {name for name, cls in SOLVERS.items() if cls().accepts(NonconvexQCQP()) is None}
OWN = [name for name, cls in SOLVERS.items() if cls.checkpointable]
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "exact": lambda: NonconvexQCQP(n=6),
    "common": lambda: NonconvexQCQP(n=6, noise="common", noise_scale=0.01),
    "independent": lambda: NonconvexQCQP(n=6, noise="independent", noise_scale=0.01),
    "student": lambda: NonconvexQCQP(n=6, noise="independent", noise_scale=0.01, noise_distribution="student_t"),
    "scaled": lambda: LoadTracking(scaled=True),
    "black box": lambda: BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2),
    "linear rows": lambda: StochasticQP(),
    "sampled rows": lambda: StochasticQP(sampled_rows=True),
    "rounds": lambda: QuadraticBilevel(),
}


def prepared(make: Callable[[], Run]) -> Run:
    run = make()
    if run.worker is None:
        run.prepare()
    return run


def watched(run: Run, at: Callable[[int], bool]) -> dict[int, tuple[bytes, Any, Any, list[Change]]]:
    """Run to the end; what a store would have, had it been interrupted at each of these iterations."""
    states = {}

    def look() -> None:
        worker = run.worker
        if at(worker.iteration):
            rows = [pickle.loads(pickle.dumps(part.snapshot())) for part in (worker.trace, worker.path)]
            states[worker.iteration] = snapshot(worker), *rows, list(worker.journal)

    run.run(look)
    return states


def resumed(make: Callable[[], Run], state: tuple[bytes, Any, Any, list[Change]], journal: Any = ()) -> Run:
    data, *rows, _ = state
    run = prepared(make)
    worker = run.worker
    trace, path = (
        Trace.holding(now.columns, into.capacity, 2**now.epoch)
        for now, into in zip(rows, (worker.trace, worker.path), strict=True)
    )
    restore(worker, data, trace, path, journal)
    worker.work()
    run.wait()
    return run


def logged(make: Callable[[], Run], log: Log, observer: Callable[[], object] | None = None) -> Run:
    """Run to the end with a log of paid evaluations."""
    run = prepared(make)
    worker = run.worker
    worker.source = LoggedValues(worker.problem, log)
    worker.observers = () if observer is None else (StepCallback(observer),)
    worker.work()
    run.wait()
    return run


def resumed_with(
    make: Callable[[], Run], state: tuple[bytes, Snapshot, Snapshot] | None, log: Log, journal: Iterable[Change] = ()
) -> Run:
    """Go on to the end, from a checkpoint with its rows or anew, with the evaluations that a log holds."""
    run = prepared(make)
    worker = run.worker
    worker.source = LoggedValues(worker.problem, log)
    if state is None:
        restore(worker, None, steering=journal)
    else:
        data, trace, path = state
        restore(worker, data, Trace.holding(trace.columns), Trace.holding(path.columns, 256), journal)
    worker.work()
    run.wait()
    return run


def assert_same(run: Run | AskTell, whole: Run) -> None:
    mine, its = run.result, whole.result
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(mine, name), getattr(its, name), err_msg=name)
    assert (mine.nit, mine.status, mine.message) == (its.nit, its.status, its.message)
    worker = run.worker
    assert worker.notes == whole.worker.notes and worker.resolved == whole.resolved
    for one, other in ((mine.trace, whole.trace), (worker.path, whole.path)):
        mine, its = one.snapshot().columns, other.snapshot().columns
        assert mine.keys() == its.keys()
        for name in mine.keys() - {"seconds"}:
            np.testing.assert_array_equal(mine[name], its[name], err_msg=name)
    for one, other in zip(worker.targets, whole.hits, strict=True):
        np.testing.assert_array_equal(one.iteration, other.iteration)
        np.testing.assert_array_equal(one.calls, other.calls)
    assert [(c.iteration, c.name, c.old, c.new) for c in worker.journal] == [
        (c.iteration, c.name, c.old, c.new) for c in whole.journal
    ]


def spoilt(x: Array) -> float:
    return np.nan if 0.0 < x[0] < 0.7 else f_at(x)
