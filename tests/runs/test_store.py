"""A store: what is written while a run goes on, what is read back, listed, annotated, deleted, repeated."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, func, select

from zoviz import Run
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.database import StoreError
from zoviz.runs.listing import Record
from zoviz.runs.store import Store
from zoviz.runs.tables import JOURNAL, PARTS, RUNS, SEGMENTS
from zoviz.solvers import ZOCEG, ZOEG
from zoviz.types import ZovizError

Small = Callable[..., Run]


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Of each kind, and empty: the same tests for SQLite and PostgreSQL."""
    if request.param == "sqlite":
        with Store(f"sqlite:///{tmp_path / 'zoviz.db'}") as one:
            yield one
        return
    one = request.getfixturevalue("shared")
    with one.database.writing() as connection:
        connection.execute(delete(RUNS))
    yield one


def rows(store: Store, table: Any, run: str | None = None) -> int:
    query = select(func.count()).select_from(table)
    with store.database.reading() as connection:
        return connection.execute(query if run is None else query.where(table.c.run == run)).scalar_one()


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
        "success",
        "multipliers",
        "best_feasible",
        "best_value",
        "calls",
        "nfev",
        "failures",
    ):
        np.testing.assert_array_equal(getattr(stored.result, name), getattr(result, name), err_msg=name)
    assert (stored.result.message, stored.result.nit, stored.seed) == (result.message, 300, 3)
    assert stored.resolved == run.resolved and stored.progress == run.progress and not stored.active
    assert [(t.metric, t.threshold) for t in stored.hits] == [(t.metric, t.threshold) for t in run.hits]
    for mine, theirs in zip(stored.hits, run.hits, strict=True):
        np.testing.assert_array_equal(mine.seconds, theirs.seconds)
    assert stored.versions["numpy"] == np.__version__ and "python" in stored.versions
    assert stored.problem.n == 5 and stored.solver.primal_step is None
    record = stored.record
    assert (record.label, record.study, record.status, record.iterations) == ("the first", "one", "finished", 300)
    assert record.objective == pytest.approx(result.fun.mean()) and record.violation == result.maxcv.max()
    assert record.best_value == result.best_value.min() and record.calls == run.progress.calls


def test_a_run_is_in_the_store_while_it_goes_on(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = small(checkpoint=0.05).start()
    try:
        assert store.load(run.id).status == "running" and store.count(status="running") == 1
        until(lambda: store.load(run.id).record.iterations > 20 and len(store.load(run.id).trace) > 20)
        run.change("primal_step", 0.9 * run.resolved["primal_step"])
        until(lambda: len(store.load(run.id).journal) == 1)
        assert store.load(run.id).journal[0] == run.journal[0]
        until(lambda: np.isfinite(store.load(run.id).result.best_value).all())
        assert store.load(run.id).result.message == "The run is running."
        run.pause()
        until(lambda: store.load(run.id).status == "paused")
        until(lambda: store.load(run.id).result.nit == run.progress.iteration)
        assert store.load(run.id).trace["iteration"][-1] == run.progress.iteration
    finally:
        run.stop()
        run.wait(10)
    assert store.load(run.id).status == "stopped"
    assert store.load(run.id).message == run.message


def test_it_is_flushed_at_least_once_a_second(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = small().start()  # with the default checkpoint
    try:
        until(lambda: run.progress.iteration > 10)
        records, end = [], time.monotonic() + 2.7
        while time.monotonic() < end:
            records.append(store.runs()[0])
            time.sleep(0.02)
    finally:
        run.stop()
        run.wait(10)
    seen = {record.updated: record.iterations for record in records}
    assert len(seen) >= 3 and list(seen.values()) == sorted(set(seen.values()))
    assert np.median(np.diff(list(seen))) <= 1.0


def test_a_long_run_keeps_a_bounded_trace(
    store: Store, small: Small, same_trace: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thinned many times while it is being stored: what comes back is what the run itself has in the end."""
    from zoviz.runs import stored, worker
    from zoviz.runs.trace import Trace

    monkeypatch.setattr(worker, "Trace", lambda capacity=32: Trace(min(capacity, 32)))
    monkeypatch.setattr(stored, "CAPACITY", 32)
    run = small(iterations=1501, checkpoint=0.01)
    run.run()
    loaded = store.load(run.id)
    same_trace(run.trace, loaded.trace)
    same_trace(run.path, loaded.path)
    assert loaded.trace.stride == run.trace.stride > 16
    with store.database.reading() as connection:
        held = connection.execute(select(func.sum(SEGMENTS.c.rows)).where(SEGMENTS.c.kind == "trace")).scalar_one()
    assert held <= 2 * 32


def test_a_run_without_a_store_writes_nothing(store: Store, small: Small) -> None:
    small(store=None, iterations=5).run()
    assert store.count() == 0


def test_a_url_does_as_well(store: Store, small: Small) -> None:
    run = small(store=store.url, iterations=5)
    run.run()
    assert store.load(run.id).status == "finished"


def test_a_failed_run_keeps_what_it_had(store: Store) -> None:
    asked = []

    def breaks(x: np.ndarray) -> float:
        asked.append(x)
        if len(asked) > 60:
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
    run = Run(problem=BlackBox(), solver=ZOCEG(), calls=2, replicas=2, store=store)
    with pytest.raises(ValueError, match="Expected a budget"):
        run.run()
    stored = store.load(run.id)
    assert stored.status == "failed" and len(stored.trace) == 0
    with pytest.raises(ZovizError, match="no iterate yet"):
        _ = stored.result


# --- listing ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def five(store: Store, small: Small) -> list[Run]:
    runs = [small(iterations=i, label=f"run {i}", seed=i) for i in range(1, 4)]
    runs += [small(iterations=2, solver=ZOEG()), small(iterations=2, problem=NonconvexQCQP())]
    for run in runs:
        run.run()
    return runs


def test_runs_are_found_filtered_and_sorted(store: Store, five: list[Run]) -> None:
    ids = [run.id for run in five]
    assert [r.id for r in store.runs()] == ids[::-1]
    assert [r.id for r in store.runs(sort="created")] == ids
    assert [r.iterations for r in store.runs(sort="-iterations", limit=2)] == [3, 2]
    assert [r.id for r in store.runs(sort="created", limit=2, offset=3)] == ids[3:]
    assert [r.id for r in store.runs(solver="ZOEG")] == [ids[3]]
    assert [r.id for r in store.runs(problem="NonconvexQCQP")] == [ids[4]]
    assert [r.label for r in store.runs(text="RUN 2")] == ["run 2"]
    assert store.runs(text=ids[1][:9])[0].id == ids[1]
    assert store.runs(text="100%") == [] and store.runs(status="running") == []
    assert store.count() == store.count(status="finished") == 5 and store.count(solver="ZOCEG", text="run") == 3
    for field in Record._fields:
        assert len(store.runs(sort=field)) == len(store.runs(sort=f"-{field}")) == 5


def test_bad_questions_get_a_sentence(store: Store, five: list[Run]) -> None:
    for bad in (lambda: store.runs(sort="id; DROP TABLE runs"), lambda: store.runs(status="dead")):
        with pytest.raises(StoreError, match="Expected"):
            bad()
    with pytest.raises(StoreError, match="Expected the id of a run in .*, got 'zzz'"):
        store.load("zzz")
    with pytest.raises(StoreError, match="Expected the id"):
        store.load("")


def test_a_unique_beginning_of_an_id_is_enough(store: Store, five: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.load(five[0].id[:12]).id == five[0].id
    with store.database.writing() as connection:
        for i, end in enumerate("0f"):
            row = dict(connection.execute(select(RUNS).limit(1)).one()._mapping)
            connection.execute(RUNS.insert().values(row | {"id": "ab" * 15 + f"{i}{end}"}))
    with pytest.raises(StoreError, match="got several whose id begins with 'abab'"):
        store.delete(["abab"])


def test_notes_tags_and_labels(store: Store, five: list[Run]) -> None:
    run = five[0].id
    store.annotate(run, label="renamed", notes="It stalls at 100%.", tags=("slow", "paper one", "slow", " "))
    store.annotate(five[1].id, tags=["paper"])
    record = store.load(run).record
    assert (record.label, record.notes, record.tags) == ("renamed", "It stalls at 100%.", ("paper one", "slow"))
    assert [r.id for r in store.runs(tag="paper one")] == [run] and store.runs(tag="pap%r") == []
    assert [r.id for r in store.runs(text="100%")] == [run]
    store.annotate(run, tags=())
    assert store.load(run).record.tags == () and store.load(run).label == "renamed"


def test_delete_restore_purge(store: Store, five: list[Run]) -> None:
    gone = [five[0].id, five[2].id[:10]]
    store.delete(gone)
    assert store.count() == 3 and store.count(deleted=True) == 2
    assert store.load(five[0].id).status == "finished"
    store.restore(gone[:1])
    assert store.count() == 4
    assert store.purge() == 1 and store.count(deleted=True) == 0 and store.count() == 4
    for table in PARTS:
        assert rows(store, table, five[2].id) == 0
    assert rows(store, SEGMENTS, five[0].id) > 0
    with pytest.raises(StoreError):
        store.load(five[2].id)


def test_a_run_at_work_is_not_purged(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = small(checkpoint=0.02).start()
    try:
        store.delete([run.id])
        assert store.purge() == 0
    finally:
        run.stop()
        run.wait(10)
    assert store.purge() == 1


# --- once more --------------------------------------------------------------------------------------------------------


def steered(small: Small, until: Callable[..., None]) -> Run:
    run = small(checkpoint=0.05).start()
    until(lambda: run.progress.iteration > 10)
    run.change("primal_step", 0.5 * run.resolved["primal_step"])
    run.change("estimator.smoothing_radius", 1e-4)
    until(lambda: len(run.journal) == 2 and run.progress.iteration > run.journal[1].iteration + 20)
    run.stop()
    run.wait(10)
    return run


def test_replay_repeats_every_bit(
    store: Store, small: Small, until: Callable[..., None], same_trace: Callable[..., None]
) -> None:
    run = steered(small, until)
    again = store.replay(run.id)
    result = again.run()
    np.testing.assert_array_equal(result.x, run.result.x)
    same_trace(again.trace, run.trace, but=("seconds",))
    assert again.id != run.id and store.load(again.id).record.parent == run.id
    assert [c.name for c in store.load(again.id).journal] == ["primal_step", "estimator.smoothing_radius"]
    assert len(store.load(again.id).script) == 2 and store.runs(parent=run.id)[0].id == again.id


def test_fork_goes_another_way(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = steered(small, until)
    at = run.journal[0].iteration
    fork = store.fork(run.id, at, {"primal_step": 1e-3}, iterations=at + 20)
    fork.run()
    live = run.fork(at, {"primal_step": 1e-3}, iterations=at + 20)
    np.testing.assert_array_equal(live.run().x, fork.result.x)
    np.testing.assert_array_equal(fork.trace["objective"][: at + 1], run.trace["objective"][: at + 1])
    assert not np.array_equal(fork.trace["objective"][at + 1], run.trace["objective"][at + 1])
    assert {r.id for r in store.runs(parent=run.id)} == {fork.id, live.id}
    with pytest.raises(ValueError, match="to change, got 'seed'"):
        store.fork(run.id, at, {"seed": 1})


def test_the_calls_that_ended_a_run_end_its_replay(store: Store, small: Small) -> None:
    run = small(calls=101)
    run.run()
    again = store.replay(run.id)
    assert again.run().nit == run.result.nit and again.status == "finished"
    np.testing.assert_array_equal(again.result.x, run.result.x)


def test_functions_without_a_name_are_passed_along(store: Store) -> None:
    problem = BlackBox(lambda x: float(x @ x), bounds=[(-1.0, 2.0)] * 2)
    run = Run(problem=problem, solver=ZOCEG(), replicas=1, iterations=5, store=store)
    run.run()
    with pytest.raises(ZovizError, match="Pass the problem"):
        store.replay(run.id)
    np.testing.assert_array_equal(store.replay(run.id, problem=problem).run().x, run.result.x)
    with pytest.raises(ZovizError, match="Expected problem"):
        store.replay(run.id, problem=BlackBox(lambda x: 0.0, bounds=[(-1.0, 3.0)] * 2))


def test_a_store_travels_by_its_url(store: Store, small: Small) -> None:
    small(iterations=2).run()
    twin = pickle.loads(pickle.dumps(store))
    assert twin.count() == 1 and twin.url == store.url
    twin.close()
    assert rows(store, JOURNAL) == 0


def test_checkpoint_takes_seconds_or_every_call(small: Small) -> None:
    for bad in (0, -1.0, "often", None, True, float("nan")):
        with pytest.raises(ValueError, match="a positive number of seconds or 'every call'"):
            small(checkpoint=bad)
    assert small(checkpoint="every call").checkpoint == "every call"
