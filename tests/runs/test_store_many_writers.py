"""Eight processes that write into one store at once, SQLite's and PostgreSQL's; nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz import Run
from zoviz.runs.store import Store

PROCESSES, RUNS = 8, 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forks")
def test_eight_processes_write_at_once(url: str) -> None:
    """The store is new: they make its tables at once, too."""
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "helpers.store_writers", url, str(PROCESSES), str(RUNS)]
    process = subprocess.run(command, env=os.environ | paths, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    report = [json.loads(line) for line in process.stdout.splitlines()]
    assert len({one["id"] for one in report}) == PROCESSES * RUNS
    assert {one["message"] for one in report} == {"The budget of 120 iterations is spent."}, "no trouble with the store"
    with Store(url) as store:
        assert store.check() == []
        assert store.count() == store.count(status="finished") == PROCESSES * RUNS
        assert {record.label for record in store.runs()} == {f"{p}/{i}" for p in range(PROCESSES) for i in range(RUNS)}
        for one in report:
            stored = store.load(one["id"])
            np.testing.assert_array_equal(stored.result.x, one["x"])
            assert len(stored.trace) == one["rows"] == 121
            assert len(stored.journal) == 1 and stored.journal[0].iteration == 50


def test_readers_and_threads_do_not_get_in_the_way(url: str, small: Callable[..., Run]) -> None:
    with Store(url) as store:
        runs = [small(store=store, checkpoint=0.01, seed=i) for i in range(2)]
        for run in runs:
            run.start()
        trouble: list[BaseException] = []

        def look() -> None:
            try:
                for _ in range(6):
                    assert store.count() == 2
                    for record in store.runs(sort="-updated", limit=2):
                        store.load(record.id)
                        store.annotate(record.id, notes=f"at {record.iterations}")
            except BaseException as error:
                trouble.append(error)

        readers = [threading.Thread(target=look) for _ in range(2)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        for run in runs:
            run.stop()
            run.wait(120)
        assert trouble == [] and store.check() == []
        assert all(run.message.endswith("iterations.") for run in runs)
        assert all(record.notes.startswith("at ") for record in store.runs())
