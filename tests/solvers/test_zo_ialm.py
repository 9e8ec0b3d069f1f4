"""ZO-iALM against its three loops written out replica by replica, at a known solution, and its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.bench import Bench
from zoviz.estimators import Block, Coordinate
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.runs.journal import Change, Journal
from zoviz.runs.run import Run
from zoviz.sets import Ball
from zoviz.solvers import ZOiALM
from zoviz.streams import Streams
from zoviz.types import Array, Estimate

W0, BETA, SIGMA, CAP, EPS, SHARE, TOL, RADIUS, PATIENCE = 0.6, 2.0, 3.0, 1.1, 0.8, 0.2, 0.3, 0.05, 3
SMOOTH, SMOOTH_H, SLOPE = 4.0, 2.0, 2.5
GIVEN = {
    "dual_step": W0,
    "penalty": BETA,
    "penalty_factor": SIGMA,
    "dual_cap": CAP,
    "tolerance": EPS,
    "proximal_share": SHARE,
    "inner_accuracy": TOL,
    "patience": PATIENCE,
    "smoothness": SMOOTH,
    "constraint_smoothness": SMOOTH_H,
    "constraint_slope": SLOPE,
}
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


def replica(
    problem: Problem, x: Array, draws: Iterator[int], points: int, finds: bool, log: list[str]
) -> Iterator[Told]:
    """One replica's course: the loops as nested as they are in the paper."""
    n, y, beta = 4, np.zeros(2), BETA

    def phi(at: Array) -> float:
        value = problem.evaluate(at)
        return float(value.f) + sum(
            beta / 2.0 * (max(float(value.h[j]) + y[j] / beta, 0.0) ** 2 - (y[j] / beta) ** 2) for j in range(2)
        )

    def partial(at: Array, i: int, weights: dict[int, float]) -> float:
        return sum(w * phi(at + j * RADIUS * np.eye(n)[i]) for j, w in weights.items()) / RADIUS

    def formula() -> float:
        return SMOOTH + SMOOTH_H * np.linalg.norm(y) + beta * SLOPE * (SMOOTH_H + SLOPE)

    curvature, first = formula() / (n if finds else 1), 0.0
    rho, steps = SHARE * curvature, int(np.ceil(n * np.sqrt(1 / SHARE + 2) * np.log(1 / TOL)))
    stage = 0
    while True:  # outer stages
        tests, ends = 0, False
        while not ends:  # proximal points
            centre, z, solved = x.copy(), x.copy(), False
            while not solved:  # coordinate steps, then a test
                for _ in range(steps):
                    i, full = next(draws), curvature + 2 * rho
                    alpha = np.sqrt(rho / full) / n
                    v = (x + alpha * z) / (1 + alpha)
                    slope = partial(v, i, DIFFERENCES[points])
                    gradient = slope + 2 * rho * (v[i] - centre[i])
                    z_next = (1 - alpha) * z + alpha * v
                    z_next[i] = min(max(z_next[i] - gradient / (n * alpha * full), 0.0), 2.0)
                    x_next = v.copy()
                    x_next[i] = v[i] + n * alpha * (z_next[i] - z[i]) + n * alpha**2 * (z[i] - v[i])
                    x_next = np.clip(x_next, 0.0, 2.0)
                    level = 0.5 * (phi(v + RADIUS * np.eye(n)[i]) + phi(v - RADIUS * np.eye(n)[i]))
                    d = x_next[i] - v[i]
                    if finds and phi(x_next) > level + slope * d + curvature / 2 * d * d + 1e-12 * (1 + abs(level)):
                        curvature *= 2
                        log.append("doubled")
                    else:
                        x, z = x_next, z_next
                    yield Told(x, y, z, centre, beta, curvature, rho, stage)
                full = curvature + 2 * rho
                gradient = np.array([partial(x, i, DIFFERENCES[1]) for i in range(n)]) + 2 * rho * (x - centre)
                tests += 1
                residual = np.linalg.norm(full * (x - np.clip(x - gradient / full, 0.0, 2.0)))
                stationary = residual <= EPS / 4
                close = 2 * rho * np.linalg.norm(x - centre) <= EPS / 2
                ends = (stationary and close) or tests >= PATIENCE
                solved = stationary or ends
                log.append("ends" if stationary and close else "patience" if ends else "solved" if solved else "fails")
                if ends:
                    c = np.maximum(problem.evaluate(x).h, -y / beta)
                    size = np.linalg.norm(c)
                    first = first or size
                    gamma = np.log(2) ** 2 * first / ((stage + 1) * np.log(stage + 2) ** 2)
                    w = min(W0 * min(1.0, gamma / size), beta) if size else 0.0
                    log.append("damped" if gamma < size else "full")
                    y = np.clip(y + w * c, 0.0, CAP)
                    beta *= SIGMA if size > EPS else 1.0
                    stage += 1
                if not finds:
                    curvature = formula()
                if solved:
                    rho, centre, z = SHARE * curvature, x.copy(), x.copy()
                if finds and residual**2 / full > 1e-8 * (1 + abs(problem.evaluate(x).f)):
                    curvature = max(curvature / 2, SMOOTH / n)
                yield Told(x, y, z, centre, beta, curvature, rho, stage)


@pytest.mark.parametrize("points, backtrack", [(1, True), (2, True), (3, True), (1, False)])
def test_steps_equal_the_loops_written_out(bench: Bench, points: int, backtrack: bool) -> None:
    steps, replicas, problem = 400, 3, bench.problem
    estimator = Coordinate(smoothing_radius=RADIUS, differences="central")
    states, _ = bench.course(ZOiALM(**GIVEN, points=points, backtrack=backtrack, estimator=estimator), steps, replicas)
    streams, log = bench.streams(replicas), []
    starts = problem.initial(streams).copy()
    index = np.stack([streams.subset("coordinates", 4, 1)[:, 0, 0] for _ in range(steps)])
    for r in range(replicas):
        told = replica(problem, starts[r], iter(index[:, r].tolist()), points, backtrack, log)
        for t in range(1, steps + 1):
            expected = next(told)
            for name, value in expected._asdict().items():
                found = getattr(states[t], name)[r]
                # Round-off, divided by 2 h at each step, adds up.
                np.testing.assert_allclose(
                    found, value, rtol=0, atol=1e-12 if t <= 50 else 1e-10, err_msg=f"{name}, step {t}"
                )
    # Every branch of the loops was met.
    wanted = {"ends", "patience", "solved", "fails", "damped", "full"} | ({"doubled"} if backtrack else set())
    assert wanted <= set(log), set(log)
    assert len({tuple(state.stage) for state in states}) > len({state.stage[0] for state in states})


def exact(bench: Bench, **given: Any) -> ZOiALM:
    """ZO-iALM with exact partial derivatives in its steps, exact gradients in its tests."""
    stub = bench.exact()

    class ExactTests(Coordinate):
        __abstract = True  # a test's own class

        def estimate(self, phi: Any, x: Array, oracle: Oracle, streams: Streams, **_: Any) -> Estimate:
            return stub.estimate(phi, x, oracle, streams)

    class ExactSteps(ZOiALM):
        __abstract = True  # a test's own class

        def _difference(self, phi: Any, v: Array, i: np.ndarray, oracle: Oracle) -> tuple[Array, Array]:
            gradient = stub.estimate(phi, v, oracle, Streams(0, len(v))).gradient
            return gradient[np.arange(len(v)), i], phi(stub.problem.evaluate(v))

    return ExactSteps(
        **(GIVEN | {"dual_cap": 10.0} | given), estimator=ExactTests(smoothing_radius=1e-3, differences="central")
    )


def test_exact_gradients_and_full_dual_steps_lead_to_the_solution(bench: Bench) -> None:
    solver = exact(bench, dual_step=1e9, penalty_factor=1.0, tolerance=1e-7, patience=10)
    states, _ = bench.course(solver, 3500)
    np.testing.assert_allclose(states[-1].x, np.tile(bench.problem.solution, (3, 1)), atol=1e-8)
    np.testing.assert_allclose(states[-1].y, np.tile([bench.problem.multiplier, 0.0], (3, 1)), atol=1e-7)
    assert (states[-1].stage > 5).all()


def test_exact_gradients_and_damped_dual_steps_lead_to_the_penaltys_own_solution(bench: Bench) -> None:
    """h = eps at most, and x is the minimum for the multiplier (3/2 - h) 6/11 that leaves that h."""
    eps = 5e-3
    states, _ = bench.course(exact(bench, dual_step=0.05, tolerance=eps, patience=100, penalty=1.0), 4000)
    x, y, beta = states[-1].x, states[-1].y, states[-1].penalty
    h = bench.problem.evaluate(x).h[:, 0]
    assert (beta > 9.0).all() and (np.abs(np.maximum(h, -y[:, 0] / beta)) <= 2.0 * eps).all()
    assert (np.abs(h) > 1e-2 * eps).all(), "no bias is left: the comparison would not see it"
    multiplier = (1.5 - h) * 6.0 / 11.0
    np.testing.assert_allclose(y[:, 0] + beta * h, multiplier, atol=2.0 * eps)
    biased = np.clip(bench.problem.centre - multiplier[:, None] / bench.problem.weights, 0.0, 2.0)
    np.testing.assert_allclose(x, biased, atol=eps)


@pytest.mark.parametrize("points", [1, 2, 3])
@pytest.mark.parametrize("central, test_calls", [(True, 8), (False, 5)])
def test_calls_of_a_whole_cycle(bench: Bench, points: int, central: bool, test_calls: int) -> None:
    solver = ZOiALM(**GIVEN, points=points, estimator=Coordinate(differences="central" if central else "forward"))
    inner = int(np.ceil(4 * np.sqrt(1 / SHARE + 2) * np.log(1 / TOL)))
    assert bench.calls(solver.clone(), 1) == 2 * points + 1
    assert bench.calls(solver.clone(), inner) == inner * (2 * points + 1)
    assert bench.calls(solver.clone(), 2 * (inner + 1)) == 2 * (inner * (2 * points + 1) + test_calls)


def test_doubling_finds_the_curvature_along_coordinates(bench: Bench) -> None:
    given = GIVEN | {"smoothness": 1e-4, "constraint_smoothness": 1e-4, "constraint_slope": 1e-4, "patience": 10_000}
    states, _ = bench.course(ZOiALM(**given, estimator=Coordinate(smoothing_radius=1e-4, differences="central")), 300)
    # f, h_1 and h_2: at most a_i + beta + beta (4 x^2 + 2 h_2) in any coordinate, at least 1.
    assert states[0].curvature.max() < 1e-3
    largest = np.array([state.curvature for state in states[1:]]).max(axis=0)
    assert (largest > 1.0).all() and (largest < 2.0 * (4.0 + BETA * (1.0 + 16.0 + 8.0))).all()
    for before, after in zip(states, states[1:], strict=False):
        worse = after.curvature > before.curvature
        np.testing.assert_array_equal(after.x[worse], before.x[worse])
        np.testing.assert_array_equal(after.value.f, bench.problem.evaluate(after.x).f)


def test_under_independent_noise_the_curvature_follows_from_the_constants(bench: Bench) -> None:
    bench.problem = type(bench.problem)(noise="independent", noise_scale=0.01)
    states, _ = bench.course(ZOiALM(**GIVEN, estimator=Coordinate(smoothing_radius=0.1, differences="central")), 200)
    for state in states:
        size = np.linalg.norm(state.y, axis=1)
        bound = SMOOTH + SMOOTH_H * size + state.penalty * SLOPE * (SMOOTH_H + SLOPE)
        np.testing.assert_allclose(state.curvature, bound, rtol=1e-12)
    assert states[-1].stage.min() >= 1.0


def test_a_steered_run_replays_to_the_bit() -> None:
    wishes = [(150, "tolerance", 5.0), (200, "penalty_factor", 8.0), (250, "dual_step", 0.5)]
    script = Journal(Change(at, 0, 0.0, name, None, new) for at, name, new in wishes)
    run = Run(problem=LoadTracking(n=5), solver=ZOiALM(), replicas=3, iterations=400, seed=2, script=script)
    run.run()
    assert len(run.journal) == 3
    again = Run.replay(run)
    again.run()
    for name in set(run.state._fields) - {"value"}:
        np.testing.assert_array_equal(getattr(run.state, name), getattr(again.state, name), err_msg=name)


class Round(NonconvexQCQP):
    """The same on a ball."""

    __abstract = True  # keeps it out of the registry

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.n), 3.0)


def test_it_refuses_what_it_cannot_do() -> None:
    assert "not a Ball: choose ZO-ALM." in str(ZOiALM().accepts(Round(n=4)))
    assert "choose Coordinate." in str(ZOiALM(estimator=Block()).accepts(NonconvexQCQP(n=4)))
    assert ZOiALM().accepts(NonconvexQCQP(n=4)) is None


@pytest.mark.parametrize("problem", [NonconvexQCQP, LoadTracking, BlackBox])
def test_a_default_run_converges_visibly(bench: Bench, problem: type[Problem]) -> None:
    gap, violation = bench.shares(ZOiALM(), problem(), 5200)
    assert gap < 0.1 and violation < 0.5


def test_no_constraint_is_plain_descent() -> None:
    free = BlackBox(lambda x: float(((x - 0.3) ** 2).sum()), bounds=[(-1.0, 1.0)] * 3)
    run = Run(problem=free, solver=ZOiALM(), replicas=2, iterations=400)
    assert run.run().fun.max() < 1e-4
