"""ZOSQP from its start to the end of its budget: optima, budgets, hostile problems, steering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass

import numpy as np
import pytest

from zoviz.core.encoding.binary import is_record
from zoviz.core.sets import Ball
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.checkpoint import state_classes
from zoviz.runs.run import Run
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp.zosqp import SQPState


def disc(x: Array) -> tuple[float, list[float]]:
    """min (x0 - 2)^2 + (x1 - 1)^2 in the unit disc with x0 <= x1: (1, 1) / sqrt(2)."""
    return (x[0] - 2) ** 2 + (x[1] - 1) ** 2, [x[0] ** 2 + x[1] ** 2 - 1, x[0] - x[1]]


def boxed(n: int = 2, fun: Callable[[Array], object] = disc, **settings: object) -> BlackBox:
    settings = {"bounds": [(-3.0, 3.0)] * n, "x0": np.full(n, -1.5), "joint": True, "m": 2} | settings
    return BlackBox(fun, **settings)


def ended(problem: Problem, calls: int, replicas: int = 1, seed: int = 0, **settings: float) -> Run:
    run = Run(problem=problem, solver=ZOSQP(**settings), replicas=replicas, calls=calls, iterations=10**6, seed=seed)
    run.run()
    return run


BEST = np.full(2, np.sqrt(0.5))


def test_without_noise_the_optimum_is_found_exactly_and_the_whole_budget_spent() -> None:
    run = ended(boxed(), 300, replicas=2)
    assert run.result.calls.tolist() == [300, 300]
    np.testing.assert_allclose(run.result.x, np.tile(BEST, (2, 1)), atol=1e-4)
    assert run.result.success.all() and "differences" in run.result.message


def test_the_multipliers_are_those_of_the_best_point_and_not_of_the_latest_run() -> None:
    run = ended(boxed(), 600, replicas=4)
    arms = [course.now.exact for course in run.state.courses]
    assert all(arm is not None and arm.best_run < arm.runs for arm in arms)
    exact = [1.5 * np.sqrt(2.0) - 1.0, 1.0]  # y of -grad f = y1 grad h1 + y2 grad h2 at the optimum
    np.testing.assert_allclose(run.result.multipliers, np.tile(exact, (4, 1)), atol=1e-3)


@pytest.mark.parametrize("seed", range(2))
def test_under_noise_the_returned_point_is_feasible_and_near_the_optimum(seed: int) -> None:
    problem = boxed(noise="independent", noise_scale=1e-2)
    run = ended(problem, 900, seed=seed)
    assert run.result.calls.tolist() == [900] and "regression" in run.result.message
    f, h = disc(run.result.x[0])
    assert max(h) <= 1e-3 and f - disc(BEST)[0] < 0.05


def test_under_common_noise_the_budget_is_spent_and_the_point_is_near() -> None:
    run = ended(boxed(noise="common", noise_scale=1e-3), 400)
    assert run.result.calls.tolist() == [400]
    np.testing.assert_allclose(run.result.x[0], BEST, atol=0.05)


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
@pytest.mark.parametrize("calls", [5, 8, 13, 33])
def test_no_budget_is_exceeded_however_small(noise: str, calls: int) -> None:
    run = ended(boxed(noise=noise, noise_scale=1e-3, scaled=False), calls, replicas=3)
    assert (run.result.calls == calls).all() and np.isfinite(run.result.x).all()


HOSTILE: dict[str, dict[str, object]] = {
    "no bounds": {"bounds": None},
    "half bounds": {"bounds": [(None, 3.0), (-3.0, None)]},
    "a fixed variable": {"bounds": [(-3.0, 3.0), (0.5, 0.5)], "x0": [0.0, 0.5]},
    "a start at a corner": {"x0": [3.0, -3.0]},
    "a tiny box": {"bounds": [(0.70, 0.71)] * 2, "x0": [0.70, 0.71]},
}


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
@pytest.mark.parametrize("case", HOSTILE)
def test_bounds_of_every_kind(case: str, noise: str) -> None:
    problem = boxed(noise=noise, noise_scale=1e-3, **HOSTILE[case])
    x = ended(problem, 250).result.x[0]
    assert problem.domain.contains(x, 0.0)
    best = [0.5, 0.5] if case == "a fixed variable" else BEST
    assert max(disc(x)[1]) < 0.02 and disc(x)[0] < disc(best)[0] + 0.1


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
@pytest.mark.parametrize("n", [1, 3])
def test_without_constraints_and_in_one_variable(n: int, noise: str) -> None:
    problem = boxed(n, lambda x: (float(np.square(x - 0.3).sum()), []), m=0, noise=noise, noise_scale=1e-3)
    np.testing.assert_allclose(ended(problem, 60 * n).result.x[0], 0.3, atol=0.1)


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
def test_values_that_are_missing_in_half_of_the_box_are_survived(noise: str) -> None:
    def half(x: Array) -> tuple[float, list[float]]:
        return (float("nan"), [0.0, 0.0]) if x[1] < x[0] - 0.2 else disc(x)

    run = ended(boxed(fun=half, noise=noise, noise_scale=1e-3, scaled=False), 300, replicas=2)
    assert run.frozen == 0 and run.result.failures.sum() > 0
    np.testing.assert_allclose(run.result.x, np.tile(BEST, (2, 1)), atol=0.05)


def test_a_start_without_values_is_left_behind() -> None:
    def upper(x: Array) -> tuple[float, list[float]]:
        return (float("nan"), [0.0, 0.0]) if x[0] < -1.0 else disc(x)

    run = ended(boxed(fun=upper, scaled=False), 300)
    np.testing.assert_allclose(run.result.x[0], BEST, atol=1e-3)


def test_where_no_variable_is_free_it_is_done() -> None:
    run = ended(boxed(bounds=[(0.5, 0.5)] * 2, x0=[0.5, 0.5], scaled=False), 50)
    assert run.result.calls.tolist() == [1] and "no variable free" in run.result.message


def test_nothing_is_used_of_a_problem_but_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("asked for what a black box cannot tell")

    for name in ("constants", "noisy_constants"):
        monkeypatch.setattr(NonconvexQCQP, name, property(refuse))
    problem, streams = NonconvexQCQP(n=3), Streams(0, 2)
    oracle, solver = Oracle(problem, streams), ZOSQP()
    assert solver.open_scales() == []
    state = solver.init(problem.initial(streams), oracle, streams)
    for _ in range(4):
        state, _ = solver.step(state, oracle, streams)
    assert (oracle.calls > 4).all()


def test_a_domain_that_is_no_box_is_refused_by_a_sentence() -> None:
    class Round(NonconvexQCQP):
        __abstract = True

        @property
        def domain(self) -> Ball:
            return Ball(np.zeros(self.n), 3.0)

    assert "ZOSQP needs a box as domain, got a Ball" in str(ZOSQP().accepts(Round(n=3)))


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
def test_a_steered_run_is_replayed_to_the_bit(noise: str) -> None:
    run = Run(problem=boxed(noise=noise, noise_scale=1e-3), solver=ZOSQP(), replicas=2, calls=200, iterations=10**6)
    steps = iter(range(10**6))

    def steer() -> None:
        step = next(steps)
        if step == 6:
            run.solver.trust_scale = 0.2
        if step == 12:
            run.solver.restart_share = 0.1

    run.run(steer)
    again = run.replay()
    again.run()
    assert [change.name for change in run.journal] == ["trust_scale", "restart_share"]
    np.testing.assert_array_equal(again.result.x, run.result.x)
    np.testing.assert_array_equal(again.trace["objective"], run.trace["objective"])
    plain = ended(boxed(noise=noise, noise_scale=1e-3), 200, replicas=2)
    assert not np.array_equal(plain.result.x, run.result.x)


def test_a_step_is_one_batch_and_the_state_is_bounded() -> None:
    problem, streams = boxed(noise="independent", noise_scale=1e-3, scaled=False), Streams(0, 1)
    oracle, solver = Oracle(problem, streams, {"calls": 600}), ZOSQP()
    state = solver.init(problem.initial(streams), oracle, streams)
    largest = 0
    while oracle.remaining[0]:
        before = oracle.calls[0]
        state, _ = solver.step(state, oracle, streams)
        largest = max(largest, int(oracle.calls[0] - before))
    assert 6 <= largest <= 40
    assert isinstance(state, SQPState) and 0 < state.archive[0] <= 600
    assert {type(course.now).__name__ for course in state.courses} == {"Replica"}


def test_every_class_of_a_state_is_found() -> None:
    problem, streams = boxed(noise="independent", noise_scale=1e-3, scaled=False), Streams(0, 1)
    oracle, solver = Oracle(problem, streams, {"calls": 300}), ZOSQP()
    state = solver.init(problem.initial(streams), oracle, streams)
    seen: set[str] = set()

    def look(value: object) -> None:
        if is_record(type(value)):
            seen.add(type(value).__name__)
        if is_dataclass(value):
            look(list(vars(value).values()))
        if isinstance(value, (tuple, list)):
            for one in value:
                look(one)

    while oracle.remaining[0]:
        state, _ = solver.step(state, oracle, streams)
        look(state)
    assert {"Archive", "Descent", "Pairs", "Race", "StepContext", "Turn"} <= seen
    assert seen <= state_classes(solver).keys()


def test_starts_where_every_call_fails_are_left_under_noise() -> None:
    asked = []

    def half(x: Array) -> tuple[float, list[float]]:
        asked.append(x.copy())
        return (float("nan") if x.sum() > 0.5 else float(-x[0])), [float(x.sum()), -float(x[1])]

    problem = boxed(fun=half, x0=[-0.5, 0.25], noise="independent", noise_scale=1e-3, scaled=False)
    x = ended(problem, 900).result.x[0]  # enough for coarse descents from several starts
    assert max(one.sum() for one in asked) > 2.0, "none of them was far among the failures"
    assert max(half(x)[1]) < 0.01 and x[0] > -0.05


@pytest.mark.parametrize("noise", ["independent", "common"])
def test_a_start_among_failures_under_noise_is_survived(noise: str) -> None:
    def cliff(x: Array) -> tuple[float, list[float]]:
        """Only the start's own first call has a value."""
        return (1.0, [0.0, 0.0]) if (x == -1.5).all() else (float("inf"), [0.0, 0.0])

    run = ended(boxed(fun=cliff, noise=noise, noise_scale=1e-3, scaled=False), 90)
    np.testing.assert_array_equal(run.result.x, [[-1.5, -1.5]])
    assert run.result.calls.tolist() == [90]
