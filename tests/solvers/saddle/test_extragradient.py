"""ZOEG, ZOCEG and ZOBCEG against a loop written by hand, and the errata that change the code."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.steps import (
    EG,
    ITERATIONS,
    RADIUS,
    REPLICAS,
    SEED,
    TwoConstraints,
    assert_agree,
    course,
    lagrangian,
    problems,
)
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import Problem
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, Solver
from zoviz.solvers.saddle.extragradient import Field


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


def extragradient_by_hand(problem: Problem, field: Any, draw: Any, diminish: bool = False) -> list[tuple]:
    """States after each iteration, from ``field(problem, x, y, radius, numbers)`` and ``draw(streams)[r]``."""
    streams, lower, upper = Streams(SEED, REPLICAS), problem.domain.lower, problem.domain.upper
    x = problem.initial(streams)
    y, average, out = np.zeros((REPLICAS, problem.m)), np.zeros_like(x), []
    for k in range(ITERATIONS):
        eta, eta_y, a, b, cap = EG.values()
        if diminish:
            eta, eta_y = eta / np.sqrt(k + 1), eta_y / np.sqrt(k + 1)
        radius = min(a / (k + 1) ** b, RADIUS)
        first, second = draw(streams), draw(streams)
        x, y, average = x.copy(), y.copy(), average.copy()
        for r in range(REPLICAS):
            gx, gy = field(problem, x[r], y[r], radius, first[r])
            xp, yp = np.clip(x[r] - eta * gx, lower, upper), np.clip(y[r] + eta_y * gy, 0.0, cap)
            gx, gy = field(problem, xp, yp, radius, second[r])
            x[r], y[r] = np.clip(x[r] - eta * gx, lower, upper), np.clip(y[r] + eta_y * gy, 0.0, cap)
            average[r] = (k * average[r] + xp) / (k + 1)
        out.append((x, y, average))
    return out


def assert_same_course(solver: Solver, problem: Problem, expected: list[tuple]) -> None:
    states, _ = course(solver, problem)
    for state, (x, y, average) in zip(states[1:], expected, strict=True):
        assert_agree(state.x, x)
        assert_agree(state.y, y)
        assert_agree(state.average, average)
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see them"


@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
@pytest.mark.parametrize("dual", ["estimated", "exact"])
@pytest.mark.parametrize("name", problems())
def test_zoeg_equals_a_hand_written_loop(name: str, dual: str, schedule: str) -> None:
    problem, k = problems()[name], 2
    solver = ZOEG(**EG, dual=dual, schedule=schedule, estimator=Sphere(smoothing_radius=RADIUS, batch_size=k))
    d = problem.domain.n + (problem.m if dual == "estimated" else 0)
    field = joint_field if dual == "estimated" else exact_dual_field
    expected = extragradient_by_hand(
        problem, field, lambda streams: streams.normal("directions", k, d).copy(), schedule == "diminishing"
    )
    assert_same_course(solver, problem, expected)


@pytest.mark.parametrize("name", problems())
def test_zoceg_equals_a_hand_written_loop(name: str) -> None:
    problem = problems()[name]
    everything = (np.arange(problem.domain.n), np.arange(problem.m))
    expected = extragradient_by_hand(problem, coordinate_field, lambda streams: [everything] * REPLICAS)
    assert_same_course(ZOCEG(**EG, estimator=Coordinate(smoothing_radius=RADIUS)), problem, expected)


@pytest.mark.parametrize(("size", "dual_size"), [(1, 1), (2, 1), (3, None), (6, 1)])
def test_zobceg_equals_a_hand_written_loop(size: int, dual_size: int | None) -> None:
    problem = TwoConstraints()

    def draw(streams: Streams) -> list[tuple[Array, Array]]:
        index = streams.subset("blocks", problem.n, size)
        if dual_size is None:
            return [(index[r, 0], np.arange(2)) for r in range(REPLICAS)]
        dual = streams.subset("dual blocks", problem.m, dual_size)
        return [(index[r, 0], dual[r, 0]) for r in range(REPLICAS)]

    estimator = Block(smoothing_radius=RADIUS, block_size=size, scaled=False)
    solver = ZOBCEG(**EG, dual_block_size=dual_size, estimator=estimator)
    assert_same_course(solver, problem, extragradient_by_hand(problem, coordinate_field, draw))


@pytest.mark.parametrize("name", problems())
def test_zobceg_with_full_blocks_is_zoceg(name: str) -> None:
    problem = problems()[name]
    n, m = problem.domain.n, problem.m
    block = Block(smoothing_radius=RADIUS, block_size=n, scaled=False)
    one, _ = course(ZOBCEG(**EG, dual_block_size=m, estimator=block), problem, iterations=20)
    other, _ = course(ZOCEG(**EG, estimator=Coordinate(smoothing_radius=RADIUS)), problem, iterations=20)
    assert len(one) == len(other) == 21
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y) and np.array_equal(a.average, b.average)


class Spied(ZOBCEG):
    """ZOBCEG that notes where each half step estimated the field, and the field."""

    __abstract = True

    def field(self, point: tuple[Array, Array, Evaluation], *rest: Any) -> Field:
        field = super().field(point, *rest)
        self.__dict__.setdefault("notes", []).append((*point[:2], field))
        return field


def spied(size: int, dual_size: int, iterations: int, replicas: int = REPLICAS) -> tuple[list, list]:
    estimator = Block(smoothing_radius=1e-3, block_size=size, scaled=False)
    solver = Spied(**EG, dual_block_size=dual_size, estimator=estimator)
    states, _ = course(solver, TwoConstraints(), iterations, replicas)
    return states, solver.notes


def test_the_second_half_step_draws_blocks_of_its_own_for_x_and_for_y() -> None:
    replicas = 3000
    _, notes = spied(2, 1, 1, replicas)
    (_, _, first), (_, _, second) = notes
    blocks = [(field.x != 0.0) for field in (first, second)]
    assert all((block.sum(axis=1) == 2).all() for block in blocks)
    for share, chance in (
        ((blocks[0] == blocks[1]).all(axis=1).mean(), 1.0 / 15.0),
        (((first.y != 0.0) == (second.y != 0.0)).all(axis=1).mean(), 0.5),
    ):
        assert abs(share - chance) < 4.0 * np.sqrt(chance * (1.0 - chance) / replicas)
    # Uniform blocks: each coordinate of x is in a third of them, each of y in half.
    assert np.abs(blocks[1].mean(axis=0) - 1.0 / 3.0).max() < 4.0 * np.sqrt(2.0 / 9.0 / replicas)
    assert np.abs((second.y != 0.0).mean(axis=0) - 0.5).max() < 4.0 * np.sqrt(0.25 / replicas)


def test_the_average_is_that_of_the_half_step_points() -> None:
    states, notes = spied(3, 2, 5)
    halves = [x for x, _, _ in notes[1::2]]
    np.testing.assert_allclose(states[-1].average, np.mean(halves, axis=0), rtol=1e-12)
    assert not np.allclose(states[-1].average, np.mean([state.x for state in states[:-1]], axis=0), rtol=1e-6)
    assert not np.allclose(states[-1].average, np.mean([state.x for state in states[1:]], axis=0), rtol=1e-6)
    solver = ZOBCEG(report="average")
    np.testing.assert_array_equal(solver.output(states[-1]), states[-1].average)
    np.testing.assert_array_equal(solver.output(states[0]), states[0].x)


def test_unsampled_coordinates_stay_exactly_at_the_base_point() -> None:
    states, notes = spied(2, 1, 4)
    moved = 0
    for k, (before, after) in enumerate(itertools.pairwise(states)):
        (_, _, first), (x_half, y_half, second) = notes[2 * k : 2 * k + 2]
        for field, x, y in ((first, x_half, y_half), (second, after.x, after.y)):
            assert (x[field.x == 0.0] == before.x[field.x == 0.0]).all()
            assert (y[field.y == 0.0] == before.y[field.y == 0.0]).all()
        moved += int((x_half != after.x).sum())
    assert moved > 0


def test_schedules_count_from_one() -> None:
    problem = TwoConstraints()
    own = ZOCEG(**EG, schedule="diminishing", estimator=Coordinate(smoothing_radius=RADIUS))
    states, _ = course(own, problem, iterations=4)
    assert np.isfinite(states[1].x).all()
    steps = ZOCEG(**EG, estimator=Coordinate(smoothing_radius=RADIUS))
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(problem, streams)
    state = steps.init(problem.initial(streams), oracle, streams)
    for k in range(4):
        steps.primal_step, steps.dual_step = (EG[name] / np.sqrt(k + 1.0) for name in ("primal_step", "dual_step"))
        state, info = steps.step(state, oracle, streams)
        assert info.radius == pytest.approx(min(EG["radius_scale"] / (k + 1.0) ** EG["radius_power"], RADIUS))
        np.testing.assert_allclose(state.x, states[k + 1].x, rtol=1e-12)


@pytest.mark.parametrize("dual", ["estimated", "exact"])
def test_the_field_descends_in_x_and_ascends_in_y(dual: str) -> None:
    problem, replicas = TwoConstraints(), 300
    streams = Streams(1, replicas)
    oracle = Oracle(problem, streams)
    x = np.tile([0.9, 0.8, -0.3, 0.2, 0.1, 0.4], (replicas, 1))
    y = np.tile([0.6, 0.3], (replicas, 1))
    solver = ZOEG(**EG, dual=dual, estimator=Sphere(smoothing_radius=1e-6, batch_size=100))
    state = solver.init(x, oracle, streams)._replace(y=y)
    field = solver.field((x, y, state.value), 1e-6, solver.guarded(state, oracle), oracle, streams)
    h = problem.evaluate(x[0]).h
    gradient = problem.weights * x[0] - 1.0 + y[0, 0]
    gradient[:2] += 2.0 * y[0, 1] * x[0, :2]
    for actual, expected in ((field.x, gradient), (field.y, h)):
        error = actual.std(axis=0) / np.sqrt(replicas)
        assert (np.abs(actual.mean(axis=0) - expected) <= 4.0 * error + 1e-5).all()
    solver = ZOEG(**EG, dual=dual, estimator=Sphere(smoothing_radius=1e-6, batch_size=2000))
    states, _ = course(solver, problem, iterations=1, replicas=50)
    assert (states[1].y[problem.evaluate(states[0].x).h > 0.5] > 0.0).all()
