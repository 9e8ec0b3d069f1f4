"""With checkpoint="every call": nothing that was paid is paid again, and what was steered is not forgotten."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from helpers.black_box import h_at
from zoviz import Run
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox
from zoviz.runs.engine.evaluation_log import Log, LoggedValues
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSPLM


class Mortal:
    """A black box that takes its process along at its n-th call."""

    def __init__(self, last: int) -> None:
        self.remaining = last

    def __call__(self, x: Array) -> float:
        self.remaining -= 1
        if not self.remaining:
            os.kill(os.getpid(), signal.SIGKILL)
        return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def steered(run: Run) -> None:
    """A change after the fourth step, and two after the sixth."""

    def look() -> None:
        if run.progress.iteration in (4, 6):
            run.set({"primal_step": 1e-3 * run.progress.iteration})

    run.run(look)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a part of a run is a fork")
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
        run = store.load(record.id).resume(problem=box)
        run.run(lambda: run.set({"primal_step": 6e-3}) if run.progress.iteration == 6 else None)
        assert box.objective.remaining == 10**9 - (int(whole.result.calls.sum()) - before - more + 1)
    assert [change[3:] for change in run.journal] == [change[3:] for change in whole.journal]
    np.testing.assert_array_equal(run.result.x, whole.result.x)
    np.testing.assert_array_equal(run.result.calls, whole.result.calls)


class Licensed:
    """A black box that counts its calls and fails from one of them on, until it is mended."""

    def __init__(self, last: int) -> None:
        self.calls, self.last = 0, last

    def __call__(self, x: Array) -> float:
        self.calls += 1
        if self.calls > self.last:
            raise RuntimeError("no licence")
        return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


@pytest.mark.parametrize("end", ["an error", "its budget"])
def test_what_was_paid_after_the_last_checkpoint_is_not_paid_again(tmp_path: Path, end: str) -> None:
    box = Licensed(200 if end == "an error" else 10**9)
    problem = BlackBox(box, h_at, bounds=[(-4, 4)] * 2, m=2)
    solver = ZOSPLM(estimator=Sphere(batch_size=60))
    with Store(f"sqlite:///{tmp_path / 'zoviz.db'}") as store:
        run = Run(problem=problem, solver=solver, replicas=1, store=store, checkpoint="every call")
        run.calls = 400 if end == "an error" else 200

        def look() -> None:
            if run.progress.iteration == 2:  # a checkpoint now, not when a second has gone by
                run.worker.observers[-1].paused()
                run.worker.observers[-1]._flush()

        with pytest.raises(RuntimeError, match="no licence") if end == "an error" else nullcontext():
            run.run(look)
        paid, box.last = min(box.calls, box.last), 10**9
        paid -= end == "its budget"  # the check for noise at the end, which is made at the new one
        assert store.load(run.id).status == ("failed" if end == "an error" else "finished")
        box.calls = 0
        again = store.load(run.id).resume(problem=problem, calls=400)
        again.run()
        assert 0 < box.calls == again.result.calls.sum() - paid
    whole = Run(problem=BlackBox(Mortal(10**9), h_at, bounds=[(-4, 4)] * 2, m=2), solver=solver, replicas=1, calls=400)
    whole.run()
    np.testing.assert_array_equal(again.result.x, whole.result.x)
    np.testing.assert_array_equal(again.result.calls, whole.result.calls)


def test_values_of_a_vectorised_box_without_constraints_come_through_a_source() -> None:
    box = BlackBox(lambda x: np.square(x - 0.3).sum(axis=-1), bounds=[(0, 1)] * 2, vectorised=True, x0=[0.5, 0.5])
    oracle = Oracle(box, Streams(0, 1), source=LoggedValues(box, Log()))
    value = oracle(np.array([[0.3, 0.5]]))
    assert value.f.tolist() == pytest.approx([0.04]) and value.h.shape == (1, 0)
