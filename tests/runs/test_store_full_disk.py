"""A full disk: a sentence, the run goes on, nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from helpers.stores import Small
from zoviz.runs.store import Store


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
        run.set({"primal_step": 0.5 * run.resolved["primal_step"]})
        until(lambda: len(run.journal) == 1)
        assert run.status == "running"
    try:
        until(lambda: store.count() == 1 and "Expected room" not in run.message)
    finally:
        run.stop()
        run.wait(120)
    assert run.message == f"Stopped after {run.progress.iteration} iterations." == store.load(run.id).message
    same_trace(store.load(run.id).trace, run.trace)
    assert store.load(run.id).journal[0] == run.journal[0]
    assert store.check() == []


def test_a_real_small_disk(small: Small, tmp_path: Path) -> None:
    """A file system of 16 MB, filled up by somebody else in mid-run, then cleared."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], capture_output=True
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
