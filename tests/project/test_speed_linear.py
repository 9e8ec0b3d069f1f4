"""Speed of the methods for linear constraints, as ratios of the thread's own CPU time within one process."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from zoviz.core.streams import Streams
from zoviz.oracle import FirstOrder, Oracle
from zoviz.papers.salm.rates import prepared
from zoviz.problems import StochasticQP
from zoviz.solvers import EliminatedSGD, LinearisedALM, PenaltySGD, SampledALM, SmoothedALM, Solver, StormALM

pytestmark = [pytest.mark.bench, pytest.mark.slow, pytest.mark.usefixtures("one_blas_thread")]

EACH = pytest.mark.parametrize("cls", [SmoothedALM, SampledALM, StormALM, LinearisedALM, PenaltySGD, EliminatedSGD])
ATTEMPTS, REPETITIONS = 3, 5


def least(*works: Callable[[], None], times: int) -> list[float]:
    """Least cost of one call of each, measured in turns so that a slow spell meets them all."""
    seconds = []
    for _ in range(REPETITIONS):
        row = []
        for work in works:
            started = time.thread_time()
            for _ in range(times):
                work()
            row.append((time.thread_time() - started) / times)
        seconds.append(row)
    return [min(column) for column in zip(*seconds, strict=True)]


class Bench:
    """One method's steps, and the stochastic gradients that they cannot do without: one, or two under one sample."""

    def __init__(self, cls: type[Solver], n: int, replicas: int) -> None:
        problem = StochasticQP(n=n, rows=5, free_variables=n // 2 if cls is EliminatedSGD else 0)
        self.solver, self.streams = prepared(cls(), problem), Streams(0, replicas)
        self.oracle, self.gradients = Oracle(problem, self.streams), 2 if cls is StormALM else 1
        self.x, self.first = problem.initial(self.streams), FirstOrder(self.oracle)
        self.state = self.solver.init(self.x, self.oracle, self.streams)

    def step(self) -> None:
        self.state, _ = self.solver.step(self.state, self.oracle, self.streams)

    def gradient(self) -> None:
        self.oracle.resample(1)
        for _ in range(self.gradients):
            self.first.gradient(self.x)


@EACH
def test_a_step_costs_at_most_twice_its_stochastic_gradient(cls: type[Solver]) -> None:
    """n = 10,000, mini-batch 1; drawing the sample is part of the gradient."""
    bench, ratios = Bench(cls, 10_000, 1), []
    for _ in range(ATTEMPTS):
        step, gradient = least(bench.step, bench.gradient, times=60)
        ratios.append(step / gradient)
        print(f"\n{cls.__name__}: {1e6 * step:.0f} µs a step, {1e6 * gradient:.0f} µs its gradient: {ratios[-1]:.2f}")
        if ratios[-1] <= 2.0:
            break
    assert min(ratios) <= 2.0, ratios


@EACH
def test_64_replicas_in_lock_step_have_ten_times_the_throughput_of_one(cls: type[Solver]) -> None:
    few, many, ratios = Bench(cls, 100, 1), Bench(cls, 100, 64), []
    for _ in range(ATTEMPTS):
        one, all_64 = least(few.step, many.step, times=300)
        ratios.append(64.0 * one / all_64)
        print(f"\n{cls.__name__}: {1e6 * one:.0f} µs a step of one replica, {1e6 * all_64:.0f} of 64: {ratios[-1]:.1f}")
        if ratios[-1] >= 10.0:
            break
    assert max(ratios) >= 10.0, ratios
