"""Runs whose processes were really killed: they go on bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from helpers.project import ROOT
from helpers.same_run import assert_same_course
from helpers.waiting import until
from zoviz.runs.store import Store

# --- real processes, really killed ------------------------------------------------------------------------------------


SCRIPT = """
    import sys
    import numpy as np
    from zoviz import Run
    from zoviz.problems import BlackBox, NonconvexQCQP
    from zoviz.runs.store import Store
    from zoviz.solvers import CMAES, ZOCEG, ZOSPLM

    kind, url = sys.argv[1], sys.argv[2]

    def f_at(x):
        with open("calls.txt", "a") as file:
            file.write(".")
        return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)

    def h_at(x):
        return [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])]

    def paid():
        return BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2, m=2)

    def make():
        common = {"replicas": 2, "seed": 5, "store": Store(url, trusted=["__main__"])}
        if kind == "free":
            return Run(problem=NonconvexQCQP(n=6), solver=ZOSPLM(), iterations=40_000, checkpoint=0.05, **common)
        if kind == "peer":
            return Run(problem=paid(), solver=CMAES(), iterations=60, checkpoint=0.05, **common)
        return Run(problem=paid(), solver=ZOCEG(), iterations=60, checkpoint="every call", **common)

    if __name__ == "__main__":
        if len(sys.argv) > 3:
            run = Store(url).load(sys.argv[3]).resume(**({} if kind == "free" else {"problem": paid()}))
        else:
            run = make()
        print(run.id, flush=True)
        run.run()
"""


class Stage:
    """Runs in processes of their own, which may be killed."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind, self.url = folder, kind, f"sqlite:///{folder / 'zoviz.db'}"
        (folder / "script.py").write_text(textwrap.dedent(SCRIPT))

    def begin(self, *again: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "script.py", self.kind, self.url, *again]
        path = {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, cwd=self.folder, env=os.environ | path, stdout=subprocess.PIPE, text=True)
        return process, process.stdout.readline().strip()

    def progress(self, store: Store, run: str) -> int:
        """How far a run has come: by its calls of the function, or by what the store knows of a problem without."""
        if self.kind != "free":
            return self.calls()
        # A process says its run's id before it enters the run into the store.
        return -1 if store.record(run) is None else store.load(run).progress.iteration

    def calls(self) -> int:
        path = self.folder / "calls.txt"
        return len(path.read_text()) if path.exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["free", "paid", "peer"])
def test_a_killed_run_goes_on_bit_for_bit(kind: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path, kind)
    process, whole = stage.begin()
    process.wait(240)
    process.stdout.close()
    paid = stage.calls()
    with Store(stage.url) as store:
        assert store.load(whole).status == "finished"
        again: tuple[str, ...] = ()
        part = stage.progress(store, whole) // 5
        for i in range(3):
            before = part * i if kind == "free" else stage.calls()
            process, run = stage.begin(*again)
            until(lambda run=run, before=before: stage.progress(store, run) >= before + part)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            again = (run,)
            assert store.load(run).status == "interrupted"
            assert store.count(status="interrupted") == 1 and store.count(status="running") == 0
        process, _ = stage.begin(run)
        process.wait(240)
        process.stdout.close()
        assert store.load(run).status == "finished"
        assert_same_course(store.load(run), store.load(whole))
    if kind == "paid":
        assert stage.calls() <= 2 * paid + 3, "one call in flight for every kill"
