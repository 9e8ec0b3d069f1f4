"""Other libraries' optimisers: no process and no stack is left behind."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from helpers.peers import BOUNDS, FIXED, Simulation, World, alive, each
from helpers.project import ROOT
from helpers.waiting import until
from zoviz.core.types import Array, Evaluation
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import CMAES, COBYLA, COBYQA, NOMAD, SLSQP, TrustConstr
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.external.coroutine import Ended, LibraryRun, Request, Task

pytestmark = pytest.mark.usefixtures("fast_collections")

# One library in this process, one that steps by itself, and a process of its own; the others go the first one's way.
EACH_KIND = each(*FIXED, slow=(COBYQA, SLSQP, TrustConstr))


@EACH_KIND
def test_start_step_pause_resume_and_stop_leave_nothing_behind(cls: type[ExternalSolver]) -> None:
    here = psutil.Process()
    before = alive(), here.children()
    run = Run(problem=NonconvexQCQP(n=3), solver=cls(**FIXED[cls]), replicas=2).start(steps=3)
    until(lambda: run.status == "paused")
    assert run.progress.iteration == 3
    run.step(2)
    until(lambda: run.status == "paused" and run.progress.iteration == 5)
    run.unpause()
    until(lambda: run.progress.iteration > 6 or not run.active)
    run.stop()
    result = run.wait(120)
    assert run.status in ("stopped", "finished") and np.isfinite(result.x).all()
    assert (alive(), here.children()) == before


@EACH_KIND
def test_a_solver_that_is_forgotten_leaves_nothing_behind(cls: type[ExternalSolver]) -> None:
    before = alive(), psutil.Process().children()
    world = World(cls(**FIXED[cls]), NonconvexQCQP(n=3))
    world.step(2)
    assert len(alive()) == len(before[0]) + 2
    del world
    assert (alive(), psutil.Process().children()) == before


@each(NOMAD)
def test_a_child_ends_with_its_parent(cls: type[ExternalSolver]) -> None:
    script = """
import os, psutil
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import NOMAD
from zoviz.core.streams import Streams
problem, streams = NonconvexQCQP(n=3), Streams(0, 2)
oracle, solver = Oracle(problem, streams), NOMAD(initial_radius=0.8)
state = solver.init(problem.initial(streams), oracle, streams)
print(*[child.pid for child in psutil.Process().children()], flush=True)
os._exit(0)
"""
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, cwd=ROOT)
    pids = [int(pid) for pid in process.stdout.split()]
    assert len(pids) == 2, process.stderr
    until(lambda: not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids))


def test_what_the_black_box_raises_ends_the_run_and_unwinds_the_stacks() -> None:
    pytest.importorskip("greenlet", reason='python -m pip install "zoviz[peers]"')
    before, count = alive(), itertools.count()

    def breaks(x: Array) -> tuple[float, Array]:
        if next(count) > 20:
            raise RuntimeError("the mesh is tangled")
        return Simulation()(x)

    box = BlackBox(breaks, scaled=False, bounds=BOUNDS, m=2, joint=True)
    run = Run(problem=box, solver=COBYLA(**FIXED[COBYLA]), replicas=2, calls=50)
    with pytest.raises(Exception, match="the mesh is tangled"):
        run.run()
    assert run.status == "failed" and alive() == before


@pytest.mark.skipif(importlib.util.find_spec("greenlet") is None, reason='python -m pip install "zoviz[peers]"')
class TestCourse:
    TASK = Task(np.zeros(2), -np.ones(2), np.ones(2), 1, "deterministic", 0)

    def test_a_forgotten_one_takes_its_stack_with_it(self) -> None:
        unwound = []

        def play(task: Task, ask: Any) -> Ended:
            try:
                while True:
                    ask(task.start[None])
            finally:
                unwound.append(True)

        course = LibraryRun(play, self.TASK)
        assert course.points.shape == (1, 2)
        del course
        gc.collect()
        assert unwound == [True]

    def test_it_is_held_and_ends(self) -> None:
        def play(task: Task, ask: Any) -> Ended:
            f, h = ask(task.start[None], np.array([-1.0]))
            ask(None)
            return Ended(f"{f[0]} {h[0, 0]}", np.array([2.0]))

        course = LibraryRun(play, self.TASK)
        assert course.dual.tolist() == [0.0] and isinstance(Request(course.points, None), Request)
        course.answer(Evaluation(np.array([3.0]), np.array([[4.0]])))
        assert course.points is None and course.message == ""
        course.settle()
        assert course.points is None and course.message == "3.0 4.0" and course.dual.tolist() == [2.0]


@each(CMAES)
def test_no_folder_is_left_where_the_user_works(
    cls: type[ExternalSolver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Run(NonconvexQCQP(n=3), cls(**FIXED[cls]), replicas=2, calls=60)
    run.run()
    assert run.progress.iteration > 2 and np.isfinite(run.result.multipliers).all()
    assert list(tmp_path.iterdir()) == []
