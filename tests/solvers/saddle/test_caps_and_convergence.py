"""ZO-SPLM, ZOEG, ZOCEG and ZOBCEG: their caps, their calls, and convergence to known optima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.steps import EG, SPLM, TwoConstraints, course
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Array, Optimum
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver


@pytest.mark.parametrize(
    "solver",
    [
        ZOSPLM(**(SPLM | {"dual_step": 10.0, "dual_cap": 0.25})),
        ZOEG(**(EG | {"dual_step": 10.0, "dual_cap": 0.25})),
        ZOCEG(**(EG | {"dual_step": 10.0, "dual_cap": 0.25})),
        ZOBCEG(**(EG | {"dual_step": 10.0, "dual_cap": 0.25})),
    ],
    ids=lambda solver: solver.title,
)
def test_duals_stay_between_zero_and_their_cap(solver: Solver) -> None:
    solver.estimator.smoothing_radius = 1e-4
    states, _ = course(solver, TwoConstraints(), 30, replicas=20)
    duals = np.array([state.y for state in states])
    assert duals.min() == 0.0 and duals.max() == 0.25


# --- calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "per_iteration"),
    [
        (ZOSPLM(**SPLM, estimator=Sphere(batch_size=9)), 10),
        (ZOSPLM(**SPLM, estimator=Sphere(batch_size=9), estimate_proximal=True), 10),
        (ZOEG(**EG, estimator=Sphere(batch_size=1)), 4),
        (ZOEG(**EG, estimator=Sphere(batch_size=1), dual="exact"), 4),
        (ZOCEG(**EG, estimator=Coordinate()), 2 * (6 + 1)),
        (ZOBCEG(**EG, estimator=Block(block_size=2, scaled=False)), 2 * (2 + 1)),
        (ZOBCEG(**EG, estimator=Block(block_size=2, scaled=False), dual_block_size=1), 2 * (2 + 1)),
        (ZOBCEG(**EG, estimator=Block(block_size=1000, scaled=False)), 2 * (6 + 1)),
    ],
    ids=lambda value: value.title if isinstance(value, Solver) else str(value),
)
def test_calls_per_iteration(solver: Solver, per_iteration: int) -> None:
    for iterations in (0, 1, 5):
        _, oracle = course(solver, TwoConstraints(), iterations)
        assert (oracle.calls == 1 + per_iteration * iterations).all()


# --- convergence to known optima --------------------------------------------------------------------------------------


def solve(solver: Solver, problem: Problem, iterations: int, replicas: int = 4) -> tuple[dict[str, Array], Any]:
    """Run with the solver's own rule for what is None; measures of the last iterate, and its state."""
    suggestions = solver.from_constants(problem, problem.constants)
    for name in solver.open_scales():
        solver.set(name, suggestions[name])
    with SingleBlasThread():  # as a run does: the products are small
        states, _ = course(solver, problem, iterations, replicas)
    return problem.metrics(states[-1].x, states[-1].y, None), states[-1]


def assert_solved(solver: Solver, problem: Problem, iterations: int, tolerance: float) -> None:
    measured, state = solve(solver, problem, iterations)
    optimum = problem.known_optimum
    assert isinstance(optimum, Optimum)
    scale = np.abs(optimum.point).max()
    assert measured["relative_gap"].max() < tolerance
    assert measured["violation"].max() < tolerance * max(1.0, np.abs(optimum.value))
    assert np.abs(state.x - optimum.point).max() < 100.0 * tolerance * scale
    assert np.abs(state.y / optimum.multipliers - 1.0).max() < 100.0 * tolerance


@pytest.mark.slow
@pytest.mark.parametrize("solver", [ZOCEG, ZOBCEG])
def test_coordinate_methods_reach_the_optimum_of_load_tracking(solver: type[Solver]) -> None:
    block = Block(smoothing_radius=1e-5, block_size=10, scaled=False)
    estimator = {ZOCEG: Coordinate(smoothing_radius=1e-5), ZOBCEG: block}[solver]
    assert_solved(solver(estimator=estimator), LoadTracking(n=50), 3000 if solver is ZOCEG else 6000, 1e-6)


@pytest.mark.parametrize("solver", [pytest.param(ZOCEG, marks=pytest.mark.slow), ZOBCEG])
def test_coordinate_methods_reach_the_optimum_of_the_qcqp(solver: type[Solver]) -> None:
    block = Block(smoothing_radius=1e-6, block_size=5, scaled=False)
    estimator = {ZOCEG: Coordinate(smoothing_radius=1e-6), ZOBCEG: block}[solver]
    assert_solved(solver(estimator=estimator), NonconvexQCQP(n=10), 6000, 1e-5)


def test_splm_reaches_a_stationary_point_of_the_qcqp() -> None:
    solver = ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=400))
    measured, _ = solve(solver, NonconvexQCQP(n=20), 1500)
    assert measured["stationarity"].max() < 1e-2
    assert np.abs(measured["relative_gap"]).max() < 1e-3


@pytest.mark.parametrize(
    ("solver", "iterations"),
    [
        (ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=50)), 2000),
        pytest.param(ZOEG(schedule="constant"), 8000, marks=pytest.mark.slow),
        pytest.param(ZOEG(schedule="constant", dual="exact"), 8000, marks=pytest.mark.slow),
    ],
    ids=["ZOSPLM", "ZOEG", "ZOEG exact dual"],
)
def test_random_directions_reach_an_optimum_inside_the_box(solver: Solver, iterations: int) -> None:
    """The gradient of the Lagrangian vanishes there, and the variance of the directions with it."""
    problem = LoadTracking(n=10, seed=1, curtailment=60.0)
    point = problem.known_optimum.point
    assert (point > 0.0).all() and (point < problem.domain.upper).all()
    measured, _ = solve(solver, problem, iterations)
    assert measured["relative_gap"].max() < 1e-3
    assert measured["violation"].max() < 5e-2


@pytest.mark.slow
def test_zoeg_with_a_diminishing_step_goes_on_where_a_constant_one_stalls() -> None:
    """Half of the loads are at their bounds: the directions' variance stays there, and only smaller steps help."""
    medians = {}
    for schedule in ("constant", "diminishing"):
        measured, _ = solve(ZOEG(schedule=schedule), LoadTracking(n=20), 5000, replicas=32)
        medians[schedule] = np.median(measured["relative_gap"])
    assert medians["diminishing"] < 0.03
    assert medians["diminishing"] < 0.5 * medians["constant"]
