"""ZOGDA against a loop written out, on a problem with a known solution, and its calls."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bench import Bench
from helpers.descent import assert_plain_descent
from helpers.steps import lagrangian
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere, Sphere
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOGDA

C, ALPHA, CAP, RADIUS, K = 0.05, 0.3, 0.35, 0.1, 3
GIVEN = {"primal_step": C, "dual_step": ALPHA, "dual_cap": CAP}


def sphere(u: Array) -> Array:
    return u / np.sqrt((u**2).sum())


def by_hand(bench: Bench, steps: int, schedule: str, dual: str, lam: float) -> tuple[Array, Array]:
    problem, streams = bench.problem, bench.streams(3)
    x, y = problem.initial(streams).copy(), np.zeros((3, 2))
    for t in range(steps):
        shrink = 1.0 if schedule == "constant" else 1.0 / np.sqrt(t + 1.0)
        u = streams.normal("directions", K, 4).copy()
        u_dual = streams.normal("directions", K, 2).copy() if dual == "estimated" else None
        for r in range(3):
            gradient = np.zeros(4)
            for i in range(K):
                v = sphere(u[r, i])
                rise = lagrangian(problem, x[r] + RADIUS * v, y[r]) - lagrangian(problem, x[r], y[r])
                gradient += 4.0 / (RADIUS * K) * rise * v
            x[r] = np.clip(x[r] - shrink * C * gradient, 0.0, 2.0)
            ascent = problem.evaluate(x[r]).h
            if u_dual is not None:
                ascent = np.zeros(2)
                for i in range(K):
                    v = sphere(u_dual[r, i])
                    rise = lagrangian(problem, x[r], y[r] + RADIUS * v) - lagrangian(problem, x[r], y[r])
                    ascent += 2.0 / (RADIUS * K) * rise * v
            y[r] = np.clip(y[r] + shrink * ALPHA * (ascent - lam * y[r]), 0.0, CAP)
    return x, y


@pytest.mark.parametrize("lam", [0.0, 0.4])
@pytest.mark.parametrize("dual", ["exact", "estimated"])
@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
def test_steps_equal_a_hand_written_loop(bench: Bench, schedule: str, dual: str, lam: float) -> None:
    estimator = Sphere(smoothing_radius=RADIUS, batch_size=K)
    solver = ZOGDA(**GIVEN, schedule=schedule, dual=dual, regularisation=lam, estimator=estimator)
    states, _ = bench.course(solver, 4)
    for t in (1, 4):
        x, y = by_hand(bench, t, schedule, dual, lam)
        np.testing.assert_allclose(states[t].x, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(states[t].y, y, rtol=0, atol=1e-12)
    assert 0.0 < states[-1].y.min(initial=1.0, where=states[-1].y > 0.0) <= states[-1].y.max() <= CAP


def test_the_dual_step_is_taken_from_the_new_point(bench: Bench) -> None:
    states, _ = bench.course(ZOGDA(primal_step=C, dual_step=ALPHA, dual_cap=1e3), 1)
    new, old = (np.maximum(ALPHA * bench.problem.evaluate(state.x).h, 0.0) for state in (states[1], states[0]))
    np.testing.assert_allclose(states[1].y, new, rtol=1e-12)
    assert not np.allclose(old, new, rtol=1e-3)


def test_exact_gradients_lead_to_the_solution(bench: Bench) -> None:
    states, _ = bench.course(ZOGDA(primal_step=0.1, dual_step=0.5, dual_cap=10.0, estimator=bench.exact()), 600)
    np.testing.assert_allclose(states[-1].x, np.tile(bench.problem.solution, (3, 1)), atol=1e-8)
    np.testing.assert_allclose(states[-1].y, np.tile([bench.problem.multiplier, 0.0], (3, 1)), atol=1e-8)


def test_regularisation_leads_to_its_own_biased_saddle_point(bench: Bench) -> None:
    lam = 0.2
    solver = ZOGDA(primal_step=0.1, dual_step=0.5, dual_cap=10.0, regularisation=lam, estimator=bench.exact())
    states, _ = bench.course(solver, 600)
    # h(x(y)) = 3/2 - 11/6 y = lam y
    multiplier = 1.5 / (11.0 / 6.0 + lam)
    np.testing.assert_allclose(states[-1].y, np.tile([multiplier, 0.0], (3, 1)), atol=1e-8)
    np.testing.assert_allclose(bench.problem.evaluate(states[-1].x).h[:, 0], lam * multiplier, atol=1e-8)


@pytest.mark.parametrize(
    "solver, per_step",
    [
        (ZOGDA(estimator=Sphere(batch_size=9)), 9 + 1),
        (ZOGDA(estimator=CentralSphere(batch_size=9)), 18 + 1),
        (ZOGDA(estimator=Sphere(batch_size=9), dual="estimated"), 9 + 1 + 9),
        (ZOGDA(estimator=CentralSphere(batch_size=9), dual="estimated"), 18 + 1 + 18),
    ],
    ids=["forward", "central", "forward, dual estimated", "central, dual estimated"],
)
def test_calls_per_step(bench: Bench, solver: ZOGDA, per_step: int) -> None:
    assert bench.calls(solver.clone(), 5) == 5 * per_step


@pytest.mark.parametrize("problem", [NonconvexQCQP, LoadTracking, BlackBox])
def test_a_run_with_estimated_duals_converges_visibly(bench: Bench, problem: type[Problem]) -> None:
    gap, violation = bench.shares(ZOGDA(dual="estimated"), problem(), 800)
    assert gap < 0.15 and violation < 0.5


def test_no_constraint_is_plain_descent() -> None:
    assert_plain_descent(ZOGDA(dual="estimated"), 200)
