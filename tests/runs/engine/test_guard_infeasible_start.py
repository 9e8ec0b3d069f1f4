"""A run whose start is infeasible says so until its replicas have met a feasible point, and not a step longer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.problems import BlackBox
from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers import ZOSPLM, ZOSQP

SENTENCE = "The starting point is infeasible (violation up to 3)."


def run_from(start: float, wall: Callable[[np.ndarray], float], solver: object, **settings: object) -> Run:
    problem = BlackBox(lambda x: float(x @ x), wall, m=1, bounds=[(-4.0, 4.0)] * 2, x0=[start, 0.0])
    return Run(problem, solver, replicas=2, seed=0, **settings)


def paused(run: Run, steps: int) -> str:
    """The message of a run that has done so many steps."""
    run.start(steps)
    until(lambda: run.status is RunStatus.PAUSED)
    return run.message


def test_it_is_said_until_every_replica_has_met_a_feasible_point() -> None:
    slow = ZOSPLM(primal_step=0.01, dual_step=0.1, restoration=0, augmentation=False)
    run = run_from(-2.0, lambda x: abs(x[0] - 1.05) - 0.05, slow)  # a strip that no measurement meets by chance
    said = [SENTENCE in paused(run, 1)]
    for _ in range(100):
        done = run.progress.iteration
        run.step()
        until(lambda done=done: run.progress.iteration > done and run.status is RunStatus.PAUSED)
        said.append(SENTENCE in run.message)
        assert said[-1] != bool(np.isfinite(run.worker.oracle.best.f).all())
        if not said[-1]:
            break
    run.stop()
    run.wait()
    assert said[0] and not said[-1] and "infeasible" not in run.message


@pytest.mark.parametrize("start", [1.5, 1.0, 4.0])
def test_nothing_is_said_of_a_feasible_start(start: float) -> None:
    run = run_from(start, lambda x: 1.0 - x[0], ZOSQP())
    assert "infeasible" not in paused(run, 1)
    run.stop()
    run.wait()


def test_a_run_without_feasible_points_says_so_to_its_end_and_when_it_is_resumed(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    run = run_from(-2.0, lambda x: 1.0 + abs(x[0]), ZOSPLM(primal_step=1e-3), store=store)
    assert SENTENCE in paused(run, 5)
    run.interrupt()
    until(lambda: not run.active)
    again = store.load(run.id).resume(problem=run.problem)
    assert SENTENCE in paused(again, 2)
    again.stop()
    again.wait()
