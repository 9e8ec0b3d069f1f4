"""Paper zoeg: its three algorithms, the step that they share and a loop written by hand, side by side.

Algorithm 1, of z = (x, y) with d = n + m                     ``ExtraGradient.step``, without safeguards
      sample v, w uniformly on the unit sphere of R^d         in ``field``, anew for each half step
 (7)  g = d / r [phi(z + r v) - phi(z)] v~                    ``self.field((x, y, value), radius, ...)``
 (9)  z+ = P_Z[z - eta g]                                     ``safe.projected_step(x, eta, field.x)``,
                                                              ``safe.bounded(y, y + eta_y * field.y)``
 (8)  g+ = d / r [phi(z+ + r w) - phi(z+)] w~                 ``self.field((x_half, y_half, half), radius, ...)``
(10)  z <- P_Z[z - eta g+]                                    the same from x and y with ``ahead``
      output: the mean of z+                                  ``average``, which ``report="average"`` returns

Algorithm 2 has differences along every coordinate for g, Algorithm 3 along blocks I and J of size tau_x and tau_y for
the two half steps, and moves these alone. A tilde has the part in y negated: y ascends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.steps import (
    EG,
    ITERATIONS,
    REPLICAS,
    SEED,
    TwoConstraints,
    assert_agree,
    course,
    lagrangian,
    problems,
)
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.problems import Problem
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, Solver

RADIUS = 0.5
STEPS = {name: value for name, value in EG.items() if name != "dual_step"} | {"radius_scale": 10.0}


def joint_field(problem: Problem, x: Array, y: Array, radius: float, u: Array) -> tuple[Array, Array]:
    """ZOEG's field for one replica: slopes of phi along directions in (x, y); grad_y phi with its own sign."""
    n, d = len(x), len(x) + len(y)
    gradient = np.zeros(d)
    for direction in u:
        v = direction / np.sqrt(sum(direction**2))
        rise = lagrangian(problem, x + radius * v[:n], y + radius * v[n:]) - lagrangian(problem, x, y)
        gradient += d / (radius * len(u)) * rise * v
    return gradient[:n], gradient[n:]


def exact_dual_field(problem: Problem, x: Array, y: Array, radius: float, u: Array) -> tuple[Array, Array]:
    n, gradient = len(x), np.zeros(len(x))
    for direction in u:
        v = direction / np.sqrt(sum(direction**2))
        gradient += n / (radius * len(u)) * (lagrangian(problem, x + radius * v, y) - lagrangian(problem, x, y)) * v
    return gradient, problem.evaluate(x).h


def coordinate_field(
    problem: Problem, x: Array, y: Array, radius: float, blocks: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Differences along the coordinates of one block, h on the other."""
    gradient, dual = np.zeros(len(x)), np.zeros(len(y))
    for i in blocks[0]:
        there = x.copy()
        there[i] += radius
        gradient[i] = (lagrangian(problem, there, y) - lagrangian(problem, x, y)) / radius
    for j in blocks[1]:
        dual[j] = problem.evaluate(x).h[j]
    return gradient, dual


def by_hand(problem: Problem, field: Any, draw: Any, diminish: bool = False) -> list[tuple]:
    """x, y and the average after each iteration, from ``field(problem, x, y, radius, ...)`` and ``draw(streams)``."""
    streams, lower, upper = Streams(SEED, REPLICAS), problem.domain.lower, problem.domain.upper
    x = problem.initial(streams)
    y, average, out = np.zeros((REPLICAS, problem.m)), np.zeros_like(x), []
    for k in range(ITERATIONS):
        eta, a, b, cap = EG["primal_step"], STEPS["radius_scale"], EG["radius_power"], EG["dual_cap"]
        eta = eta / np.sqrt(k + 1) if diminish else eta  # DS of §5.1, or CS
        radius = min(a / (k + 1) ** b, RADIUS)
        first, second = draw(streams), draw(streams)  # v and w, or the blocks I and J
        x, y, average = x.copy(), y.copy(), average.copy()
        for r in range(REPLICAS):
            gx, gy = field(problem, x[r], y[r], radius, first[r])  # (7)
            xp, yp = np.clip(x[r] - eta * gx, lower, upper), np.clip(y[r] + eta * gy, 0.0, cap)  # (9)
            gx, gy = field(problem, xp, yp, radius, second[r])  # (8)
            x[r], y[r] = np.clip(x[r] - eta * gx, lower, upper), np.clip(y[r] + eta * gy, 0.0, cap)  # (10)
            average[r] = (k * average[r] + xp) / (k + 1)  # the output
        out.append((x, y, average))
    return out


def assert_published(solver: Solver, problem: Problem, expected: list[tuple]) -> None:
    assert solver.form().startswith("As published: paper zoeg")
    assert_course(solver, problem, expected)


def assert_course(solver: Solver, problem: Problem, expected: list[tuple]) -> None:
    states, _ = course(solver, problem)
    for state, (x, y, average) in zip(states[1:], expected, strict=True):
        assert_agree(state.x, x, 1e-12), assert_agree(state.y, y, 1e-12), assert_agree(state.average, average, 1e-12)
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see them"


@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
@pytest.mark.parametrize("name", problems())
def test_zoeg_algorithm_1(name: str, schedule: str) -> None:
    problem, diminish = problems()[name], schedule == "diminishing"
    solver = ZOEG.published(**STEPS, schedule=schedule, estimator=Sphere(smoothing_radius=RADIUS, batch_size=1))
    d = problem.domain.n + problem.m
    draw = lambda streams: streams.normal("directions", 1, d).copy()  # noqa: E731
    assert_published(solver, problem, by_hand(problem, joint_field, draw, diminish))


@pytest.mark.parametrize("name", problems())
def test_our_exact_slope_in_y(name: str) -> None:
    problem = problems()[name]
    solver = ZOEG.published(**STEPS, dual="exact", estimator=Sphere(smoothing_radius=RADIUS, batch_size=2))
    draw = lambda streams: streams.normal("directions", 2, problem.domain.n).copy()  # noqa: E731
    assert_course(solver, problem, by_hand(problem, exact_dual_field, draw))


@pytest.mark.parametrize("name", problems())
def test_zoeg_algorithm_2(name: str) -> None:
    problem = problems()[name]
    everything = (np.arange(problem.domain.n), np.arange(problem.m))
    expected = by_hand(problem, coordinate_field, lambda streams: [everything] * REPLICAS)
    assert_published(ZOCEG.published(**STEPS, estimator=Coordinate(smoothing_radius=RADIUS)), problem, expected)


@pytest.mark.parametrize(("size", "dual_size"), [(1, 1), (2, 1), (3, None), (6, 1)])
def test_zoeg_algorithm_3(size: int, dual_size: int | None) -> None:
    problem = TwoConstraints()

    def draw(streams: Streams) -> list[tuple[Array, Array]]:
        index = streams.subset("blocks", problem.n, size)
        if dual_size is None:
            return [(index[r, 0], np.arange(2)) for r in range(REPLICAS)]
        dual = streams.subset("dual blocks", problem.m, dual_size)
        return [(index[r, 0], dual[r, 0]) for r in range(REPLICAS)]

    estimator = Block(smoothing_radius=RADIUS, block_size=size, scaled=False)
    solver = ZOBCEG.published(**STEPS, dual_block_size=dual_size, estimator=estimator)
    assert_published(solver, problem, by_hand(problem, coordinate_field, draw))
