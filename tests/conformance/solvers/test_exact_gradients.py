"""The extra-gradient methods and ZO-SPLM with exact gradients, written out; and iterates in a ball."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.every_solver import SOLVERS, World
from helpers.known_problems import Round
from helpers.steps import course
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Block, Coordinate
from zoviz.problems import NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver

EXACT = {"smoothing_radius": 1e-3, "differences": "central"}  # central differences of a quadratic along coordinates
STEPS = {"primal_step": 0.02, "dual_step": 0.03}


def slope(problem: Problem, x: Array, y: Array) -> Array:
    of_f, of_h = problem.gradient(x)
    return of_f + (y[..., None] * of_h).sum(axis=1)


def hand_over(solver: Solver, problem: Problem, steps: int) -> Any:
    return course(solver, problem, steps, seed=0)[0][-1]


@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
@pytest.mark.parametrize(
    "solver",
    [
        ZOCEG(estimator=Coordinate(**EXACT)),
        ZOBCEG(estimator=Block(block_size=6, scaled=False, **EXACT)),
        ZOEG(estimator=Coordinate(**EXACT)),
        ZOEG(estimator=Coordinate(**EXACT), dual="exact"),
    ],
    ids=["ZOCEG", "ZOBCEG", "ZOEG", "ZOEG-exact-dual"],
)
def test_extra_gradient_written_out_with_exact_gradients(solver: Solver, schedule: str) -> None:
    problem, cap = NonconvexQCQP(n=6, half_width=1.5), 0.4
    solver = solver.clone()
    solver.param.update(**STEPS, dual_cap=cap, schedule=schedule)
    x, y, halves = problem.initial(Streams(0, 3)), np.zeros((3, 1)), []
    for k in range(6):
        factor = 1.0 if schedule == "constant" else 1.0 / np.sqrt(k + 1.0)
        eta, eta_y = 0.02 * factor, 0.03 * factor
        x_half = np.clip(x - eta * slope(problem, x, y), -1.5, 1.5)
        y_half = np.clip(y + eta_y * problem.evaluate(x).h, 0.0, cap)
        x = np.clip(x - eta * slope(problem, x_half, y_half), -1.5, 1.5)
        y = np.clip(y + eta_y * problem.evaluate(x_half).h, 0.0, cap)
        halves.append(x_half)
    state = hand_over(solver, problem, 6)
    np.testing.assert_allclose(state.x, x, atol=1e-6)
    np.testing.assert_allclose(state.y, y, atol=1e-6)
    np.testing.assert_allclose(state.value.h, problem.evaluate(x).h, atol=1e-5)
    assert solver.output(state) is state.x
    solver.report = "average"
    np.testing.assert_allclose(solver.output(state), np.mean(halves, axis=0), atol=1e-6)


@pytest.mark.parametrize("literal", [False, True])
def test_splm_written_out_with_exact_gradients(literal: bool) -> None:
    problem, beta, p, cap = NonconvexQCQP(n=6, half_width=1.5), 0.3, 2.0, 0.4
    solver = ZOSPLM(
        estimator=Coordinate(**EXACT),
        proximal_step=beta,
        proximal_weight=p,
        dual_cap=cap,
        estimate_proximal=literal,
        **STEPS,
    )
    x = z = problem.initial(Streams(0, 3))
    y = np.zeros((3, 1))
    for _ in range(6):
        x = np.clip(x - 0.02 * (slope(problem, x, y) + p * (x - z)), -1.5, 1.5)
        y = np.clip(y + 0.03 * problem.evaluate(x).h, 0.0, cap)
        z = z + beta * (x - z)
    state = hand_over(solver, problem, 6)
    for actual, expected in zip(state[:3], (x, y, z), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-6)


def test_block_method_refuses_a_domain_that_does_not_project_by_coordinates() -> None:
    reason = ZOBCEG().accepts(Round(n=4))
    assert reason is not None and "a Ball: choose ZOCEG or ZOEG." in reason
    with pytest.raises(ValueError, match="needs a box as domain"):
        Run(problem=Round(n=4), solver=ZOBCEG(), iterations=1).run()


@pytest.mark.parametrize("solver", [name for name in SOLVERS if SOLVERS[name]().accepts(Round(n=4)) is None])
def test_iterates_stay_in_a_ball(solver: str) -> None:
    world = World(solver, Round(n=4))
    assert np.linalg.norm(world.step(20).x, axis=1).max() <= 3.0 + 1e-12
