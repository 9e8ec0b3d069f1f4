"""A study on a cluster of Dask's, of which a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import Study
from zoviz.problems import LoadTracking
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG
from zoviz.studies.study import grid


def dask_sweep(store: Store, runs: int, iterations: int, kill_at: int, folder: Path) -> dict[str, Any]:
    """A sweep on a cluster of two processes, of which one is killed when so many runs are done."""
    distributed = pytest.importorskip("distributed")
    values = grid({"primal_step": np.geomspace(1e-5, 1e-3, runs).tolist()})
    problem = LoadTracking(n=5, curtailment=40.0)
    study = Study("sweep", problem, ZOCEG(), values=values, replicas=1, iterations=iterations, store=store)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=folder
        ) as two,
        distributed.Client(two) as client,
    ):
        pids = list(client.run(os.getpid).values())
        killed, ended = threading.Event(), threading.Event()

        def kill() -> None:
            """When so many are done, one of them by the victim, which is at another."""
            while not ended.is_set():
                records = [(one.status, one.pid == pids[0]) for one in store.runs()]
                count = sum(status == "finished" for status, _ in records)
                if count >= kill_at and {("finished", True), ("running", True)} <= set(records):
                    os.kill(pids[0], signal.SIGKILL)
                    killed.set()
                    return
                time.sleep(0.02)

        killer = threading.Thread(target=kill)
        killer.start()
        started = time.monotonic()
        study.run(executor=client.get_executor(), progress=False)
        seconds = time.monotonic() - started
        ended.set()
        killer.join()
    assert killed.is_set(), "nobody was killed"
    return {"study": study, "pids": pids, "seconds": seconds}


def check_sweep(report: dict[str, Any], store: Store, runs: int) -> None:
    study = report["study"]
    records = store.runs(study="sweep")
    assert len(records) == store.count() == runs and {one.status for one in records} == {"finished"}
    assert {one.id for one in records} == {cell.id for cell in study.cells}
    assert {one.iterations for one in records} == {max(one.iterations for one in records)}
    assert report["pids"][0] in {one.pid for one in records}, "the killed one had done some"
    assert os.getpid() not in {one.pid for one in records} and store.check() == []


@pytest.mark.slow  # tests/problems/user/test_blackbox_dask.py has workers that die
def test_a_sweep_on_dask_outlives_a_killed_worker(store: Store, tmp_path: Path) -> None:
    check_sweep(dask_sweep(store, 10, 1000, 2, tmp_path), store, 10)


@pytest.mark.slow
def test_200_runs_on_dask_outlive_a_killed_worker(store: Store, tmp_path: Path) -> None:
    report = dask_sweep(store, 200, 1000, 60, tmp_path)
    check_sweep(report, store, 200)
    by = {pid: sum(one.pid == pid for one in store.runs()) for pid in {one.pid for one in store.runs()}}
    print(f"200 runs in {report['seconds']:.0f} s, by process {by}, killed {report['pids'][0]}")
