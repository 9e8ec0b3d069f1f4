"""Values that were logged before an interruption are not paid again, and others are refused."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from helpers.black_box import f_at, h_at
from helpers.interruption import PROBLEMS, SOLVERS, assert_same, logged, prepared, resumed_with, spoilt
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.engine.checkpoint import snapshot
from zoviz.runs.engine.evaluation_log import Entry, Log
from zoviz.solvers import ZOSPLM

# --- values that are logged -------------------------------------------------------------------------------------------


class Counted:
    """A black box that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Array) -> float:
        self.calls += 1
        if self.calls > 9 and np.isnan(spoilt(x)):
            raise ValueError("too near")
        return f_at(x)


@pytest.mark.parametrize("solver", ["COBYLA", "ZOSPLM", "ZOSQP"])
@pytest.mark.parametrize("vectorised", [False, True])
def test_a_user_s_function_is_not_called_again_where_the_log_has_its_value(solver: str, vectorised: bool) -> None:
    """Of every solver ``test_every_pair`` asks for the values that are logged anew; here calls are counted."""
    count = [0]

    def objective(x: Array) -> Array:
        count[0] += x.size // 2
        return (x[..., 0] - 2.0) ** 2 + (x[..., 1] - 1.0) ** 2

    def constraints(x: Array) -> Array:
        return (x[..., 0] + x[..., 1] - 2.0)[..., None]

    def make() -> Run:
        box = BlackBox(objective, constraints, bounds=[(-4, 4)] * 2, m=1, vectorised=vectorised, noise="deterministic")
        return Run(problem=box, solver=SOLVERS[solver](), replicas=2, iterations=8, seed=1)

    entries: dict[int, Entry] = {}
    whole = logged(make, Log(write=entries.__setitem__))
    paid, count[0] = count[0], 0
    assert sum(len(entry.x) for entry in entries.values()) == paid == whole.result.calls.sum()
    log = dict(list(entries.items())[: len(entries) // 2])
    later: dict[int, Entry] = {}
    run = resumed_with(make, None, Log(log, later.__setitem__))
    assert_same(run, whole)
    assert later.keys() == entries.keys() - log.keys()
    assert count[0] == sum(len(entry.x) for entry in later.values())


def test_the_log_goes_on_after_a_checkpoint() -> None:
    box = Counted()

    def make() -> Run:
        problem = BlackBox(box, h_at, bounds=[(-4, 4)] * 2, m=2, on_error="fail", noise="deterministic")
        return Run(problem=problem, solver=ZOSPLM(), replicas=4, iterations=30, seed=3)

    entries: dict[int, Entry] = {}
    state, run = [], prepared(make)

    def look() -> None:
        worker = run.worker
        if worker.iteration == 12:
            state.extend((snapshot(worker), worker.trace.snapshot(), worker.path.snapshot()))

    whole = logged(lambda: run, Log(write=entries.__setitem__), look)
    paid, box.calls = box.calls, 9
    assert 0 < whole.frozen < 4 and "ValueError: too near" in whole.result.message
    log = dict(list(entries.items())[:-40])
    run = resumed_with(make, tuple(state), Log(log, lambda ordinal, entry: None))
    assert_same(run, whole)
    missing = [entry for ordinal, entry in entries.items() if ordinal not in log]
    assert box.calls == 9 + len(missing) == 9 + 40 < paid


def hurried(x: Array) -> float:
    time.sleep(0.004 * (np.abs(x).sum() * 1e3 % 1.0))  # who is done first depends on the point, not on its place
    return f_at(x)


def test_ordinals_do_not_depend_on_who_is_done_first() -> None:
    def make(workers: Any) -> Run:
        problem = BlackBox(hurried, h_at, bounds=[(-4, 4)] * 2, m=2, workers=workers, noise="deterministic")
        return Run(problem=problem, solver=ZOSPLM(), replicas=3, iterations=3, seed=3)

    course: dict[int, Entry] = {}
    with ThreadPoolExecutor(4) as pool:
        whole = logged(lambda: make(pool), Log(write=course.__setitem__))
        assert list(course) != sorted(course), "some points overtook others"
        # Whatever had ended when it was interrupted: here every third.
        log = {ordinal: entry for ordinal, entry in course.items() if ordinal % 3 == 0}
        for workers in (pool, None):
            later: dict[int, Entry] = {}
            run = logged(lambda workers=workers: make(workers), Log(log, later.__setitem__))
            assert_same(run, whole)
            assert sorted([*log, *later]) == sorted(course) == list(range(int(run.result.calls.sum())))


def test_steering_and_the_log_go_together() -> None:
    def make() -> Run:
        problem = BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2, m=2, noise="deterministic")
        return Run(problem=problem, solver=ZOSPLM(), replicas=2, iterations=20)

    entries: dict[int, Entry] = {}
    state, run = [], prepared(make)

    def look() -> None:
        worker = run.worker
        if worker.iteration == 4:
            state.extend((snapshot(worker), worker.trace.snapshot(), worker.path.snapshot()))
        if worker.iteration in (9, 12):
            worker.inbox.post("primal_step", 1e-3 * worker.iteration)

    whole = logged(lambda: run, Log(write=entries.__setitem__), look)
    for start in (None, tuple(state)):
        log = Log(entries, lambda ordinal, entry: pytest.fail("nothing is left to evaluate"))
        assert_same(resumed_with(make, start, log, whole.journal), whole)


def test_other_points_than_those_logged_are_refused() -> None:
    log = Log({0: Entry(np.zeros((1, 2)), np.zeros((1, 3)))})
    with pytest.raises(ZovizError, match="Expected the same points as before, got others at evaluation 0"):
        logged(lambda: Run(problem=PROBLEMS["black box"](), solver=ZOSPLM(), replicas=1, iterations=1), log)


def test_an_entry_is_read_as_it_was_stored() -> None:
    entry = Entry(np.zeros((1, 2)), np.array([[1.0, 2.0, 2.0, 2.0]]), "why")
    ordinal, same = Entry.read(entry.stored(7))
    assert ordinal == 7 and same == entry and same.note == "why"
