"""A store: runs are listed, found, annotated, deleted, restored."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from helpers.stores import EACH_KIND, Small, rows
from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.storage.database import StoreError
from zoviz.runs.storage.queries import Record
from zoviz.runs.storage.schema import PARTS, RUNS, SEGMENTS
from zoviz.runs.store import Store
from zoviz.solvers import ZOEG

pytestmark = EACH_KIND

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
            row = dict(connection.execute(select(RUNS).limit(1)).mappings().one())
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
    assert [one.id for one in store.purge()] == [five[2].id] and store.count(deleted=True) == 0 and store.count() == 4
    for table in PARTS:
        assert rows(store, table, five[2].id) == 0
    assert rows(store, SEGMENTS, five[0].id) > 0
    with pytest.raises(StoreError):
        store.load(five[2].id)


def test_a_run_that_is_purged_while_somebody_holds_it_is_missed_with_a_sentence(store: Store, five: list[Run]) -> None:
    loaded = store.load(five[1].id)
    store.delete([loaded.id])
    store.purge()
    with pytest.raises(StoreError, match="Expected a run that is in the store, got .*, which was removed meanwhile"):
        loaded.resume()


def test_a_run_at_work_is_not_purged(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = small(checkpoint=0.02).start()
    try:
        store.delete([run.id])
        assert store.purge() == []
    finally:
        run.stop()
        run.wait(120)
    assert [one.id for one in store.purge()] == [run.id]
