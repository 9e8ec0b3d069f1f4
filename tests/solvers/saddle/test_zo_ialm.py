"""ZO-iALM against its three loops written out replica by replica."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from helpers.bench import Bench
from helpers.zo_ialm import BETA, CAP, EPS, GIVEN, PATIENCE, RADIUS, SHARE, SIGMA, SLOPE, SMOOTH, SMOOTH_H, TOL, W0
from zoviz.core.types import Array
from zoviz.estimators import Coordinate
from zoviz.problems import Problem
from zoviz.solvers import ZOiALM

DIFFERENCES = {
    1: {1: 1 / 2, -1: -1 / 2},
    2: {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12},
    3: {1: 45 / 60, -1: -45 / 60, 2: -9 / 60, -2: 9 / 60, 3: 1 / 60, -3: -1 / 60},
}


class Told(NamedTuple):
    """What one replica looks like after a step."""

    x: Array
    y: Array
    z: Array
    centre: Array
    penalty: float
    curvature: float
    weight: float
    stage: int


class Replica:
    """One replica's course: the loops as nested as they are in the paper."""

    def __init__(
        self, problem: Problem, x: Array, draws: Iterator[int], points: int, finds: bool, log: list[str]
    ) -> None:
        self.problem, self.draws, self.points, self.finds, self.log = problem, draws, points, finds, log
        self.n, self.x, self.z, self.centre, self.y, self.beta = 4, x, x, x, np.zeros(2), BETA
        self.curvature, self.first = self.formula() / (self.n if finds else 1), 0.0
        self.rho, self.stage, self.tests = SHARE * self.curvature, 0, 0

    def phi(self, at: Array) -> float:
        value, y, beta = self.problem.evaluate(at), self.y, self.beta
        return float(value.f) + sum(
            beta / 2.0 * (max(float(value.h[j]) + y[j] / beta, 0.0) ** 2 - (y[j] / beta) ** 2) for j in range(2)
        )

    def partial(self, at: Array, i: int, weights: dict[int, float]) -> float:
        return sum(w * self.phi(at + j * RADIUS * np.eye(self.n)[i]) for j, w in weights.items()) / RADIUS

    def formula(self) -> float:
        return SMOOTH + SMOOTH_H * np.linalg.norm(self.y) + self.beta * SLOPE * (SMOOTH_H + SLOPE)

    def told(self) -> Told:
        return Told(self.x, self.y, self.z, self.centre, self.beta, self.curvature, self.rho, self.stage)

    def course(self) -> Iterator[Told]:
        steps = int(np.ceil(self.n * np.sqrt(1 / SHARE + 2) * np.log(1 / TOL)))
        while True:  # outer stages
            self.tests, ends = 0, False
            while not ends:  # proximal points
                self.centre, self.z, solved = self.x.copy(), self.x.copy(), False
                while not solved:  # coordinate steps, then a test
                    for _ in range(steps):
                        self.step(next(self.draws))
                        yield self.told()
                    ends, solved = self.test()
                    yield self.told()

    def step(self, i: int) -> None:
        n, x, z, full = self.n, self.x, self.z, self.curvature + 2 * self.rho
        alpha = np.sqrt(self.rho / full) / n
        v = (x + alpha * z) / (1 + alpha)
        slope = self.partial(v, i, DIFFERENCES[self.points])
        gradient = slope + 2 * self.rho * (v[i] - self.centre[i])
        z_next = (1 - alpha) * z + alpha * v
        z_next[i] = min(max(z_next[i] - gradient / (n * alpha * full), 0.0), 2.0)
        x_next = v.copy()
        x_next[i] = v[i] + n * alpha * (z_next[i] - z[i]) + n * alpha**2 * (z[i] - v[i])
        x_next = np.clip(x_next, 0.0, 2.0)
        level = 0.5 * (self.phi(v + RADIUS * np.eye(n)[i]) + self.phi(v - RADIUS * np.eye(n)[i]))
        d = x_next[i] - v[i]
        lost = RADIUS**2 if abs(d) < RADIUS else 0.0
        bound = level + slope * d + self.curvature / 2 * (d * d + lost) + 1e-12 * (1 + abs(level))
        if self.finds and self.phi(x_next) > bound:
            self.curvature *= 2
            self.log.append("doubled")
        else:
            self.x, self.z = x_next, z_next

    def test(self) -> tuple[bool, bool]:
        """Whether this was the stage's last proximal point, and whether it is solved."""
        n, x, full = self.n, self.x, self.curvature + 2 * self.rho
        gradient = np.array([self.partial(x, i, DIFFERENCES[1]) for i in range(n)]) + 2 * self.rho * (x - self.centre)
        self.tests += 1
        residual = np.linalg.norm(full * (x - np.clip(x - gradient / full, 0.0, 2.0)))
        stationary = residual <= EPS / 4
        close = 2 * self.rho * np.linalg.norm(x - self.centre) <= EPS / 2
        ends = (stationary and close) or self.tests >= PATIENCE
        solved = stationary or ends
        self.log.append("ends" if stationary and close else "patience" if ends else "solved" if solved else "fails")
        if ends:
            self.end_stage()
        if not self.finds:
            self.curvature = self.formula()
        if solved:
            self.rho, self.centre, self.z = SHARE * self.curvature, x.copy(), x.copy()
        if self.finds and residual**2 / full > 1e-8 * (1 + abs(self.problem.evaluate(x).f)):
            self.curvature = max(self.curvature / 2, SMOOTH / n)
        return ends, solved

    def end_stage(self) -> None:
        c = np.maximum(self.problem.evaluate(self.x).h, -self.y / self.beta)
        size = np.linalg.norm(c)
        self.first = self.first or size
        gamma = np.log(2) ** 2 * self.first / ((self.stage + 1) * np.log(self.stage + 2) ** 2)
        w = min(W0 * min(1.0, gamma / size), self.beta) if size else 0.0
        self.log.append("damped" if gamma < size else "full")
        self.y = np.clip(self.y + w * c, 0.0, CAP)
        self.beta *= SIGMA if size > EPS else 1.0
        self.stage += 1


@pytest.mark.parametrize("points, backtrack", [(1, True), (2, True), (3, True), (1, False)])
def test_steps_equal_the_loops_written_out(bench: Bench, points: int, backtrack: bool) -> None:
    steps, replicas, problem = 400, 3, bench.problem
    estimator = Coordinate(smoothing_radius=RADIUS, differences="central")
    states, _ = bench.course(ZOiALM(**GIVEN, points=points, backtrack=backtrack, estimator=estimator), steps, replicas)
    streams, log = bench.streams(replicas), []
    starts = problem.initial(streams).copy()
    index = np.stack([streams.subset("coordinates", 4, 1)[:, 0, 0] for _ in range(steps)])
    for r in range(replicas):
        course = Replica(problem, starts[r], iter(index[:, r].tolist()), points, backtrack, log).course()
        for t in range(1, steps + 1):
            expected = next(course)
            for name, value in expected._asdict().items():
                result = getattr(states[t], name)[r]
                # Round-off, divided by 2 h at each step, adds up.
                np.testing.assert_allclose(
                    result, value, rtol=0, atol=1e-12 if t <= 50 else 1e-10, err_msg=f"{name}, step {t}"
                )
    # Every branch of the loops was met.
    cases = {"ends", "patience", "solved", "fails", "damped", "full"} | ({"doubled"} if backtrack else set())
    assert cases <= set(log), set(log)
    assert len({tuple(state.stage) for state in states}) > len({state.stage[0] for state in states})
