"""A budget of seconds: it ends a run within a call of itself, in the start, in a batch, in a step and in polishing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.costly_box import CostlyBox
from zoviz.core.errors import TimeSpent
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers import ZOSPLM

METHODS = ["auto", "ZOCEG", "ZOSPLM", "ZOSQP", "COBYLA", "ALSPG"]


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CostlyBox:
    """A black box of 0.05 s a call."""
    return CostlyBox(monkeypatch, tmp_path / "calls")


def problem_of(function: CostlyBox, n: int = 50, **settings: object) -> BlackBox:
    return BlackBox(function, bounds=[(-1.0, 1.0)] * n, x0=[0.9] * n, **settings)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("replicas", [1, 3])
def test_a_budget_that_ends_in_the_start_ends_there_with_the_best_point(
    costly: CostlyBox, method: str, replicas: int
) -> None:
    run = Run(problem_of(costly), method, seconds=1.0, replicas=replicas)
    result = run.run()
    assert 20 <= costly.calls <= 22 and result.calls.sum() == costly.calls
    assert run.status is RunStatus.FINISHED and "The budget of 1 s is spent." in result.message
    assert np.nanmin(result.best_fun) <= 50 * 0.6**2 and run.progress.seconds == pytest.approx(0.05 * costly.calls)


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_that_ends_in_a_step_ends_there_with_the_best_point(costly: CostlyBox, method: str) -> None:
    run = Run(problem_of(costly, 4), method, seconds=4.0, replicas=1, seed=1)
    result = run.run()
    assert costly.calls <= 81 and result.calls[0] == costly.calls
    assert result.nit > 0 and "The budget of 4 s is spent." in result.message
    assert result.best_fun[0] < 4 * 0.6**2 and result.best_fun[0] == pytest.approx(costly.at(result.best_x[0]))


@pytest.mark.parametrize("cost", [0.05, 5.0])
def test_two_workers_begin_two_calls_more_at_most(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cost: float) -> None:
    costly = CostlyBox(monkeypatch, tmp_path / "calls", cost)
    run = Run(problem_of(costly, workers=2), "ZOCEG", seconds=1.0, replicas=1)
    result = run.run()
    most = 20 if cost < 1.0 else 1
    assert costly.calls <= most + 2 and 1 <= result.calls[0] <= costly.calls
    assert "The budget of 1 s is spent." in result.message and np.isfinite(result.best_fun).all()


@pytest.mark.parametrize("batch", [30, 1])
def test_a_budget_ends_in_the_midst_of_a_batch_and_its_best_point_counts(costly: CostlyBox, batch: int) -> None:
    solver = ZOSPLM(
        primal_step=1e-3,
        dual_step=1e-3,
        proximal_weight=1.0,
        dual_cap=1.0,
        estimator=Sphere(smoothing_radius=0.5, batch_size=batch),
    )
    run = Run(problem_of(costly, 3, scaled=False), solver, seconds=1.0, replicas=1)
    seen: list[float] = []
    result = run.run(lambda: seen.append(run.progress.seconds))
    assert costly.calls == 20 == result.calls[0]
    assert run.status is RunStatus.FINISHED and all(seconds < 1.0 for seconds in seen)
    assert result.best_fun[0] < result.fun[0] or batch == 1


def test_a_call_longer_than_the_budget_is_one_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    costly = CostlyBox(monkeypatch, tmp_path / "calls", 5.0)
    result = Run(problem_of(costly), "ZOSQP", seconds=1.0, replicas=1).run()
    assert costly.calls == 1 == result.calls[0] and result.best_fun[0] == pytest.approx(50 * 0.6**2)


class Polishing(ZOSPLM):
    """A method that polishes its answer by calls without end."""

    polishes = True
    __abstract = True

    def polish(self, state, oracle, streams):  # type: ignore[no-untyped-def]
        """Ask for values for ever."""
        while True:
            oracle(state.x)


def test_polishing_ends_with_the_budget_too(costly: CostlyBox) -> None:
    solver = Polishing(
        primal_step=1e-3,
        dual_step=1e-3,
        proximal_weight=1.0,
        dual_cap=1.0,
        estimator=Sphere(smoothing_radius=0.5, batch_size=1),
    )
    run = Run(problem_of(costly, 3, scaled=False), solver, seconds=1.0, iterations=3, replicas=1)
    result = run.run()
    assert costly.calls == 20 == result.calls[0] and result.polished is None and result.nit == 3
    assert run.progress.seconds == pytest.approx(1.0)


def test_pauses_do_not_count(costly: CostlyBox) -> None:
    solver = ZOSPLM(
        primal_step=1e-3,
        dual_step=1e-3,
        proximal_weight=1.0,
        dual_cap=1.0,
        estimator=Sphere(smoothing_radius=0.5, batch_size=1),
    )
    run = Run(problem_of(costly, 3, scaled=False), solver, seconds=1.0, replicas=1)
    between: list[float] = []
    result = run.run(lambda: between.append(costly(np.zeros(3))))  # time passes between two steps, as in a pause
    assert result.calls[0] == 20 == costly.calls - len(between) and len(between) > 3


def test_a_replay_repeats_the_iterations_of_a_run_that_time_ended_in_a_step(costly: CostlyBox) -> None:
    run = Run(problem_of(costly, 4, noise="deterministic"), "ALSPG", seconds=4.0, replicas=1, seed=1)
    result = run.run()
    again = run.replay()
    repeated = again.run()
    assert repeated.nit == result.nit and np.array_equal(repeated.x, result.x)
    assert repeated.calls[0] <= result.calls[0], "the calls of the step that did not end are not repeated"


def test_a_stored_run_that_time_ended_in_a_step_has_the_points_by_then(costly: CostlyBox, tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        run = Run(problem_of(costly, 4), "ALSPG", seconds=4.0, replicas=1, seed=1, store=store)
        result = run.run()
        stored = store.load(run.id)
        assert stored.record.calls == result.calls[0] == costly.calls
        assert np.array_equal(stored.result.best_fun, result.best_fun)
        assert stored.record.seconds == pytest.approx(0.05 * costly.calls)


def test_an_error_of_the_function_in_a_batch_keeps_the_values_before_it(costly: CostlyBox) -> None:
    def failing(x: Array) -> float:
        if costly.calls == 15:
            raise RuntimeError("no licence")
        return costly(x)

    solver = ZOSPLM(
        primal_step=1e-3,
        dual_step=1e-3,
        proximal_weight=1.0,
        dual_cap=1.0,
        estimator=Sphere(smoothing_radius=0.5, batch_size=30),
    )
    box = BlackBox(failing, bounds=[(-1.0, 1.0)] * 3, x0=[0.9] * 3, scaled=False)
    run = Run(box, solver, iterations=5, replicas=1)
    with pytest.raises(RuntimeError, match="no licence"):
        run.run()
    assert run.result.calls[0] == 15 and run.result.best_fun[0] < run.result.fun[0]
    assert not isinstance(run.worker.error if run.worker else None, TimeSpent)
