"""The trace of a long run holds memory flat."""

from __future__ import annotations

import gc
import time
from typing import Any, NamedTuple

import numpy as np
import psutil
import pytest

from zoviz import Run
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Coordinate, GradientEstimator
from zoviz.oracle import Oracle
from zoviz.problems import Problem
from zoviz.runs.engine.trace import CAPACITY
from zoviz.solvers import Solver
from zoviz.solvers.theory import Info

# --- many iterations ---------------------------------------------------------------------------------------------


class Constant(Problem):
    """f = 0 on [0, 1]: the cheapest problem there is."""

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 1, 0
    domain = Box([0.0], [1.0])

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        return Evaluation(np.zeros(x.shape[:-1]), np.zeros((*x.shape[:-1], 0)))


class Counted(NamedTuple):
    """Iterate, duals, value."""

    x: Array
    y: Array
    value: Evaluation


class Idle(Solver):
    """Stays where it is and evaluates once an iteration."""

    __abstract = True

    def __init__(self, estimator: GradientEstimator | None = None) -> None:
        super().__init__()
        self.estimator = estimator or Coordinate()

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Counted:
        return Counted(x0, np.zeros((len(x0), 0)), oracle(x0))

    def step(self, state: Counted, oracle: Oracle, streams: Streams) -> tuple[Counted, Info]:
        x, y, _ = state
        return Counted(x, y, oracle(x)), Info(np.zeros(len(x)), x, y, 1.0)


def size(run: Run) -> int:
    return sum(column.nbytes for column in run.trace.snapshot().columns.values())


@pytest.mark.parametrize("iterations", [150_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_many_iterations_hold_memory_flat_and_snapshots_small(iterations: int) -> None:
    run = Run(problem=Constant(), solver=Idle(), replicas=1, iterations=iterations, seed=0)
    gc.collect()
    process, memory, sizes, rows, durations = psutil.Process(), [], [], [], []

    def look() -> None:
        if run.worker.iteration == 0 or run.worker.iteration % (iterations // 10):
            return
        memory.append(process.memory_info().rss)
        started = time.perf_counter()
        snapshot = run.trace.snapshot()
        durations.append(time.perf_counter() - started)
        rows.append(snapshot.rows)
        sizes.append(size(run))

    run.run(look)
    assert run.progress.iteration == iterations and len(memory) >= 10
    print(
        f"\n{iterations:,} iterations in {run.progress.seconds:.1f} s; {memory[0] / 1e6:.1f} MB after a tenth and "
        f"{max(memory) / 1e6:.1f} MB at most after that; snapshots of {min(rows)} to {max(rows)} rows, at most "
        f"{max(sizes) / 1e3:.0f} kB, {1e6 * np.median(durations):.0f} µs"
    )
    assert max(memory) - memory[0] < 5e6
    assert max(rows) <= CAPACITY and max(sizes) <= CAPACITY * 8 * len(run.trace.snapshot().columns)
    kept = run.trace["iteration"]
    assert np.isin(np.arange(0, iterations, run.trace.stride), kept).all()
    assert (kept[2:] <= 33 / 32 * kept[1:-1] + 1).all(), "a logarithmic axis shows the beginning"
    assert run.trace["iteration"][-1] == iterations
