"""ZOEG, ZOCEG and ZOBCEG: what they share, and the errata that change the code."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.steps import (
    EG,
    RADIUS,
    REPLICAS,
    SEED,
    TwoConstraints,
    course,
    problems,
)
from zoviz.core.streams import Streams
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG
from zoviz.solvers.saddle.extragradient import Field, Point


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

    def field(self, at: Point, *rest: Any) -> Field:
        field = super().field(at, *rest)
        self.__dict__.setdefault("notes", []).append((at.x, at.y, field))
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
    field = solver.field(Point(x, y, state.value), 1e-6, solver.guarded(state, oracle), oracle, streams)
    h = problem.evaluate(x[0]).h
    gradient = problem.weights * x[0] - 1.0 + y[0, 0]
    gradient[:2] += 2.0 * y[0, 1] * x[0, :2]
    for actual, expected in ((field.x, gradient), (field.y, h)):
        error = actual.std(axis=0) / np.sqrt(replicas)
        assert (np.abs(actual.mean(axis=0) - expected) <= 4.0 * error + 1e-5).all()
    solver = ZOEG(**EG, dual=dual, estimator=Sphere(smoothing_radius=1e-6, batch_size=2000))
    states, _ = course(solver, problem, iterations=1, replicas=50)
    assert (states[1].y[problem.evaluate(states[0].x).h > 0.5] > 0.0).all()
