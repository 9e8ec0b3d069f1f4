"""Must show 3: full disks, read-only, newer, truncated, locked stores: a sentence, the run goes on, nothing is lost."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, event, insert, select, update

from zoviz import Run
from zoviz.runs import database
from zoviz.runs.database import StoreError
from zoviz.runs.migrations import MIGRATIONS
from zoviz.runs.store import Store
from zoviz.runs.tables import RECIPES, RUNS, SEGMENTS, SNAPSHOTS, VERSIONS
from zoviz.types import MissingExtra, ZovizError

Small = Callable[..., Run]


@pytest.fixture
def path(store: Store) -> Path:
    return Path(store.database.name)


@contextmanager
def room(store: Store, pages: int | None) -> Iterator[None]:
    """A disk with so many pages more for the store than it has."""

    def limit(connection: Any, record: Any) -> None:
        (held,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={held + pages}").close()

    store.close()
    event.listen(store.database.engine, "connect", limit)
    yield
    event.remove(store.database.engine, "connect", limit)
    store.close()


# --- a full disk ------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_when_the_disk_is_full(store: Store, small: Small, same_trace: Callable[..., None]) -> None:
    before = small(iterations=50)
    before.run()
    run = small(iterations=400, checkpoint=0.01)
    with room(store, 3):
        result = run.run()
    assert result.status == "finished" and result.nit == 400
    assert "Storing failed: Expected room on the disk for the store" in run.message
    assert "database or disk is full" in run.message and "free some space" in run.message
    assert store.check() == []
    same_trace(store.load(before.id).trace, before.trace)
    np.testing.assert_array_equal(store.load(before.id).result.x, before.result.x)
    again = small(iterations=400)
    np.testing.assert_array_equal(again.run().x, result.x)
    assert store.load(again.id).status == "finished"


def test_nothing_is_lost_when_there_is_room_again(
    store: Store, small: Small, until: Callable[..., None], same_trace: Callable[..., None]
) -> None:
    with room(store, 2):
        run = small(checkpoint=0.02).start()
        until(lambda: "Expected room on the disk" in run.message)
        until(lambda: run.progress.iteration > 100)
        run.change("primal_step", 0.5 * run.resolved["primal_step"])
        until(lambda: len(run.journal) == 1)
        assert run.status == "running"
    try:
        until(lambda: store.count() == 1 and "Expected room" not in run.message)
    finally:
        run.stop()
        run.wait(10)
    assert run.message == f"Stopped after {run.progress.iteration} iterations." == store.load(run.id).message
    same_trace(store.load(run.id).trace, run.trace)
    assert store.load(run.id).journal[0] == run.journal[0]
    assert store.check() == []


def test_a_real_small_disk(small: Small, tmp_path: Path) -> None:
    """A file system of 400 kB, filled up by somebody else in mid-run, then cleared."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("mounting takes rights")
    try:
        with Store(f"sqlite:///{disk / 'zoviz.db'}") as store:
            first = small(store=store, iterations=5)
            first.run()
            with pytest.raises(OSError), open(disk / "big", "wb") as big:
                while True:
                    big.write(bytes(4096))
                    big.flush()
            run = small(store=store, iterations=200)
            assert run.run().status == "finished"
            assert "Expected room on the disk" in run.message
            (disk / "big").unlink()
            assert store.check() == [] and [r.id for r in store.runs()] == [first.id]
            again = small(store=store, iterations=100)
            assert again.run().message == "The budget of 100 iterations is spent." == store.load(again.id).message
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# --- a store that cannot be written -----------------------------------------------------------------------------------


def read_only(path: Path) -> str:
    return f"sqlite:///file:{path}?mode=ro&uri=true"


def test_a_read_only_store_is_read_and_a_run_goes_on_without_it(store: Store, small: Small, path: Path) -> None:
    kept = small(iterations=20)
    kept.run()
    with Store(read_only(path)) as frozen:
        assert frozen.count() == 1 and frozen.check() == []
        np.testing.assert_array_equal(frozen.load(kept.id).result.x, kept.result.x)
        for write in (lambda: frozen.annotate(kept.id, label="x"), lambda: frozen.delete([kept.id])):
            with pytest.raises(StoreError, match="Expected a store that can be written.*readonly"):
                write()
        run = small(store=frozen, iterations=20)
        np.testing.assert_array_equal(run.run().x, kept.result.x)
        assert run.status == "finished" and "Expected a store that can be written" in run.message
    assert store.count() == 1 and store.load(kept.id).label == ""


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
    with pytest.raises(MissingExtra, match=r"pip install 'zoviz\[postgres\]'"):
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
    with pytest.raises(StoreError, match=r"Expected a store of version 1 at most, got version 99 in .*: .*update this"):
        Store(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_an_older_store_is_brought_here(
    store: Store, small: Small, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of migration, as it will be written when the tables change; all or nothing."""
    run = small(iterations=3)
    run.run()
    steps: dict[int, Any] = {}
    monkeypatch.setattr(database, "VERSION", 3)
    monkeypatch.setattr(database, "MIGRATIONS", steps)
    steps[1] = lambda connection: connection.execute(update(RUNS).values(notes="brought to 2"))

    def fails(connection: Any) -> None:
        connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour TEXT")
        raise ZovizError("Expected a colour, got none.")

    steps[2] = fails
    with pytest.raises(ZovizError, match="Expected a colour"):
        Store(f"sqlite:///{path}")
    assert store.load(run.id).record.notes == "" and store.database.version() == 1
    steps[2] = lambda connection: connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour TEXT")
    with Store(f"sqlite:///{path}") as newer:
        assert newer.load(run.id).record.notes == "brought to 2" and newer.database.version() == 3
        with newer.database.reading() as connection:
            assert connection.exec_driver_sql("SELECT colour FROM runs").all() == [(None,)]
            assert len(connection.execute(select(VERSIONS)).all()) == 2
    assert dict(MIGRATIONS) == {}, "write a test of the real step"


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_truncated_file_is_told_from_a_whole_one(store: Store, small: Small, path: Path, share: float) -> None:
    for _ in range(3):
        small(iterations=60).run()
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    sentence = "Expected a whole store for the store .*, got a damaged file"
    try:
        with Store(f"sqlite:///{path}") as damaged:
            assert any(re.search("damaged", told) for told in damaged.check())
            run = small(store=damaged, iterations=30)
            assert run.run().status == "finished", "with or without a note on the store"
    except StoreError as error:
        assert re.match(sentence, str(error)), error


def test_a_file_cut_short_under_a_run(store: Store, small: Small, path: Path, until: Callable[..., None]) -> None:
    run = small(checkpoint=0.02).start()
    try:
        until(lambda: store.load(run.id).record.iterations > 10)
        with open(path, "r+b") as file:
            file.truncate(1000)
        here = run.progress.iteration
        until(lambda: run.progress.iteration > here + 300)
    finally:
        run.stop()
        run.wait(10)
    assert run.status == "stopped" and run.message.startswith("Stopped after")
    # What was in the log of writes may have mended the file; if it has not, that is said.
    told = run.message.partition("iterations.")[2]
    try:
        told += "".join(store.check())
    except StoreError as error:
        told += str(error)
    assert told == "" or re.search("Expected a whole store|damaged", told), told


@pytest.mark.parametrize("content", [b"iteration,objective\n0,1\n" * 200, b"\0" * 8192, b"SQLite"])
def test_another_file_is_no_store(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="Expected a whole store for the store .*, got a damaged file"):
        Store(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_the_check_finds_what_was_changed_by_hand(store: Store, small: Small) -> None:
    run, other = small(iterations=10), small(iterations=10)
    run.run(), other.run()
    assert store.check() == []
    with store.database.writing() as connection:
        (data,) = connection.execute(select(SEGMENTS.c.data).where(SEGMENTS.c.run == run.id).limit(1)).one()
        damaged = data[:300] + bytes([data[300] ^ 1]) + data[301:]
        connection.execute(update(SEGMENTS).where(SEGMENTS.c.run == run.id).values(data=damaged))
        connection.execute(update(RECIPES).where(RECIPES.c.run == other.id).values(solver='{"class": '))
    told = store.check()
    assert any("segments" in one and run.id in one and "checksum" in one for one in told)
    assert any("recipes.solver" in one and other.id in one for one in told)
    with pytest.raises(ZovizError, match="Expected"):
        store.load(run.id)
    with sqlite3.connect(store.database.name) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("DELETE FROM runs WHERE id = ?", [other.id])
    connection.close()
    assert any("belongs to no run" in one or other.id in one for one in store.check())
    with store.database.writing() as connection:
        connection.execute(delete(RECIPES).where(RECIPES.c.run == run.id))
    assert any("no recipe" in one for one in store.check())


def test_a_run_removed_for_good_while_it_goes_on(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = small(checkpoint=0.02).start()
    try:
        until(lambda: run.progress.iteration > 10)
        with store.database.writing() as connection:
            connection.execute(delete(RUNS).where(RUNS.c.id == run.id))
        until(lambda: "it was removed for good" in run.message or "Storing failed" in run.message)
    finally:
        run.stop()
        run.wait(10)
    assert run.status == "stopped" and store.check() == []


def test_a_state_that_cannot_be_stored_is_said(store: Store, small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    from zoviz.runs import ledgers

    def fails(worker: Any) -> bytes:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(ledgers, "capture", fails)
    run = small(iterations=30)
    started = time.monotonic()
    assert run.run().status == "finished" and time.monotonic() - started < 20
    assert "Its state could not be stored: RuntimeError: no such thing" in run.message
    assert len(store.load(run.id).trace) == 31
    with store.database.reading() as connection:
        assert connection.execute(select(SNAPSHOTS)).all() == []
