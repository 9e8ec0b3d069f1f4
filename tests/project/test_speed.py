"""The engine's speed as ratios of times measured side by side in one process.

Times are the thread's own CPU time under one BLAS thread, so that other programs on the machine take nothing from them
but cache; medians of alternating repetitions (the least, for a step of microseconds), and up to three attempts. Run
with ``-s`` to see the figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.function_calls import function_calls
from zoviz import Run
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.estimators.base import CHUNK_BYTES
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOSPLM

pytestmark = pytest.mark.usefixtures("one_blas_thread")

ATTEMPTS, REPETITIONS = 3, 3
UNITS_OF_100_MICROSECONDS = 3.0
"""A ``calibration`` unit takes 33 to 36 µs on the machine (two cores, Python 3.11) for which 100 µs was asked."""


def cost(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


def costs(*works: Callable[[], object]) -> Array:
    """Costs of each, shape (repetitions, works), measured in turns so that a slow spell meets them all."""
    return np.array([[cost(work) for work in works] for _ in range(REPETITIONS)])


def best_of_attempts(measure: Callable[[], float], good: Callable[[float], bool]) -> float:
    """Measure again where the machine may have been disturbed."""
    figures = []
    for _ in range(ATTEMPTS):
        figures.append(measure())
        if good(figures[-1]):
            break
    return figures[-1] if good(figures[-1]) else float(np.median(figures))


PUBLISHED: dict[str, Any] = {"restoration": 0, "augmentation": False, "step_reach": 1e9}
"""The method as published: of the default's additions, restoring feasibility works in every step of a start outside."""


def run_of(problem: Problem, batch: int, replicas: int, iterations: int, **form: Any) -> Callable[[], Run]:
    """A whole run, recording included."""

    def work() -> Run:
        solver = ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=batch), **form)
        run = Run(problem=problem, solver=solver, replicas=replicas, iterations=iterations)
        run.run()
        return run

    return work


# --- (a) big batches against the floor --------------------------------------------------------------------------------


class Floor:
    """Drawing the directions and evaluating the problem at them, and at the base: what no engine can leave out."""

    def __init__(self, problem: Problem, replicas: int, batch: int, times: int) -> None:
        self.problem, self.batch, self.times = problem, batch, times
        self.generators = [np.random.default_rng(r) for r in range(replicas)]
        self.x = 0.1 * np.random.default_rng(99).standard_normal((replicas, problem.n))

    def draw(self, count: int) -> Array:
        u = np.empty((len(self.generators), count, self.problem.n))
        for row, generator in zip(u, self.generators, strict=True):
            generator.standard_normal(out=row)
        return u

    def part(self, count: int) -> None:
        u = self.draw(count)
        u *= (1e-5 / np.sqrt(np.einsum("rkn,rkn->rk", u, u)))[..., None]
        u += self.x[:, None]
        self.problem.evaluate(u)

    def whole(self) -> None:
        for _ in range(self.times):
            self.problem.evaluate(self.x)
            self.part(self.batch)

    def in_chunks(self) -> None:
        size = max(1, CHUNK_BYTES // (8 * self.x.size))
        for _ in range(self.times):
            self.problem.evaluate(self.x)
            for start in range(0, self.batch, size):
                self.part(min(size, self.batch - start))


@pytest.mark.bench
@pytest.mark.slow  # as the next: ratios of times, which other work on the machine changes
@pytest.mark.parametrize("replicas", [1, 4])
def test_an_iteration_with_many_directions_costs_little_more_than_its_floor(replicas: int) -> None:
    problem, batch, iterations = NonconvexQCQP(n=200), 10_000, 4 if replicas == 1 else 2
    floor = Floor(problem, replicas, batch, iterations)

    def measure() -> float:
        runs = run_of(problem, batch, replicas, iterations), run_of(problem, batch, replicas, 0)
        run, nothing, whole, chunks = np.median(costs(*runs, floor.whole, floor.in_chunks), axis=0)
        own = run - nothing
        print(
            f"\nk = 10000, n = 200, R = {replicas}: {1e3 * own / iterations:.0f} ms an iteration, "
            f"{own / whole:.2f} of the floor at once ({1e3 * whole / iterations:.0f} ms), "
            f"{own / chunks:.2f} of the floor in chunks ({1e3 * chunks / iterations:.0f} ms)"
        )
        return own / min(whole, chunks)

    assert best_of_attempts(measure, lambda ratio: ratio <= 1.5) <= 1.5


# --- (b) overhead of one small step -----------------------------------------------------------------------------------


def calibration(times: int) -> Callable[[], None]:
    """A unit: 50 small NumPy calls of the kinds that a step is made of."""
    a, b = np.linspace(0.0, 1.0, 100), np.linspace(1.0, 2.0, 100)

    def work() -> None:
        for _ in range(times):
            for _ in range(10):
                c = a + b
                c = np.minimum(np.maximum(c, a), b)
                np.einsum("i,i->", c, a)
                (c * a).sum()

    return work


@pytest.mark.bench
@pytest.mark.slow  # its limit, too, depends on the machine: the commit that set it measured 2.8 and 3.5 within a minute
def test_overhead_of_one_step() -> None:
    """R = 1, k = 1, n = 100: whole run, recording included, less its oracle calls and draws."""
    problem, iterations = NonconvexQCQP(n=100), 20_000
    x = np.full((1, 100), 0.1)
    probe, generator, out = x[:, None].copy(), np.random.default_rng(0), np.empty(100)

    def inevitable() -> None:
        for _ in range(iterations):
            problem.evaluate(x)
            problem.evaluate(probe)
            generator.standard_normal(out=out)

    def measure() -> float:
        works = (run_of(problem, 1, 1, iterations), inevitable, calibration(iterations // 10))
        run, floor, unit = costs(*works).min(axis=0)
        overhead, unit = (run - floor) / iterations, unit / (iterations // 10)
        print(
            f"\nR = 1, k = 1, n = 100: {1e6 * run / iterations:.1f} µs a step, {1e6 * overhead:.1f} µs beyond oracle "
            f"and draws; 50 small NumPy calls take {1e6 * unit:.1f} µs; {overhead / unit:.2f} of them"
        )
        return overhead / unit

    limit = UNITS_OF_100_MICROSECONDS
    assert best_of_attempts(measure, lambda ratio: ratio <= limit) <= limit


BEFORE, STEPS = 500, 200
"""Steps that are not counted, in which a start becomes feasible, and those that are."""


def calls_of_a_step(solver: ZOSPLM) -> float:
    """Calls of Python's and NumPy's functions in one small step, recording included."""
    counts = []
    for iterations in (1, BEFORE, BEFORE + STEPS, BEFORE + 2 * STEPS):  # the first fills what is made once in a process
        run = Run(problem=NonconvexQCQP(n=100), solver=solver, iterations=iterations)
        counts.append(function_calls(run.run))
    return float(np.diff(counts[1:]).min()) / STEPS  # something else that is done once may fall into either


@pytest.mark.parametrize("published", [False, True])
def test_a_small_step_calls_few_functions(published: bool) -> None:
    """What times tell only on a quiet machine: such a step is nothing but calls, 417 of them in the first version."""
    form = PUBLISHED if published else {}
    calls = calls_of_a_step(ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=1), **form))
    print(f"\nR = 1, k = 1, n = 100: {calls:.0f} calls of functions a step")
    assert 100 < calls <= 417, "below, the run ended before its budget did"


# --- (c) many replicas ------------------------------------------------------------------------------------------------


@pytest.mark.bench
@pytest.mark.slow
@pytest.mark.parametrize("problem", [NonconvexQCQP(n=100), LoadTracking(n=100)], ids=["QCQP", "load tracking"])
def test_64_replicas_in_lock_step_against_one(problem: Problem) -> None:
    iterations = 1500

    def measure() -> float:
        works = [run_of(problem, 1, replicas, iterations, **PUBLISHED) for replicas in (1, 64)]
        one, many = np.median(costs(*works), axis=0)
        print(
            f"\n{problem.title}, k = 1, n = 100: {1e6 * one / iterations:.0f} µs a step with one replica, "
            f"{1e6 * many / iterations:.0f} µs with 64: {64 * one / many:.1f} times the replica-steps per second"
        )
        return 64 * one / many

    assert best_of_attempts(measure, lambda ratio: ratio >= 15.0) >= 15.0
