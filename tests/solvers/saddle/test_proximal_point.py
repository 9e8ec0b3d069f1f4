"""The proximal-point chain against a loop written by hand, and its calls."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from helpers.known_problems import TwoConstraints
from helpers.proximal import CAP, DUAL, REPLICAS, SEED, STEP, WEIGHTS, course, inner_solvers
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP, Problem
from zoviz.solvers import ZOCEG, ProximalPoint, Solver, SZOConEX


class Stage:
    """One replica's subproblem: the black box with its own count of calls, and quadratics around a centre."""

    def __init__(self, problem: Problem, replica: int) -> None:
        self.problem, self.calls = problem, 0
        self._numbers = iter(Streams(SEED, REPLICAS).normal("directions", 20_000)[replica])

    def begin(self, centre: Array, raw: Array) -> None:
        held = (raw[1:] <= 0.0).astype(float)
        self.centre = centre
        self.weights = np.concatenate([[WEIGHTS["objective_weight"]], WEIGHTS["constraint_weight"] * held])

    def normal(self, size: int) -> Array:
        return np.array([next(self._numbers) for _ in range(size)])

    def raw(self, x: Array) -> Array:
        """F_0 .. F_m of the black box."""
        self.calls += 1
        value = self.problem.evaluate(x)
        return np.concatenate([[value.f], value.h])

    def whole(self, x: Array, raw: Array) -> Array:
        return raw + self.weights * np.sum((x - self.centre) ** 2)

    def slopes(self, x: Array) -> Array:
        """Gradients of the quadratics, (m + 1, n)."""
        return 2.0 * self.weights[:, None] * (x - self.centre)


def field(stage: Stage, inner: Solver, x: Array, y: Array, raw: Array) -> tuple[Array, Array]:
    """What ZOEG or ZOCEG estimates of the gradients in x and y."""
    n, m, r, ones = len(x), len(y), inner.estimator.smoothing_radius, np.concatenate([[1.0], y])
    slope, in_x, in_y = ones @ stage.slopes(x), np.zeros(n), stage.whole(x, raw)[1:]
    if isinstance(inner, ZOCEG):
        for i in range(n):
            in_x[i] = ones @ (stage.raw(x + r * np.eye(n)[i]) - raw) / r
        return in_x + slope, in_y
    k, joint = inner.estimator.batch_size, inner.dual == "estimated"
    in_y = np.zeros(m) if joint else in_y
    for _ in range(k):
        v = stage.normal(n + m if joint else n)
        v /= np.sqrt(v @ v)
        there = stage.raw(x + r * v[:n])
        if joint:
            rise = (np.concatenate([[1.0], y + r * v[n:]]) @ there - ones @ raw) / r
            in_y = in_y + (n + m) * rise * v[n:] / k
            in_x = in_x + (n + m) * rise * v[:n] / k
        else:
            in_x = in_x + n * (ones @ (there - raw)) / r * v / k
    return in_x + slope, in_y + (stage.whole(x, raw) - raw)[1:] * joint


class ByHand:
    """The chain for one replica, step by step."""

    def __init__(self, solver: ProximalPoint, problem: Problem, replica: int, x0: Array) -> None:
        self.solver, self.stage, self.x, self.y = solver, Stage(problem, replica), x0, np.zeros(problem.m)
        self.coins = iter(Streams(SEED, REPLICAS).uniform("stage", 50)[replica])
        self.random_solution, self.finished, self.clock = x0, 0, 0
        self.begin(x0, None)

    def begin(self, centre: Array, raw: Array | None) -> None:
        stage = self.stage
        self.base = stage.raw(centre) if raw is None else raw
        stage.begin(centre, self.base)
        self.x, self.average, self.clock = centre, np.zeros_like(centre), 0
        if isinstance(self.solver.inner, SZOConEX):
            self.level = self.previous = self.foretell(centre, centre)

    def step(self) -> None:
        solver = self.solver
        if self.clock >= solver.stage_length:
            self.finished += 1
            averaged = solver.inner.report == "average"
            centre = self.average if averaged else self.x
            if self.finished <= solver.stages and next(self.coins) < 1.0 / self.finished:
                self.random_solution = centre
            self.begin(centre, None if averaged else self.base)
            if not solver.warm_duals:
                self.y = np.zeros_like(self.y)
        (self.extrapolate if isinstance(solver.inner, SZOConEX) else self.extra_gradient)()
        self.clock += 1

    def project(self, x: Array) -> Array:
        return np.clip(x, self.stage.problem.domain.lower, self.stage.problem.domain.upper)

    def extra_gradient(self) -> None:
        inner, stage = self.solver.inner, self.stage
        in_x, in_y = field(stage, inner, self.x, self.y, self.base)
        x_half, y_half = self.project(self.x - STEP * in_x), np.clip(self.y + DUAL * in_y, 0.0, CAP)
        in_x, in_y = field(stage, inner, x_half, y_half, stage.raw(x_half))
        self.x, self.y = self.project(self.x - STEP * in_x), np.clip(self.y + DUAL * in_y, 0.0, CAP)
        self.average = self.average + (x_half - self.average) / (self.clock + 1.0)
        self.base = stage.raw(self.x)

    def foretell(self, x: Array, there: Array) -> Array:
        stage, estimator = self.stage, self.solver.inner.estimator
        gradients, values, k = stage.slopes(x), np.zeros(len(self.base)), estimator.batch_size
        for _ in range(k):
            u = stage.normal(len(x))
            value = stage.raw(x + estimator.smoothing_radius * u)
            gradients = gradients + np.outer(value - self.base, u) / (estimator.smoothing_radius * k)
            values += value / k
        return (stage.whole(x, values) + gradients @ (there - x))[1:]

    def extrapolate(self) -> None:
        stage, estimator, x = self.stage, self.solver.inner.estimator, self.x
        self.y = np.clip(self.y + DUAL * (2.0 * self.level - self.previous), 0.0, CAP)
        ones, gradient = np.concatenate([[1.0], self.y]), np.zeros(len(x))
        for _ in range(estimator.batch_size):
            u = stage.normal(len(x))
            rise = ones @ (stage.raw(x + estimator.smoothing_radius * u) - self.base)
            gradient += rise * u / (estimator.smoothing_radius * estimator.batch_size)
        self.x = self.project(x - STEP * (gradient + ones @ stage.slopes(x)))
        self.previous, self.level = self.level, self.foretell(x, self.x)
        self.average = self.average + (self.x - self.average) / (self.clock + 1.0)
        self.base = stage.raw(self.x)


OPTIONS = {"default": ({}, {}), "cold": ({"warm_duals": False}, {}), "average": ({}, {"report": "average"})}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("inner", inner_solvers())
def test_equals_a_hand_written_loop(inner: str, options: tuple[dict, dict]) -> None:
    outer, inside = options
    problem = TwoConstraints()
    solver = ProximalPoint(inner=inner_solvers(**inside)[inner], stage_length=2, stages=2, **WEIGHTS, **outer)
    states, oracle = course(solver, problem, 7)
    kinds = set()
    for r in range(REPLICAS):
        hand = ByHand(solver, problem, r, states[0].x[r])
        for state in states[1:]:
            hand.step()
            for actual, expected in (
                (state.x[r], hand.x),
                (state.y[r], hand.y),
                (state.random_solution[r], hand.random_solution),
                (state.value.f[r], hand.base[0]),
                (state.value.h[r], hand.base[1:]),
            ):
                np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
            kinds.add(tuple(hand.stage.weights > 0.0))
        assert oracle.calls[r] == hand.stage.calls
    assert states[-1].finished == 3 and states[-1].y.max() > 0.0
    assert len(kinds) > 1, "every centre held or violated the same constraints"


def test_calls_of_a_stage() -> None:
    k, length = 6, 4
    per_step = {"conex": 2 * k + 1, "zoceg": 2 * 6, "zoeg": 2 * (k + 1), "zoeg, exact dual": 2 * (k + 1)}
    inners = inner_solvers()
    assert inners.keys() == per_step.keys()
    for name, inner in inners.items():
        inner.estimator.batch_size = 1 if name == "zoceg" else k
        solver = ProximalPoint(inner=inner, stage_length=length, **WEIGHTS)
        states, oracle = course(solver, TwoConstraints(), 1)
        before, state, streams = oracle.calls.copy(), states[-1], Streams(1, REPLICAS)
        for _ in range(3 * length):
            state, _ = solver.step(state, oracle, streams)
        start = k if name == "conex" else 0  # the value at the centre is paid for, the first bar draw is not
        assert (oracle.calls - before == 3 * (length * per_step[name] + start)).all(), name


@pytest.mark.parametrize("inner", inner_solvers())
def test_a_copy_of_the_state_takes_the_same_course_at_the_same_calls(inner: str) -> None:
    """A state that was stored, or whose frozen rows were put back, holds arrays of its own."""
    ends = []
    for copied in (False, True):
        solver = ProximalPoint(inner=inner_solvers()[inner], stage_length=2, **WEIGHTS)
        streams = Streams(SEED, REPLICAS)
        problem = NonconvexQCQP(n=3)
        oracle = Oracle(problem, streams)
        state = solver.init(problem.initial(streams), oracle, streams)
        for _ in range(7):
            state, _ = solver.step(copy.deepcopy(state) if copied else state, oracle, streams)
        ends.append((state, oracle.calls))
    np.testing.assert_array_equal(ends[1][0].x, ends[0][0].x)
    np.testing.assert_array_equal(ends[1][1], ends[0][1])
