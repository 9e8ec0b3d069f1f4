"""AL-SPG against a loop written by hand, on known optima, under budgets, noise and odd domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.loops import assert_iterations_can_be_begun_anew, played_until
from zoviz import Run, minimize
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, PressureVessel
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ALSPG
from zoviz.solvers.augmented_lagrangian.course import ALRun, StepSettings, Task
from zoviz.solvers.batches import Loop
from zoviz.solvers.differences import FORWARD


def box(fun: Callable[[Array], tuple[float, Array]], x0: Any, m: int, **settings: Any) -> BlackBox:
    settings = {"scaled": False, "bounds": [(-np.inf, np.inf)] * len(x0)} | settings
    return BlackBox(fun, joint=True, m=m, x0=np.array(x0, dtype=float), **settings)


def valley(x: Array) -> tuple[float, Array]:
    return float(3.0 * (x[0] - 2.0) ** 2 + 0.5 * x[1] ** 2 + x[0] * x[1]), np.array([x[0] + x[1] + 1.0])


def queried(problem: BlackBox, solver: ALSPG, steps: int) -> list[Array]:
    """Points that the solver asks for, in order."""
    points: list[Array] = []

    class Listening(Oracle):
        def __call__(self, x: Array, mask: np.ndarray | None = None) -> Any:
            points.extend(x[0][None] if mask is None else x[0][mask[0]])
            return super().__call__(x, mask)

    oracle = Listening(problem, Streams(0, 1))
    streams = Streams(0, 1)
    state = solver.init(problem.initial(streams), oracle, streams)
    for _ in range(steps):
        state, _ = solver.step(state, oracle, streams)
    return points


def test_the_first_steps_are_those_of_a_loop_by_hand() -> None:
    """With a memory of no pairs and no growth of the first step: x0, sweep, trial, sweep, Barzilai and Borwein's."""
    points = queried(box(valley, [3.0, 1.0], 1), ALSPG(memory=0), 4)
    x0 = np.array([3.0, 1.0])
    np.testing.assert_array_equal(points[0], x0)
    lengths = FORWARD * np.maximum(1.0, x0)
    np.testing.assert_array_equal(points[1:3], x0 + np.diag(lengths))

    def slopes(x: Array, probes: Array) -> Array:
        f, h = valley(x)
        rows = [(np.append(*valley(probe)) - np.append(f, h)) / (probe - x)[i] for i, probe in enumerate(probes)]
        return np.array(rows).T

    first = slopes(x0, np.array(points[1:3]))
    length, size = _ruiz(first)
    h0 = 5.0 / size[1]  # the start violates by 5: the first length
    penalty, reach = 10.0 / h0, min(max(0.1 * np.min(np.array([3.0, 1.0]) / length), 0.1 * h0), 10.0 * h0)

    def gradient(x: Array, jacobian: Array) -> Array:
        weight = max(penalty * valley(x)[1][0] / size[1], 0.0)
        return (jacobian[0] / size[0] + weight * jacobian[1] / size[1]) * length

    g = gradient(x0, first)
    trial = x0 - reach / np.abs(g).max() * g * length
    np.testing.assert_allclose(points[3], trial, rtol=1e-12)
    second = slopes(trial, np.array(points[4:6]))
    after = gradient(trial, second)
    s, r = (trial - x0) / length, after - g
    move = -(s @ s) / (s @ r) * after
    assert np.abs(move).max() < 10.0 * reach
    np.testing.assert_allclose(points[6], trial + move * length, rtol=1e-6)


def _ruiz(slopes: Array) -> tuple[Array, Array]:
    steep, length, size = np.abs(slopes), np.ones(slopes.shape[1]), np.ones(len(slopes))
    for _ in range(5):
        scaled = steep * length / size[:, None]
        size, length = size * np.sqrt(scaled.max(axis=1)), length / np.sqrt(scaled.max(axis=0))
    return length, (steep * length).max(axis=1)


def test_known_optima_and_multipliers() -> None:
    run = Run(problem=box(valley, [3.0, 1.0], 1), solver=ALSPG(restarts=False), replicas=2, calls=400)
    run.run()
    # With x + y = -1 the second slope, x + y, makes the multiplier 1, and the first, 6 (x - 2) + y, makes x 12 / 5.
    np.testing.assert_allclose(run.result.best_x, [[2.4, -3.4]] * 2, atol=1e-5)
    np.testing.assert_allclose(run.result.multipliers, 1.0, atol=1e-4)


def test_an_engineering_design_is_solved_from_every_start() -> None:
    problem = PressureVessel()
    run = Run(problem=problem, solver=ALSPG(), replicas=3, calls=1200)
    run.run()
    best = problem.known_optimum
    assert best is not None and (run.result.best_fun < best.value * 1.05).all()
    assert (run.result.calls <= 1200).all() and (run.result.calls >= 1200 - 2 * problem.n).all()


def test_the_whole_budget_is_spent_and_restarts_find_another_basin() -> None:
    def two_basins(x: Array) -> tuple[float, Array]:
        return float((x[0] ** 2 - 1.0) ** 2 + 0.3 * x[0]), np.array([x[0] ** 2 - 4.0])

    problem = box(two_basins, [0.9], 1, bounds=[(-2.0, 2.0)])
    alone = Run(problem=problem, solver=ALSPG(restarts=False), replicas=1, calls=600)
    alone.run()
    assert alone.result.calls[0] < 600 and alone.result.best_x[0, 0] > 0.5
    assert "Nothing is left to try" in alone.result.message
    many = Run(problem=problem, solver=ALSPG(), replicas=1, calls=600)
    many.run()
    assert many.result.calls[0] >= 598 and many.result.best_x[0, 0] < -0.9


def test_an_infeasible_start_in_a_nonconvex_corner_is_left() -> None:
    def ring(x: Array) -> tuple[float, Array]:
        return float(x.sum()), np.array([4.0 - x @ x, x @ x - 9.0])

    result = minimize(ring, [0.01, 0.0], joint=True, method="ALSPG", max_calls=500)
    assert result.feasible and result.fun == pytest.approx(-np.sqrt(18.0), abs=1e-5)


@pytest.mark.parametrize("bounds", [[(1.0, 1.0), (-np.inf, 5.0)], [(0.0, 1e-9), (0.0, 3.0)], [(-1e6, 1e6), (0.5, 0.5)]])
def test_odd_bounds(bounds: list[tuple[float, float]]) -> None:
    problem = box(valley, [b[0] if np.isfinite(b[0]) else 0.0 for b in bounds], 1, bounds=bounds)
    run = Run(problem=problem, solver=ALSPG(), replicas=1, calls=200)
    run.run()
    low, high = np.array(bounds).T
    assert ((run.result.x[0] >= low) & (run.result.x[0] <= high)).all() and np.isfinite(run.result.fun[0])


def test_values_that_are_not_finite_are_stepped_back_from() -> None:
    def broken(x: Array) -> tuple[float, Array]:
        return (float(x[0] - np.log(x[0])) if x[0] > 0 else np.nan), np.array([x[0] - 3.0])

    run = Run(problem=box(broken, [2.5], 1), solver=ALSPG(), replicas=1, calls=150)
    run.run()
    assert run.result.best_x[0, 0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
def test_where_no_value_but_the_first_is_finite_it_ends_at_the_budget(noise: str) -> None:
    def once(x: Array) -> tuple[float, Array]:
        return (1.0 if x[0] == 2.5 else np.nan), np.array([x[0] - 3.0])

    run = Run(problem=box(once, [2.5, 1.0], 1, noise=noise), solver=ALSPG(), replicas=1, calls=120)
    run.run()
    assert run.result.x[0, 0] == 2.5 and run.result.calls[0] <= 120 and run.result.failures[0] > 50


def test_under_noise_the_batch_grows_and_the_budget_is_spent() -> None:
    rng = np.random.default_rng(3)

    def noisy(x: Array) -> tuple[float, Array]:
        f, h = valley(x)
        return f + 0.05 * rng.standard_normal(), h + 0.05 * rng.standard_normal(1)

    problem = box(noisy, [3.0, 1.0], 1, noise="independent")
    run = Run(problem=problem, solver=ALSPG(), replicas=1, calls=1500)
    run.run()
    assert run.result.calls[0] > 1490
    f, h = valley(run.result.x[0])
    assert f < valley(np.array([2.4, -3.4]))[0] + 0.1 and h[0] < 0.1


def test_a_live_parameter_steers_the_next_step() -> None:
    def course(schedule: list[Change]) -> list[float]:
        run = Run(problem=PressureVessel(), solver=ALSPG(), replicas=1, calls=300, seed=1, schedule=schedule)
        run.run()
        return [float(course.now.penalty) for course in run.state.courses]

    steered = course([Change(0, 0, 0.0, "penalty_growth", 4.0, 50.0)])
    assert steered != course([]) and course([]) == course([])


@pytest.mark.parametrize("contract", ["deterministic", "common", "independent"])
def test_the_loop_of_a_memory_goes_on_where_an_iteration_of_another_began(contract: str) -> None:
    task = Task(np.full(2, -9.0), np.full(2, 9.0), np.full(1, 1e-6), lambda values, scattered: np.zeros(2))
    start = np.array([3.0, 1.0])

    def values(x: Array) -> Array:
        noise = np.random.default_rng(abs(int(1e9 * x.sum()))).standard_normal((len(x), 2))
        return np.array([np.append(*valley(one)) for one in x]) + 0.05 * (contract == "independent") * noise

    def settings(spent: int) -> StepSettings:
        return StepSettings(contract, 400.0 - spent, 4.0, 5, 10, True, 0.5)

    def begin(run: ALRun) -> Loop:
        return run.loop(task)

    run = ALRun.begin(start, values(start[None])[0], 3, contract == "independent")
    made = played_until(400, run, begin, values, settings, 1)
    assert {batch.purpose for batch in made} >= {"differences", "trial"}
    assert_iterations_can_be_begun_anew(made, begin, values, settings, 1)
