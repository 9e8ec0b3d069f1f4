"""The time that ZOSQP itself takes per call, in units of a factorisation measured beside it; -s prints milliseconds."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import linalg

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.sqp.zosqp import ZOSQP

SIZE = 400
"""Of the matrix whose Cholesky factorisation is the unit: about a millisecond, and what a fit is made of."""


class Curved(Problem):
    """A convex quartic and m convex quadratics, whose values cost next to nothing."""

    __abstract = True

    def __init__(self, n: int, m: int, noise: str) -> None:
        super().__init__(noise=noise, noise_scale=1e-3)
        generator = np.random.default_rng(0)
        root = generator.standard_normal((n, n))
        self.n, self.m, self.domain = n, m, Box(np.full(n, -3.0), np.full(n, 3.0))
        self.quadratic = root @ root.T / n + np.eye(n)
        self.linear, self.rows = generator.standard_normal(n), generator.standard_normal((m, n))

    def initial(self, streams: Streams) -> Array:
        return np.ones((streams.replicas, self.n))

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        f = ((x @ self.quadratic) * x).sum(axis=-1) / 2 - x @ self.linear + 0.05 * (x**4).sum(axis=-1)
        return Evaluation(f, 0.5 * x @ self.rows.T + 0.1 * np.square(x) @ np.abs(self.rows).T - 0.3)


def factorisation() -> float:
    """Seconds of one Cholesky factorisation, the median of many."""
    root = np.random.default_rng(0).standard_normal((SIZE, SIZE))
    matrix, times = root @ root.T + np.eye(SIZE), []
    for _ in range(40):
        started = time.perf_counter()
        linalg.cholesky(matrix, lower=True)
        times.append(time.perf_counter() - started)
    return float(np.median(times))


@pytest.mark.bench
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["deterministic", "independent"])
@pytest.mark.parametrize("n, m, calls, most", [(20, 10, 1500, 4.0), (100, 50, 3000, 16.0)])
def test_overhead_per_call(n: int, m: int, calls: int, most: float, noise: str) -> None:
    streams = Streams(0, 1)
    oracle, solver = Oracle(Curved(n, m, noise), streams, {"calls": 1000 * (n + 1)}), ZOSQP()
    with SingleBlasThread(), np.errstate(all="ignore"):
        unit, started = factorisation(), time.perf_counter()
        state = solver.init(np.ones((1, n)), oracle, streams)
        while oracle.calls[0] < calls:
            state, _ = solver.step(state, oracle, streams)
        seconds = (time.perf_counter() - started) / oracle.calls[0]
        unit = (unit + factorisation()) / 2
    print(f"n = {n}, m = {m}, {noise}: {1e3 * seconds:.2f} ms a call, {seconds / unit:.2f} factorisations of {SIZE}")
    assert seconds < most * unit
