"""OGDA-RR against a loop written out, on a problem with a known solution, its theory and its calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.bench import Bench
from helpers.steps import lagrangian
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.runs.run import Run
from zoviz.solvers import OGDARR

ETA, ETA_Y, CAP, RADIUS, K = 0.03, 0.2, 0.35, 0.1, 3
GIVEN = {"primal_step": ETA, "dual_step": ETA_Y, "dual_cap": CAP}


def field(problem: Problem, x: Array, y: Array, u: Array, radius: float, points: int, dual: str) -> Array:
    """grad_x and grad_y of the saddle function, estimated, one after the other."""
    d, out = len(u[0]), np.zeros(6)
    for direction in u:
        v = direction / np.sqrt((direction**2).sum())
        w = np.concatenate([v, np.zeros(2)]) if dual == "exact" else v
        rise = lagrangian(problem, x + radius * w[:4], y + radius * w[4:])
        if points == 2:
            rise -= lagrangian(problem, x, y)
        out += d / (radius * len(u)) * rise * w
    if dual == "exact":
        out[4:] = problem.evaluate(x).h
    return out


def by_hand(bench: Bench, steps: int, points: int, dual: str, schedule: str) -> list[tuple[Array, Array, Array]]:
    problem, streams = bench.problem, bench.streams(3)
    x, y = problem.initial(streams).copy(), np.zeros((3, 2))
    last, total, weight, out = np.zeros((3, 6)), np.zeros((3, 4)), 0.0, []
    for t in range(steps):
        shrink, radius = 1.0, RADIUS
        if schedule == "diminishing":
            shrink, radius = (t + 1.0) ** (-0.76), RADIUS * (t + 1.0) ** (-0.25)
        u = streams.normal("directions", K, 4 if dual == "exact" else 6).copy()
        for r in range(3):
            now = field(problem, x[r], y[r], u[r], radius, points, dual)
            before = last[r] if t else now
            move = now + (now - before)
            x[r] = np.clip(x[r] - shrink * ETA * move[:4], 0.0, 2.0)
            y[r] = np.clip(y[r] + shrink * ETA_Y * move[4:], 0.0, CAP)
            last[r] = now
        total, weight = total + shrink * ETA * x, weight + shrink * ETA
        out.append((x.copy(), y.copy(), total / weight))
    return out


@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
@pytest.mark.parametrize("dual", ["estimated", "exact"])
@pytest.mark.parametrize("points", [2, 1])
def test_steps_equal_a_hand_written_loop(bench: Bench, points: int, dual: str, schedule: str) -> None:
    solver = OGDARR(
        **GIVEN,
        points=points,
        dual=dual,
        schedule=schedule,
        report="average",
        estimator=Sphere(smoothing_radius=RADIUS, batch_size=K),
    )
    states, _ = bench.course(solver, 5)
    for state, (x, y, average) in zip(states[1:], by_hand(bench, 5, points, dual, schedule), strict=True):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(state.y, y, rtol=0, atol=1e-12)
        np.testing.assert_allclose(solver.output(state), average, rtol=0, atol=1e-12)
    solver.report = "last"
    assert solver.output(states[-1]) is states[-1].x
    assert states[-1].y.max() > 0.0


@pytest.mark.parametrize("dual", ["estimated", "exact"])
def test_exact_gradients_lead_to_the_solution(bench: Bench, dual: str) -> None:
    settings = {"primal_step": 0.08, "dual_step": 0.3, "dual_cap": 10.0, "dual": dual}
    states, _ = bench.course(OGDARR(**settings, estimator=bench.exact()), 800)
    np.testing.assert_allclose(states[-1].x, np.tile(bench.problem.solution, (3, 1)), atol=1e-8)
    np.testing.assert_allclose(states[-1].y, np.tile([bench.problem.multiplier, 0.0], (3, 1)), atol=1e-8)


@pytest.mark.parametrize(
    "options, per_step",
    [
        ({"estimator": Sphere(batch_size=1)}, 2),
        ({"estimator": Sphere(batch_size=9)}, 10),
        ({"estimator": Sphere(batch_size=9), "dual": "exact"}, 10),
        ({"estimator": CentralSphere(batch_size=9)}, 19),
        ({"estimator": Sphere(batch_size=9), "points": 1}, 10),
    ],
    ids=["one direction", "nine", "exact dual", "central", "one point"],
)
def test_calls_per_step(bench: Bench, options: dict[str, Any], per_step: int) -> None:
    assert bench.calls(OGDARR(**options).clone(), 5) == 5 * per_step


@pytest.mark.parametrize("family", [Sphere, Gaussian])
@pytest.mark.parametrize("dual", ["estimated", "exact"])
def test_the_variance_of_one_point_is_what_theory_predicts(bench: Bench, dual: str, family: type[Sphere]) -> None:
    replicas = 4000
    solver = OGDARR(**GIVEN, points=1, dual=dual, estimator=family(smoothing_radius=0.05, batch_size=20))
    streams = bench.streams(replicas)
    oracle = Oracle(bench.problem, streams)
    x = np.tile([0.5, 0.5, 0.8, 0.2], (replicas, 1))
    state = solver.init(x, oracle, streams)._replace(y=np.tile([0.6, 0.3], (replicas, 1)))
    _, info = solver.step(state, oracle, streams)
    predicted = solver.theory(bench.problem, info)["variance_predicted"]
    assert info.variance.mean() == pytest.approx(predicted.mean(), rel=0.03)
    two = OGDARR(**GIVEN, dual=dual, estimator=solver.estimator.clone())
    assert two.theory(bench.problem, info)["variance_predicted"].mean() < 0.05 * predicted.mean()


def test_one_point_needs_an_estimator_with_a_base(bench: Bench) -> None:
    for estimator in (CentralSphere(batch_size=2), Coordinate()):
        assert OGDARR(estimator=estimator.clone()).accepts(bench.problem) is None
        reason = OGDARR(points=1, estimator=estimator.clone()).accepts(bench.problem)
        assert reason is not None and type(estimator).__name__ in reason and reason.endswith(".")
    with pytest.raises(ValueError, match="choose Sphere or Gaussian"):
        Run(problem=LoadTracking(n=4), solver=OGDARR(points=1, estimator=CentralSphere()), iterations=1).run()


@pytest.mark.parametrize("problem", [NonconvexQCQP, LoadTracking, BlackBox])
def test_a_run_with_exact_duals_converges_visibly(bench: Bench, problem: type[Problem]) -> None:
    gap, violation = bench.shares(OGDARR(dual="exact"), problem(), 500)
    assert gap < 0.1 and violation < 0.5
