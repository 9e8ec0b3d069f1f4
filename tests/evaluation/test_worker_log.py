"""Who makes a problem's calls: while they are under way, once they have ended, in a store, and by executors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.core.types import Array
from zoviz.evaluation import worker_log
from zoviz.evaluation.task_queue import TaskQueue
from zoviz.evaluation.worker_log import WorkerLog
from zoviz.problems import BlackBox

BOX = [(-1.0, 1.0)] * 2


def test_a_queue_tells_who_is_busy_and_what_waits() -> None:
    queue = TaskQueue(2)
    assert queue.log.table.sentence == ""
    queue.begin([["a"], ["b"], ["c"]], [])
    first, second = queue.next("1"), queue.next("2")
    assert queue.log.table.sentence == "2 of 2 workers busy (longest 0 s), 1 calls queued"
    queue.finish(first, 0.0)
    assert [(row.worker, row.calls, row.now is None) for row in queue.log.table.rows] == [
        ("1", 1, True),
        ("2", 0, False),
    ]
    assert queue.retry(second) and queue.log.table.queued == 2, "its worker is gone"
    assert queue.next("1") == second and not queue.retry(second), "once"
    queue.finish(second, 0.0)
    assert queue.log.table.sentence == "0 of 2 workers busy, 1 calls queued"
    assert str(queue.log.table).split()[:4] == ["worker", "calls", "seconds", "now"]
    queue.clear()
    assert queue.log.table.queued == 0 and queue.log.table.rows[0].calls == 2


def test_an_executor_names_its_workers_afterwards_and_a_log_goes_on_from_a_snapshot() -> None:
    log = WorkerLog()
    log.begin(0, "")
    assert log.table.sentence == "1 calls submitted (longest 0 s)" and log.table.rows == ()
    log.end(0, "node3", 2.5)
    again = WorkerLog()
    again.restore(log.snapshot())
    again.begin(1, "")
    again.end(1, "node3", 1.5)
    (row,) = again.table.rows
    assert (row.worker, row.calls, row.seconds) == ("node3", 2, 4.0)


def bowl(x: Array) -> float:
    return float(x @ x)


@pytest.mark.parametrize("make", [lambda: 2, lambda: ThreadPoolExecutor(2)], ids=["processes", "executor"])
def test_a_run_tells_who_has_made_its_calls_also_from_a_store(make: Callable[[], Any], tmp_path: Path) -> None:
    problem = BlackBox(bowl, bounds=BOX, x0=[0.5, 0.5], noise="deterministic", workers=make())
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        run = Run(problem, "ZOSQP", replicas=1, calls=40, store=store)
        assert run.workers.rows == ()
        result = run.run()
        assert sum(row.calls for row in run.workers.rows) == result.calls[0]
        assert store.load(run.id).workers.rows == run.workers.rows


def test_a_reader_sees_the_calls_under_way() -> None:
    begun, done = threading.Barrier(3), threading.Event()

    def waits(x: Array) -> float:
        begun.wait(60)
        done.wait(60)
        return 0.0

    problem = BlackBox(waits, bounds=BOX, m=0, workers=ThreadPoolExecutor(2))
    thread = threading.Thread(target=problem.evaluate, args=(np.zeros((2, 2)),))
    thread.start()
    begun.wait(60)
    assert problem.worker_table.under_way == 2
    done.set()
    thread.join(60)
    until(lambda: problem.worker_table.under_way == 0)
    assert sum(row.calls for row in problem.worker_table.rows) == 2


def test_a_reader_misses_no_call_that_is_just_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in another thread's stead whenever the log looks at the clock."""
    log, seen = WorkerLog(1), list[int]()
    log.begin(0, "one")
    reading = False

    def look() -> float:
        nonlocal reading
        if not reading:
            reading = True
            table = log.table
            seen.append(table.under_way + sum(row.calls for row in table.rows))
            reading = False
        return 0.0

    monkeypatch.setattr(worker_log, "time", SimpleNamespace(monotonic=look))
    log.end(0)
    assert seen == [1]


def test_one_worker_is_not_worth_a_word() -> None:
    problem = BlackBox(bowl, bounds=BOX)
    problem.evaluate(np.zeros((2, 2)))
    assert problem.worker_table.sentence == ""
