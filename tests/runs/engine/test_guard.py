"""The guard against divergence: what it stops, what it leaves alone, and what a stopped run says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import Run, Store, minimize
from zoviz.core.defaults import LARGEST_GROWTH
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Iterate
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.engine.guard import (
    DUAL_MULTIPLE,
    EVERY,
    FAR,
    FEWEST_ITERATIONS,
    LOST,
    PATIENCE,
    Guard,
)
from zoviz.runs.engine.stopping import Ending, RunStatus
from zoviz.runs.engine.trace import Trace
from zoviz.solvers import DSZOG, SLSQP, ZOCEG, ZOSPLM

STEPS = {"primal_step": 0.3, "dual_step": 0.1}


def falling(x: Array) -> float:
    """No lower bound, and steeper the farther out."""
    return -float(np.square(x) @ np.square(x)) - float(x.sum())


def idle(x: Array) -> list[float]:
    return [-1.0 - float(x @ x)]


def runaway(**settings: object) -> Run:
    problem = BlackBox(falling, idle, x0=np.ones(2), bounds=[(None, None)] * 2)
    return Run(problem=problem, solver=ZOCEG(**STEPS), iterations=200, seed=1, **settings)


def oracle_of(replicas: int) -> Oracle:
    return Oracle(NonconvexQCQP(n=3), Streams(1, replicas))


def iterate(x: float, f: float, h: float, y: float) -> Iterate:
    """Two replicas: the first good, the second with these figures."""
    one = np.array([0.5, 1.0])[:, None]
    value = Evaluation(np.array([1.0, f]), np.array([[-1.0], [h]]))
    return Iterate(one * np.array([[1.0], [x]]), dual=np.array([[0.0], [y]]), value=value)


@pytest.mark.parametrize(
    ("blown", "reason"),
    [
        ((1e10, 1.0, 0.0, 0.0), "the iterate is"),
        ((1e3, -1e9, 0.0, 0.0), "the objective has fallen"),
        ((1e3, 1.0, 1e12, 0.0), "a constraint is"),
        ((1.0, 1.0, 0.0, np.inf), "the multipliers are inf"),
    ],
)
def test_what_is_beyond_its_bound_for_some_looks_is_stopped_and_no_other_replica(
    blown: tuple[float, float, float, float], reason: str
) -> None:
    guard, oracle = Guard(2), oracle_of(2)
    guard.begin(iterate(1.0, 1.0, 0.0, 0.0), oracle)
    for check in range(1, PATIENCE):
        assert not guard.check(iterate(*blown), check * EVERY, oracle, True).any()
    assert guard.check(iterate(*blown), PATIENCE * EVERY, oracle, True).tolist() == [False, True]
    (one,) = guard.divergences
    assert (one.replica, one.iteration) == (1, PATIENCE * EVERY) and one.reason.startswith(reason)


@pytest.mark.parametrize("value", [(-1e30, -1.0), (1e20, 0.0), (1.0, 1e20), (1.0, -1e20)])
def test_however_large_values_are_near_the_start_they_are_no_divergence_of_a_method_that_compares_points(
    value: tuple[float, float],
) -> None:
    guard, oracle = Guard(2), oracle_of(2)
    guard.begin(iterate(1.0, 1.0, 0.0, 0.0), oracle)
    for check in range(1, 3 * LOST):
        assert not guard.check(iterate(1.0, *value, 0.0), check * EVERY, oracle, False).any()
    guard.conclude(iterate(1.0, *value, 0.0), 99, oracle)
    assert not guard.divergences


def test_multipliers_are_judged_by_what_was_gained_too() -> None:
    """Where f falls to -1e22 from a start of 0, so that a constraint is worth as much."""
    guard, oracle = Guard(2), oracle_of(2)
    guard.begin(iterate(1.0, 1.0, 0.0, 0.0), oracle)
    for check in range(1, 10):
        assert not guard.check(iterate(1.0, -1e22, 0.0, 1e24), check * EVERY, oracle, True).any()
    for check in range(10, 9 + PATIENCE):
        assert not guard.check(iterate(1.0, 1.0, 0.0, 1e44), check * EVERY, oracle, True).any()
    assert guard.check(iterate(1.0, 1.0, 0.0, 1e44), 99, oracle, True).tolist() == [False, True]


def test_a_line_searchs_trial_point_and_large_multipliers_are_no_divergence() -> None:
    guard, oracle = Guard(2), oracle_of(2)
    calm = iterate(1.0, 1.0, 0.0, 1e-3 * DUAL_MULTIPLE)
    guard.begin(calm, oracle)
    for check in range(1, 100):
        trial = iterate(1.0, 1e30, 1e20, 0.0)
        assert not guard.check(calm if check % PATIENCE == 0 else trial, check * EVERY, oracle, False).any()


@pytest.mark.parametrize("descends", [True, False])
def test_in_a_box_a_replica_far_worse_than_its_start_is_lost_where_the_method_descends(descends: bool) -> None:
    guard, oracle = Guard(2), oracle_of(2)
    guard.begin(iterate(1.0, 1.0, 0.0, 0.0), oracle)
    ends = [
        guard.check(iterate(1.0, 50.0, 40.0, 0.0), check * EVERY, oracle, descends)[1] for check in range(1, LOST + 1)
    ]
    assert ends == [False] * (LOST - 1) + [descends]
    assert guard.sentence.startswith("1 of 2 replicas diverged") == descends


def test_a_replica_whose_solver_goes_on_in_another_way_is_not_stopped_and_watched_anew() -> None:
    guard, oracle = Guard(2), oracle_of(2)
    guard.begin(iterate(1.0, 1.0, 0.0, 0.0), oracle)
    told: list[list[bool]] = []

    def recover(diverged: np.ndarray) -> np.ndarray:
        told.append(diverged.tolist())
        return diverged & (len(told) == 1)

    worse = iterate(1.0, 50.0, 40.0, 0.0)
    ends = [guard.check(worse, check * EVERY, oracle, True, recover)[1] for check in range(1, 2 * LOST + 1)]
    assert ends == [False] * (2 * LOST - 1) + [True] and told == [[False, True]] * 2
    assert [one.iteration for one in guard.divergences] == [2 * LOST * EVERY]


def test_one_that_pays_for_feasibility_by_its_objective_is_not_lost() -> None:
    guard, oracle = Guard(2), oracle_of(2)
    guard.begin(iterate(1.0, 1.0, 30.0, 0.0), oracle)
    for check in range(1, 50):
        assert not guard.check(iterate(1.0, 1e6, 29.0, 0.0), check * EVERY, oracle, True).any()


def test_a_run_that_diverges_says_so_and_is_no_success(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        run = runaway(replicas=2, store=store)
        result = run.run()
        stored = store.load(run.id)
        assert store.count(status="diverged") == 1
        assert stored.status is RunStatus.DIVERGED and stored.divergences == run.divergences
        assert stored.message == run.message and not stored.result.success.any()
    assert run.status is result.status is RunStatus.DIVERGED and run.status.ended and not run.active
    assert len(run.divergences) == run.frozen == 2 and run.error is None
    assert "2 of 2 replicas diverged" in run.message and "reduce the step size" in run.message
    assert not result.success.any() and np.isfinite(result.x).all()


def test_a_replica_that_diverged_stays_in_the_trace_as_it_was_stopped() -> None:
    problem = NonconvexQCQP(n=4)

    class Mixed(ZOSPLM):
        """Whose second replica alone takes long steps."""

        def step(self, state, oracle, streams):  # type: ignore[no-untyped-def]
            new, info = super().step(state, oracle, streams)
            wild = np.where(np.arange(len(new.x))[:, None] == 1, oracle.domain.upper, new.x)
            wild = np.where(np.arange(len(new.x))[:, None] == 1, wild, new.x)
            return new._replace(x=wild, value=oracle(wild)), info

    run = Run(problem=problem, solver=Mixed(), replicas=3, iterations=80, seed=1)
    result = run.run()
    assert run.status is RunStatus.DIVERGED and [one.replica for one in run.divergences] == [1]
    assert "The budget of 80 iterations is spent. 1 of 3 replicas diverged" in run.message
    assert np.isfinite(run.trace["objective"]).all() and not result.success[1]
    assert run.trace["objective"][-1].mean() > run.trace["objective"][0].mean()


def test_a_resumed_guard_goes_on_where_it_was() -> None:
    first, oracle = Guard(2), oracle_of(2)
    first.begin(iterate(1.0, 1.0, 0.0, 0.0), oracle)
    for check in range(1, PATIENCE):
        first.check(iterate(1e3 * LARGEST_GROWTH, 1.0, 0.0, 0.0), check * EVERY, oracle, True)
    second = Guard(2)
    second.restore(first.snapshot())
    assert second.check(iterate(1e3 * LARGEST_GROWTH, 1.0, 0.0, 0.0), PATIENCE * EVERY, oracle, True).tolist() == [
        False,
        True,
    ]
    third = Guard(2)
    third.restore(second.snapshot())
    assert third.divergences == second.divergences and third.diverged.tolist() == [False, True]


def test_minimize_calls_no_answer_of_a_run_that_diverged_a_success() -> None:
    result = minimize(falling, np.ones(2), constraints=idle, max_calls=500, method=ZOCEG(**STEPS))
    assert result.status is Ending.NO_PROGRESS and not result.success and "Diverged" in result.message


def test_an_objective_without_a_minimum_is_said_to_be_that_and_its_best_point_is_there() -> None:
    line = {"type": "ineq", "fun": lambda x: 1.0 + x.sum()}
    result = minimize(lambda x: -1e3 * x.sum(), [0.0] * 4, constraints=line, method="COBYLA", max_calls=120)
    assert result.status is Ending.NO_PROGRESS and not result.success
    assert "the objective has fallen below zero by" in result.message and "may have no minimum" in result.message
    np.testing.assert_array_equal(result.best_x, result.x)
    assert result.best_fun == result.fun < 0.0 == result.maxcv


@pytest.mark.parametrize("method", ["SLSQP", "COBYQA"])
def test_a_run_that_ends_beyond_every_scale_before_the_guard_looks_is_no_success(method: str) -> None:
    result = minimize(lambda x: float(np.power(x, 3).sum()), -np.ones(2), method=method, max_calls=300)
    assert result.fun < -LARGEST_GROWTH
    assert result.status is Ending.NO_PROGRESS and not result.success and "may have no minimum" in result.message


def test_an_end_within_the_bounds_is_none() -> None:
    guard, oracle = Guard(2), oracle_of(2)
    calm = iterate(1.0, 1.0, 0.0, 0.0)
    guard.begin(calm, oracle)
    guard.conclude(calm, 7, oracle)
    assert not guard.divergences
    guard.conclude(iterate(1e3, -1e9, 0.0, 0.0), 7, oracle)
    assert [(one.replica, one.iteration) for one in guard.divergences] == [(1, 7)]


def test_multipliers_are_judged_in_the_functions_units() -> None:
    """f in a unit that makes it 1e18, and h in one that makes it 1e-6, have multipliers of 1e24 at a solution."""
    guard, oracle = Guard(2), oracle_of(2)
    start = iterate(1.0, 1e18, 1e-6, 0.0)
    guard.begin(start, oracle)
    for check in range(1, 10):
        assert not guard.check(iterate(1.0, 1e18, 1e-6, 1e25), check * EVERY, oracle, True).any()
    ends = [
        guard.check(iterate(1.0, 1e18, 1e-6, 1e45), check * EVERY, oracle, True)[1]
        for check in range(10, 10 + PATIENCE)
    ]
    assert ends == [False] * (PATIENCE - 1) + [True]


def course(*violations: list[float]) -> Trace:
    """A trace of these violations, a row each."""
    trace = Trace()
    for iteration, row in enumerate(violations):
        trace.append({"iteration": iteration, "violation": np.array(row)})
    return trace


def test_an_end_is_far_from_feasible_by_the_constraints_size_at_the_starts() -> None:
    """At the starts h is 10, which violates, and -20."""
    guard, oracle = Guard(2), oracle_of(2)
    value = Evaluation(np.zeros(2), np.array([[10.0], [-20.0]]))
    guard.begin(Iterate(np.ones((2, 1)), value=value), oracle)
    resumed = Guard(2)
    resumed.restore(guard.snapshot())
    near = 0.9 * FAR * 20.0
    for one in (guard, resumed):
        assert one.infeasible_end(course([10.0, 0.0], [near, near]), 1e-6, 2) == ""
        assert one.infeasible_end(course([10.0, 0.0], [np.nan, near]), 1e-6, 2) == ""
        assert one.infeasible_end(course([10.0, 0.0], [4.0, 6.0]), 1e-6, 1) == (
            "Ended far from feasible in 2 of 2 replicas: the last iterate violates the constraints by 5 in the median "
            "(the start by 5). Feasible points were found on the way by 1 of 2; the best is best_x of the result."
        )
    assert "in 1 of 2 replicas: the last iterate violates the constraints by 4 (the start by 10)." in (
        guard.infeasible_end(course([10.0, 0.0], [4.0, 0.0]), 1e-6, 0)
    )
    assert guard.infeasible_end(course([10.0, 0.0], [4.0, 0.0]), 5.0, 0) == "", "the tolerance counts as none"
    assert guard.infeasible_end(Trace(), 1e-6, 0) == "", "a problem without constraints has no such column"


def infeasible() -> BlackBox:
    """Two constraints that exclude each other: x_1 <= -1 and x_1 >= 1."""
    return BlackBox(lambda x: float(x @ x), lambda x: [x[0] + 1.0, 1.0 - x[0]], bounds=[(-2.0, 2.0)] * 2, m=2)


def test_a_run_of_any_solver_that_ends_far_from_feasible_says_so_in_message_store_and_result(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        run = Run(infeasible(), DSZOG(), replicas=1, iterations=FEWEST_ITERATIONS, seed=1, store=store)
        result, stored = run.run(), store.load(run.id)
        assert stored.message == run.message == store.runs()[0].message and stored.result.message == result.message
    assert "Ended far from feasible: the last iterate violates the constraints by" in run.message
    assert result.message.startswith(run.message) and run.status is RunStatus.FINISHED
    short = Run(infeasible(), DSZOG(), replicas=1, iterations=FEWEST_ITERATIONS - 1)
    assert "far from feasible" not in short.run().message, "it had no time"
    library = Run(infeasible(), SLSQP(), replicas=1, iterations=500)
    assert "far from feasible" in library.run().message and library.progress.iteration < FEWEST_ITERATIONS
