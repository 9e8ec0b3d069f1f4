"""A bilevel problem whose rounds are written out replica by replica."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers import steps
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Sample
from zoviz.problems import Problem, QuadraticBilevel
from zoviz.solvers import Solver

N, D, REPLICAS, ROUNDS, SEED = 3, 3, 2, 6, 5
ALPHA, BETA, DELTA, RADIUS_V = 0.11, 0.13, 0.17, 0.9
BATCHES = {"outer_batch": 3, "inner_batch": 2}
EXACT = {"rtol": 0.0, "atol": 1e-12}


class Boxed(QuadraticBilevel):
    """The quadratic problem with a follower in a box, which its path meets."""

    __abstract = True  # keeps it out of the registry

    @property
    def inner_domain(self) -> Box:
        return Box(np.full(self.d, -0.5), np.full(self.d, 0.5))


PROBLEM = Boxed(n=N, d=D, drift="rapid", sampling_noise=0.3, half_width=1.2)


def course(solver: Solver, rounds: int = ROUNDS) -> list[Any]:
    """The states of a solver, the first one's included."""
    return steps.course(solver, PROBLEM, rounds, REPLICAS, SEED)[0]


class Hand:
    """One replica's functions of round t, written out."""

    def __init__(self, xi: Sample, r: int) -> None:
        data = PROBLEM.data
        self.hessian, self.coupling = xi.bend[r, 0] * data.hessian, xi.pull[r, 0] * data.coupling
        self.bowl, self.a, self.c, self.q = data.bowl, xi.a[r], xi.c[r], xi.q[r]

    def f(self, x: Array, y: Array) -> float:
        return float(0.5 * (y - self.a) @ (y - self.a) + 0.5 * x @ self.bowl @ x - self.q @ x)

    def g(self, x: Array, y: Array) -> float:
        return float(0.5 * y @ self.hessian @ y - (self.coupling @ x + self.c) @ y)

    def raw(self, x: Array, y: Array, v: Array) -> list[Array]:
        """D^x, D^y, D^v."""
        return [
            self.bowl @ x - self.q - self.coupling.T @ v,
            self.hessian @ y - self.coupling @ x - self.c,
            y - self.a + self.hessian @ v,
        ]


def rounds_of(solver: Solver, count: int = ROUNDS, problem: Problem = PROBLEM) -> tuple[Streams, list[Sample]]:
    """Streams as the solver meets them after the start, and the samples of rounds 0, 1, ..."""
    streams, other = Streams(SEED, REPLICAS), Streams(SEED, REPLICAS)
    batch = solver.outer_batch, solver.inner_batch
    return streams, [problem.draw(0, other)] + [problem.draw(t, other, size=batch) for t in range(1, count + 1)]
