"""Read-only and locked stores, other versions', and what is no store's address: a sentence each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert

from helpers.stores import Small
from zoviz.core.encoding.binary import pack
from zoviz.core.errors import MissingExtra, ZovizError
from zoviz.runs.engine import checkpoint
from zoviz.runs.storage import database
from zoviz.runs.storage.database import StoreError
from zoviz.runs.storage.schema import VERSION, VERSIONS
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
        assert "Expected write access for the store" in run.message and "none for 0.1 s" in run.message
        other.execute("ROLLBACK")
        assert hasty.count() == 0 and hasty.check() == []


# --- versions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [VERSION + 1, 7, 99])
def test_a_store_of_another_version_is_left_alone(store: Store, small: Small, path: Path, other: int) -> None:
    small(iterations=3).run()
    with store.database.writing() as connection:
        connection.execute(insert(VERSIONS).values(version=other, since=0.0))
    store.close()
    before = path.read_bytes()
    for create in (True, False):
        sentence = rf"Expected a store of version {VERSION}, got version {other} in .*: .*use that version"
        with pytest.raises(StoreError, match=sentence):
            Store(f"sqlite:///{path}", create=create)
    assert path.read_bytes() == before


def test_formats_begin_at_1(store: Store) -> None:
    """From 0.1.0 on who raises one adds a migration and a test of it, and changes this one."""
    assert store.database.version() == VERSION == checkpoint.VERSION == 1
    assert pack(None).startswith(b"zoviz pack 1\n")


@pytest.mark.parametrize("content", [{"version": checkpoint.VERSION + 1}, {"version": 3}, {"iteration": 7}])
def test_a_checkpoint_of_another_version_is_refused(content: dict[str, Any]) -> None:
    got = content.get("version")
    sentence = f"Expected a checkpoint of version {checkpoint.VERSION}, got {got}: .*resume the run with that one"
    with pytest.raises(ZovizError, match=sentence):
        checkpoint.points(pack(content))
