"""What is steered is on disk before an evaluation that it led to: else the run could not be resumed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import BlackBox
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG
from zoviz.types import Array

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a part of a run is a fork")


class Mortal:
    """A black box that takes its process along at its n-th call."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self, x: Array) -> float:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def h_at(x: Array) -> list[float]:
    return [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])]


def steered(run: Run) -> None:
    """A change after the fourth step, and two after the sixth."""

    def look() -> None:
        if run.progress.iteration in (4, 6):
            run.change("primal_step", 1e-3 * run.progress.iteration)

    run.run(look)


@pytest.mark.parametrize("more", [1, 7])
def test_steering_a_moment_before_the_end_is_not_lost(tmp_path: Path, more: int) -> None:
    def make(last: int, **settings: object) -> Run:
        box = BlackBox(Mortal(last), h_at, bounds=[(-4, 4)] * 2, m=2)
        return Run(problem=box, solver=ZOCEG(), replicas=2, iterations=9, seed=5, **settings)

    whole = make(10**9)
    steered(whole)
    before = int(whole.trace["calls"][4].sum())
    url = f"sqlite:///{tmp_path / 'zoviz.db'}"
    child = os.fork()
    if not child:
        try:
            steered(make(before + more, store=url, checkpoint="every call"))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with Store(url) as store:
        (record,) = store.runs()
        box = BlackBox(Mortal(10**9), h_at, bounds=[(-4, 4)] * 2, m=2)
        run = store.resume(record.id, problem=box)
        run.run(lambda: run.change("primal_step", 6e-3) if run.progress.iteration == 6 else None)
        assert box.objective.left == 10**9 - (int(whole.result.calls.sum()) - before - more + 1)
    assert [change[3:] for change in run.journal] == [change[3:] for change in whole.journal]
    np.testing.assert_array_equal(run.result.x, whole.result.x)
    np.testing.assert_array_equal(run.result.calls, whole.result.calls)
