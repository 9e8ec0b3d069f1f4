"""A store: what is written while a run goes on, and of runs that fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from helpers.stores import EACH_KIND, Small
from zoviz import Run
from zoviz.core.errors import OracleError, ZovizError
from zoviz.problems import BlackBox
from zoviz.runs.storage.schema import SEGMENTS
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG

pytestmark = EACH_KIND

# --- what is written --------------------------------------------------------------------------------------------------


def test_a_finished_run_is_read_back_whole(store: Store, small: Small, same_trace: Callable[..., None]) -> None:
    targets = {"violation": [20.0, 1.0], "relative_gap": 0.1}
    run = small(iterations=300, targets=targets, label="the first", study="one")
    result = run.run()
    stored = store.load(run.id)
    same_trace(run.trace, stored.trace)
    same_trace(run.path, stored.path)
    for name in (
        "x",
        "fun",
        "maxcv",
        "violation",
        "success",
        "multipliers",
        "best_x",
        "best_fun",
        "calls",
        "failures",
    ):
        np.testing.assert_array_equal(getattr(stored.result, name), getattr(result, name), err_msg=name)
    assert (stored.result.message, stored.result.nit, stored.seed) == (result.message, 300, 3)
    assert stored.resolved == run.resolved and stored.progress == run.progress and not stored.active
    assert [(t.metric, t.threshold) for t in stored.hits] == [(t.metric, t.threshold) for t in run.hits]
    for mine, theirs in zip(stored.hits, run.hits, strict=True):
        np.testing.assert_array_equal(mine.hit["seconds"], theirs.hit["seconds"])
    assert stored.versions["numpy"] == np.__version__ and "python" in stored.versions
    assert stored.problem.n == 5 and stored.solver.primal_step is None
    record = stored.record
    assert (record.label, record.study, record.status, record.iterations) == ("the first", "one", "finished", 300)
    assert record.objective == pytest.approx(result.fun.mean()) and record.violation == result.violation.max()
    assert record.best_value == result.best_fun.min() and record.calls == run.progress.calls


def test_a_run_is_in_the_store_while_it_goes_on(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = small(checkpoint=0.05).start()
    try:
        assert store.load(run.id).status == "running" and store.count(status="running") == 1
        until(lambda: store.load(run.id).record.iterations > 20 and len(store.load(run.id).trace) > 20)
        run.set({"primal_step": 0.9 * run.resolved["primal_step"]})
        until(lambda: len(store.load(run.id).journal) == 1)
        assert store.load(run.id).journal[0] == run.journal[0]
        until(lambda: np.isfinite(store.load(run.id).result.best_fun).all())
        assert store.load(run.id).result.message == "The run is running."
        run.pause()
        until(lambda: store.load(run.id).status == "paused")
        until(lambda: store.load(run.id).result.nit == run.progress.iteration)
        assert store.load(run.id).trace["iteration"][-1] == run.progress.iteration
    finally:
        run.stop()
        run.wait(120)
    assert store.load(run.id).status == "stopped"
    assert store.load(run.id).message == run.message


def test_it_is_written_again_and_again_while_it_goes_on(store: Store, small: Small, until: Callable[..., None]) -> None:
    assert small().checkpoint == 1.0, "seconds between two writes where nobody says"
    run = small(checkpoint=0.2).start()
    updated: dict[int, float] = {}

    def written(times: int) -> bool:
        (record,) = store.runs()
        updated[record.iterations] = record.updated
        return len(updated) >= times

    try:
        until(lambda: run.progress.iteration > 10)
        until(lambda: written(5))
    finally:
        run.stop()
        run.wait(120)
    assert list(updated) == sorted(updated) and list(updated.values()) == sorted(updated.values())


def test_of_many_runs_at_once_each_is_written_less_often(
    store: Store, small: Small, until: Callable[..., None], tmp_path: Path
) -> None:
    """All together they have a twentieth of a processor for it; what a person has done is still written at once."""
    with Store(f"sqlite:///{tmp_path / 'alone.db'}") as other:
        store.database.recorded.update(map(str, range(10**6)))
        runs = {store: small(checkpoint=0.2), other: small(store=other, checkpoint=0.2)}
        writes: dict[Store, set[float]] = {store: set(), other: set()}

        def count(one: Store) -> int:
            writes[one].add(one.load(runs[one].id).record.updated)
            return len(writes[one])

        begun = time.monotonic()
        try:
            for run in runs.values():
                run.start()
            until(lambda: (count(store), count(other))[1] >= 12)
            seldom = 3 + (time.monotonic() - begun) / 10
            assert count(store) <= seldom, "at its beginning, once to see what it costs, and every ten seconds"
            run = runs[store]
            run.set({"primal_step": 0.9 * run.resolved["primal_step"]})
            until(lambda: len(store.load(run.id).journal) == 1)
        finally:
            for run in runs.values():
                run.stop()
                run.wait(120)
    assert not other.database.recorded and runs[store].id not in store.database.recorded


def test_a_change_and_a_pause_are_written_at_once(store: Store, small: Small, until: Callable[..., None]) -> None:
    """A person has seen them marked, and a kill a moment later may not lose them."""
    run = small(checkpoint=3600.0).start()
    try:
        until(lambda: run.progress.iteration > 20)
        assert not store.load(run.id).journal and store.load(run.id).record.iterations == 0, "nothing is due"
        run.set({"primal_step": 0.9 * run.resolved["primal_step"]})
        until(lambda: len(store.load(run.id).journal) == 1)
        assert store.load(run.id).journal[0] == run.journal[0]
        run.pause()
        until(lambda: store.load(run.id).status == "paused")
        assert store.load(run.id).result.nit == run.progress.iteration
    finally:
        run.stop()
        run.wait(120)


@pytest.mark.parametrize("capacity", [32, 256])
def test_a_long_run_keeps_a_bounded_trace(
    store: Store, small: Small, same_trace: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capacity: int
) -> None:
    """Thinned many times while it is being stored: what comes back is what the run itself has in the end."""
    from zoviz.runs import stored_run
    from zoviz.runs.engine import worker
    from zoviz.runs.engine.trace import Trace

    monkeypatch.setattr(worker, "Trace", lambda rows=capacity: Trace(min(rows, capacity)))
    for name in ("CAPACITY", "PATH_POINTS"):
        monkeypatch.setattr(stored_run, name, capacity)
    run = small(iterations=1501, checkpoint=0.01)
    run.run()
    loaded = store.load(run.id)
    same_trace(run.trace, loaded.trace)
    same_trace(run.path, loaded.path)
    assert loaded.trace.stride == run.trace.stride > 1000 // capacity
    with store.database.reading() as connection:
        held = connection.execute(select(func.sum(SEGMENTS.c.rows)).where(SEGMENTS.c.kind == "trace")).scalar_one()
    assert held <= 2 * capacity


def test_a_run_without_a_store_writes_nothing(store: Store, small: Small) -> None:
    small(store=None, iterations=5).run()
    assert store.count() == 0


def test_a_url_does_as_well(store: Store, small: Small) -> None:
    run = small(store=store.url, iterations=5)
    run.run()
    assert store.load(run.id).status == "finished"


def test_a_failed_run_keeps_what_it_had(store: Store) -> None:
    calls = []

    def breaks(x: np.ndarray) -> float:
        calls.append(x)
        if len(calls) > 60:
            raise RuntimeError("the simulator is on fire")
        return float(x @ x)

    run = Run(problem=BlackBox(breaks, bounds=[(-1, 2)] * 2), solver=ZOCEG(), replicas=1, iterations=500, store=store)
    with pytest.raises(RuntimeError, match="on fire"):
        run.run()
    stored = store.load(run.id)
    assert stored.status == "failed" and "on fire" in stored.message
    assert len(stored.trace) == len(run.trace) > 1
    with pytest.raises(ZovizError, match="Pass the problem or the solver itself"):
        _ = stored.problem


def test_a_run_that_fails_at_the_start_is_there_too(store: Store) -> None:
    run = Run(problem=BlackBox(lambda x: np.nan, bounds=[(0, 1)]), solver=ZOCEG(), calls=2, replicas=2, store=store)
    with pytest.raises(OracleError, match="Expected a value at the start"):
        run.run()
    stored = store.load(run.id)
    assert stored.status == "failed" and len(stored.trace) == 0
    with pytest.raises(ZovizError, match="no iterate yet"):
        _ = stored.result
