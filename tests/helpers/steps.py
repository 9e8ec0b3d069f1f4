"""A few steps of any solver; settings of ZO-SPLM and the extra-gradient methods, and problems to follow by hand."""

from __future__ import annotations

import numpy as np

from helpers import known_problems
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import Solver

SEED, REPLICAS, ITERATIONS = 7, 3, 3


class TwoConstraints(known_problems.TwoConstraints):
    """The same in six variables."""

    __abstract = True  # a test's own class: the registry must not offer it

    n = 6
    domain = Box(np.full(6, -2.0), np.full(6, 2.0))
    weights = np.arange(1.0, 7.0)


def problems() -> dict[str, Problem]:
    return {
        "qcqp": NonconvexQCQP(n=6, seed=3),
        "load": LoadTracking(n=6, seed=1, curtailment=60.0),
        "two constraints": TwoConstraints(),
    }


def course(
    solver: Solver, problem: Problem, iterations: int = ITERATIONS, replicas: int = REPLICAS, seed: int = SEED
) -> tuple[list, Oracle]:
    """States of the solver, the first one's included, and the oracle."""
    streams = Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    states = [solver.init(problem.initial(streams), oracle, streams)]
    for _ in range(iterations):
        states.append(solver.step(states[-1], oracle, streams)[0])
    return states, oracle


def lagrangian(problem: Problem, x: Array, y: Array) -> float:
    """The Lagrangian at one point."""
    value = problem.evaluate(x)
    total = float(value.f)
    for j in range(problem.m):
        total += float(y[j]) * float(value.h[j])
    return total


def assert_agree(a: Array, b: Array, tolerance: float = 1e-9) -> None:
    scale = max(float(np.abs(b).max()), 1e-12)
    assert float(np.abs(a - b).max()) <= tolerance * scale


SPLM = {"primal_step": 0.02, "dual_step": 0.03, "proximal_step": 0.4, "proximal_weight": 0.7, "dual_cap": 1.5}
EG = {"primal_step": 0.03, "dual_step": 0.05, "radius_scale": 0.1, "radius_power": 1.1, "dual_cap": 1.5}
RADIUS = 0.05
