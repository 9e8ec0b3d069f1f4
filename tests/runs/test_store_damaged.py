"""Truncated, foreign and altered files: a sentence, and the run goes on."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from helpers.stores import Small
from zoviz.core.encoding.binary import pack
from zoviz.core.errors import ZovizError
from zoviz.runs.storage.database import StoreError
from zoviz.runs.storage.schema import RECIPES, RUNS, SEGMENTS, SNAPSHOTS, sealed
from zoviz.runs.store import Store

# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_truncated_file_is_told_from_a_whole_one(store: Store, small: Small, path: Path, share: float) -> None:
    for _ in range(3):
        small(iterations=60).run()
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    sentence = "Expected an intact file for the store .*, got a damaged file"
    try:
        with Store(f"sqlite:///{path}") as damaged:
            assert any(re.search("damaged", problems) for problems in damaged.check())
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
        run.wait(120)
    assert run.status == "stopped" and run.message.startswith("Stopped after")
    # What was in the log of writes may have mended the file; if it has not, that is said.
    message = run.message.partition("iterations.")[2]
    try:
        message += "".join(store.check())
    except StoreError as error:
        message += str(error)
    assert message == "" or re.search("Expected an intact file|damaged", message), message


@pytest.mark.parametrize("content", [b"iteration,objective\n0,1\n" * 200, b"\0" * 8192, b"SQLite"])
def test_another_file_is_no_store(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="Expected an intact file for the store .*, got a damaged file"):
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
    problems = store.check()
    assert any("segments" in one and run.id in one and "checksum" in one for one in problems)
    assert any("recipes.solver" in one and other.id in one for one in problems)
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
        until(lambda: "it was removed permanently" in run.message or "Storing failed" in run.message)
    finally:
        run.stop()
        run.wait(120)
    assert run.status == "stopped" and store.check() == []


def test_a_state_that_cannot_be_stored_is_said(store: Store, small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    from zoviz.runs.storage import rows

    def fails(worker: Any) -> bytes:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(rows, "snapshot", fails)
    run = small(iterations=30)
    assert run.run().status == "finished"
    assert "Its state could not be stored: RuntimeError: no such thing" in run.message
    assert len(store.load(run.id).trace) == 31
    with store.database.reading() as connection:
        assert connection.execute(select(SNAPSHOTS)).all() == []


@pytest.mark.parametrize(
    "altered",
    [{"x": 1}, {"hits": []}, {"hits": 3, "active": True, "spent_calls": "no"}, ["hits"]],
    ids=["another thing", "parts missing", "parts of other kinds", "a list"],
)
def test_an_altered_outcome_is_told_when_its_run_is_loaded(store: Store, small: Small, altered: Any) -> None:
    """Not later: a page has it on its plots by then, and would fail at each look."""
    whole, broken = small(iterations=5), small(iterations=5)
    for run in (whole, broken):
        run.run()
    with store.database.writing() as connection:
        own = (SNAPSHOTS.c.run == broken.id, SNAPSHOTS.c.kind == "outcome")
        connection.execute(update(SNAPSHOTS).where(*own).values(**sealed(pack(altered))))
    with pytest.raises(ZovizError, match=f"Expected the outcome of the run {broken.id[:8]} .*hits"):
        store.load(broken.id)
    assert store.load(whole.id).hits == []
