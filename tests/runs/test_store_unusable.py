"""Read-only, locked, newer, older stores, and what is no store's address: a sentence each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert, select, update

from helpers.stores import Small
from zoviz.core.errors import MissingExtra, ZovizError
from zoviz.runs.storage import database
from zoviz.runs.storage.database import StoreError
from zoviz.runs.storage.schema import MIGRATIONS, RUNS, VERSION, VERSIONS
from zoviz.runs.store import Store

# --- a store that cannot be written -----------------------------------------------------------------------------------


def read_only(path: Path) -> str:
    return f"sqlite:///file:{path}?mode=ro&uri=true"


def test_a_read_only_store_is_read_and_a_run_goes_on_without_it(store: Store, small: Small, path: Path) -> None:
    first = small(iterations=20)
    first.run()
    with Store(read_only(path)) as frozen:
        assert frozen.count() == 1 and frozen.check() == []
        np.testing.assert_array_equal(frozen.load(first.id).result.x, first.result.x)
        for write in (lambda: frozen.annotate(first.id, label="x"), lambda: frozen.delete([first.id])):
            with pytest.raises(StoreError, match="Expected a store that can be written.*readonly"):
                write()
        run = small(store=frozen, iterations=20)
        np.testing.assert_array_equal(run.run().x, first.result.x)
        assert run.status == "finished" and "Expected a store that can be written" in run.message
    assert store.count() == 1 and store.load(first.id).label == ""


def test_a_store_cannot_be_made_where_nothing_can_be_written(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match="Expected a store that can be written"):
        Store(read_only(tmp_path / "empty.db"))
    for missing in (tmp_path / "no" / "such.db", tmp_path):
        with pytest.raises(StoreError, match="Expected a file that can be opened for the store"):
            Store(f"sqlite:///{missing}")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("zoviz.db", "Expected a URL such as sqlite:///zoviz.db, got 'zoviz.db'"),
        ("mysql://me@here/runs", "Expected sqlite:///file.db or postgresql://user@host/name, got mysql"),
        ("sqlite://", "Expected a file for the store, got none"),
        ("sqlite:///:memory:", "Expected a file for the store, got none"),
        ("postgresql://nobody@127.0.0.1:1/nothing", "Expected a server for the store .*, got no answer"),
    ],
)
def test_bad_urls_get_a_sentence(url: str, sentence: str) -> None:
    if url.startswith("postgresql"):
        pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match=sentence):
        Store(url)


def test_a_missing_driver_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r'Expected the package psycopg, .*pip install "zoviz\[postgres\]"'):
        Store("postgresql://me@127.0.0.1:1/runs")


def test_a_run_does_not_begin_where_there_is_no_store(small: Small, tmp_path: Path) -> None:
    run = small(store=f"sqlite:///{tmp_path / 'no' / 'such.db'}", iterations=3)
    with pytest.raises(StoreError, match="Expected a file that can be opened"):
        run.run()


def test_a_locked_store_is_waited_for_and_then_done_without(
    small: Small, path: Path, monkeypatch: pytest.MonkeyPatch, same_trace: Callable[..., None]
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    with Store(f"sqlite:///{path}") as hasty, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        run = small(store=hasty, iterations=30)
        run.run()
        assert "Expected a turn to write for the store" in run.message and "none for 0.1 s" in run.message
        other.execute("ROLLBACK")
        assert hasty.count() == 0 and hasty.check() == []


# --- versions ---------------------------------------------------------------------------------------------------------


def test_a_newer_store_is_left_alone(store: Store, small: Small, path: Path) -> None:
    small(iterations=3).run()
    with store.database.writing() as connection:
        connection.execute(insert(VERSIONS).values(version=99, since=0.0))
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=rf"version {VERSION} at most, got version 99 in .*: .*update this"):
        Store(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_runs_that_version_3_did_not_count_have_no_samples(store: Store, small: Small, path: Path) -> None:
    early, late = small(iterations=3), small(iterations=4)
    early.run()
    late.run()
    with store.database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE studies")
        connection.exec_driver_sql("DROP INDEX runs_owner")
        for name in ("samples", "zeta_samples", "owner"):
            connection.exec_driver_sql(f"ALTER TABLE runs DROP COLUMN {name}")
        connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN samples BIGINT NOT NULL DEFAULT 0")
        connection.execute(update(RUNS).where(RUNS.c.id == late.id).values(samples=7))
        since = store.load(late.id).record.created - 1e-6
        connection.execute(update(RUNS).where(RUNS.c.id == early.id).values(created=since - 10.0))
        connection.execute(update(VERSIONS).values(version=3, since=since))
    store.close()
    with Store(f"sqlite:///{path}") as today:
        assert [today.load(run.id).record.samples for run in (early, late)] == [None, 7]
        assert [today.load(run.id).record.zeta_samples for run in (early, late)] == [None, None]


def test_runs_of_before_there_were_owners_are_nobodys(store: Store, small: Small, path: Path) -> None:
    small(iterations=3).run()
    with store.database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE studies")
        connection.exec_driver_sql("DROP INDEX runs_owner")
        connection.exec_driver_sql("ALTER TABLE runs DROP COLUMN owner")
        connection.execute(update(VERSIONS).values(version=5))
    store.close()
    with Store(f"sqlite:///{path}") as today:
        assert [one.owner for one in today.runs()] == [""] and today.of_owner("ann").count() == 0
        small(iterations=2, store=today.of_owner("ann")).run()
        assert today.count() == 2 and today.of_owner("ann").count() == 1


def test_a_store_of_before_studies_were_listed_lists_none_and_then_its_own(store: Store, path: Path) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE studies")
        connection.execute(update(VERSIONS).values(version=6))
    store.close()
    with Store(f"sqlite:///{path}") as today:
        assert today.studies() == [] and today.study("s") is None
        today.begin_study("s", {"runs": []})
        today.end_study("s")
        assert [(one.name, one.definition, one.active) for one in today.studies()] == [("s", {"runs": []}, False)]


def test_an_older_store_is_brought_here(
    store: Store, small: Small, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of migration, as it will be written when the tables change; all or nothing."""
    run = small(iterations=3)
    run.run()
    steps: dict[int, Any] = {}
    monkeypatch.setattr(database, "VERSION", VERSION + 2)
    monkeypatch.setattr(database, "MIGRATIONS", steps)
    steps[VERSION] = lambda connection: connection.execute(update(RUNS).values(notes="brought here"))

    def fails(connection: Any) -> None:
        connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour TEXT")
        raise ZovizError("Expected a colour, got none.")

    steps[VERSION + 1] = fails
    with pytest.raises(ZovizError, match="Expected a colour"):
        Store(f"sqlite:///{path}")
    assert store.load(run.id).record.notes == "" and store.database.version() == VERSION
    steps[VERSION + 1] = lambda connection: connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour TEXT")
    with Store(f"sqlite:///{path}") as newer:
        assert newer.load(run.id).record.notes == "brought here" and newer.database.version() == VERSION + 2
        with newer.database.reading() as connection:
            assert connection.exec_driver_sql("SELECT colour FROM runs").all() == [(None,)]
            assert len(connection.execute(select(VERSIONS)).all()) == 2
    assert MIGRATIONS.keys() == {1, 2, 3, 4, 5, 6}, (
        "write a test of a new step: test_store_first_version has those of these"
    )
