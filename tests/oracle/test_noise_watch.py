"""Noise that nobody declared is found along the run, on every road; what is declared is believed."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.arrays import assert_same_arrays
from helpers.late_noise import LateNoise, Outliers, late, row
from helpers.same_run import FIELDS
from zoviz import AskTell, Run
from zoviz.core.types import Array
from zoviz.oracle import Purpose
from zoviz.oracle.noise_watch import unlike
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.engine.checkpoint import restore, snapshot
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.worker import Worker
from zoviz.solvers import COBYLA, ZOCEG, ZOSPLM, ZOSQP, Portfolio, Solver

SOLVERS: dict[str, Solver] = {
    "ZOSQP": ZOSQP(),
    "Portfolio": Portfolio(first=COBYLA(), second=ZOSQP(), members=2, share=0.4),
    "ZOSPLM": ZOSPLM(),
    "COBYLA": COBYLA(),
}


def run_of(problem: BlackBox | NonconvexQCQP, solver: Solver, calls: int = 300, **settings: int) -> Run:
    run = Run(problem=problem, solver=solver, replicas=1, seed=1, calls=calls, **settings)
    run.run()
    return run


def assert_same(one: Result, other: Result) -> None:
    assert_same_arrays([getattr(one, name) for name in FIELDS], [getattr(other, name) for name in FIELDS])


def checks(run: Run) -> int:
    """Calls to the best points again."""
    ledger = run.result.ledger
    assert ledger is not None
    return int(ledger.calls.get(Purpose.NOISE, np.zeros(1))[0])


@pytest.mark.parametrize("name", ["ZOSQP", "Portfolio"])
def test_noise_that_begins_later_is_found_and_the_run_goes_on_under_it(name: str) -> None:
    run = run_of(late(LateNoise()), SOLVERS[name])
    assert run.worker is not None and run.worker.noise.found and run.worker.problem.noise == "independent"
    assert "Values are noisy, which was not declared" in run.message and run.result.calls[0] == 300
    assert row(run.result.x[0]) < 0.01  # the luckiest call is about 0.05 outside
    assert run.problem.noise == "unknown"  # the person's own


def test_a_portfolio_goes_on_with_the_member_that_suits_noise() -> None:
    run = run_of(late(LateNoise()), SOLVERS["Portfolio"], 500)
    after = [stage.title for stage in run.state.stages if "passed over" not in stage.title]
    assert after[0] == "COBYLA (SciPy)" and set(after[1:]) == {"ZOSQP"}


def test_what_is_declared_is_believed() -> None:
    noisy = run_of(late(LateNoise(), noise="independent"), ZOSQP())
    assert "values are noisy, so regression" in noisy.result.message and "not declared" not in noisy.message
    function = LateNoise()
    exact = run_of(late(function, noise="deterministic"), ZOSQP())
    assert "values repeat" in exact.result.message and "not declared" not in exact.message
    assert len(np.unique(function.points, axis=0)) == function.calls, "no point is paid for twice"
    problem = NonconvexQCQP(n=3)
    assert problem.noise == "deterministic" and checks(run_of(problem, ZOSQP())) == 0
    silent = run_of(NonconvexQCQP(n=3, noise="independent", noise_scale=0.0), ZOSQP(), 60)
    assert "values repeat exactly" in silent.result.message  # we add the noise ourselves, and there is none


@pytest.mark.parametrize(("calls", "most"), [(25, 0), (60, 2), (300, 9), (1000, 15)])
def test_exact_values_pay_little_and_the_whole_budget_is_used(calls: int, most: int) -> None:
    function = LateNoise(0.0)
    run = run_of(late(function), ZOSQP(), calls)
    assert checks(run) <= most and run.result.calls[0] == function.calls == calls
    assert (checks(run) > 0) == (most > 0) and "noisy" not in run.result.message


def test_an_outlier_is_not_taken_for_noise_nor_for_the_best_point() -> None:
    for at in ((70,), (70, 130), (21, 22, 76)):
        run = run_of(late(Outliers(at)), ZOSQP())
        assert "repeat except for outliers" in run.message and "values repeat exactly" in run.result.message
        assert abs(row(run.result.best_x[0])) < 1e-3 and run.result.best_fun[0] > 0.5
        assert not run.result.success[0] or row(run.result.x[0]) < 1e-6
    # An outlier at a check itself changes nothing.
    spared = run_of(late(LateNoise(0.0)), ZOSQP())
    first = next(k for k, x in enumerate(repeated(spared)) if x)
    run = run_of(late(Outliers((first + 1,))), ZOSQP())
    assert "repeat except for outliers" in run.message and row(run.result.x[0]) < 1e-6 and run.result.success[0]


def repeated(run: Run) -> list[bool]:
    """Whether each call of a run of ``LateNoise`` was at a point where one had been made before, but the start."""
    points = [tuple(x) for x in run.problem.objective.points]
    return [point in points[:k] and point != points[0] and k > 40 for k, point in enumerate(points)]


def test_noise_that_is_found_with_the_last_calls_is_no_success() -> None:
    class Last(LateNoise):
        def __call__(self, x: Array) -> tuple[float, Array]:
            self.size = 0.0 if self.calls < 295 else 0.05
            return super().__call__(x)

    run = run_of(late(Last()), ZOSQP())
    assert "which was not declared" in run.message and not run.result.success[0]


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("budget", [{"calls": 300}, {"iterations": 40}])
def test_asking_and_telling_equals_running_where_noise_is_found(name: str, budget: dict[str, int]) -> None:
    function, run = LateNoise(), Run(problem=late(LateNoise()), solver=SOLVERS[name], replicas=1, seed=1, **budget)
    run.run()
    session = AskTell(late(LateNoise()), SOLVERS[name], seed=1, **budget)
    while not session.done:
        batch = session.ask()
        f, h = zip(*[function(x) for x in batch.x], strict=True)
        session.tell(batch, f, h)
    assert run.worker is not None and run.worker.noise.found
    assert_same(session.result, run.result)
    assert session.result.message == run.result.message


def test_a_run_goes_on_from_a_checkpoint_with_what_it_has_found() -> None:
    run = Run(problem=late(LateNoise()), solver=ZOSQP(), replicas=1, seed=1, calls=300)
    states: dict[int, tuple[bytes, int]] = {}

    def look() -> None:
        worker = run.worker
        assert worker is not None
        data = snapshot(worker)
        assert data is not None
        states[worker.iteration] = data, worker.oracle.account.spent

    run.run(look)
    found = run.worker is not None and run.worker.noise.found
    assert found
    for iteration in (2, 12, max(states) - 2):
        data, spent = states[iteration]
        worker = Worker(Run(problem=late(LateNoise(calls=spent)), solver=ZOSQP(), replicas=1, seed=1, calls=300).spec)
        restore(worker, data)
        worker.work()
        assert_same(worker.result, run.result)
        assert worker.message == run.message


def test_a_run_is_repeated_with_its_checks() -> None:
    run = run_of(late(Outliers(())), ZOCEG(), 300)
    assert checks(run) > 0
    again = run.replay()
    again.run()
    assert_same(again.result, run.result)


def test_values_that_differ_by_round_off_are_alike() -> None:
    one = np.array([1.0, 1e8, np.nan, np.inf, 0.0, 1.0])
    other = np.array([1.0 + 1e-15, 1e8 + 1e-7, np.nan, np.inf, 1e-3, np.nan])
    assert unlike(one, other).tolist() == [False, False, False, False, True, True]
