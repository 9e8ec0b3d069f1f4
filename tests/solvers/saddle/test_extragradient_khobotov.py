"""Khobotov's test in the extra-gradient family: by hand, and where steps are too long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Block, Coordinate
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG


def bowl(curvature: float, x0: Array, **settings: Any) -> BlackBox:
    """(curvature / 2) ||x||^2 with x_1 <= 1."""

    def value(x: Array) -> Evaluation:
        return Evaluation(0.5 * curvature * np.square(x).sum(axis=-1), x[..., :1] - 1.0)

    n = len(x0)
    return BlackBox(value, bounds=[(-9.0, 9.0)] * n, x0=x0, m=1, joint=True, vectorised=True, scaled=False, **settings)


def step_from(eta: float, x0: float) -> tuple[float, float, float]:
    """x, y and the share after one step from x0 at curvature 4 with eta_y = 1/2."""
    problem, streams = bowl(4.0, np.array([x0])), Streams(0, 1)
    oracle = Oracle(problem, streams)
    solver = ZOCEG(primal_step=eta, dual_step=0.5, dual_cap=9.0, contraction=0.9)
    solver.estimator.smoothing_radius = 1e-7
    state, _ = solver.step(solver.init(problem.initial(streams), oracle, streams), oracle, streams)
    return float(state.x[0, 0]), float(state.y[0, 0]), float(state.share[0])


def test_a_step_that_is_too_long_is_taken_back_and_cut() -> None:
    # From x = 1, y = 0 with eta = 1/2: F = (4, 0), x+ = -1, y+ = 0, F+ = (-4, -2 in h). The change (8, 2) over (2, 0):
    # sqrt(1/2 64 + 1/2 4) / sqrt(4 / (1/2)) = sqrt(34 / 8).
    x, y, share = step_from(0.5, 1.0)
    assert (x, y) == (1.0, 0.0)
    assert share == pytest.approx(0.9 * 0.9 / np.sqrt(34.0 / 8.0), rel=1e-5)


def test_a_step_that_is_short_is_taken_and_grows() -> None:
    # eta = 1/20: x+ = 0.8, F+ = (3.2, -0.2 in h): sqrt((0.05 0.64 + 0.5 0.04) / (0.04 / 0.05)) = 0.255.
    x, y, share = step_from(0.05, 1.0)
    assert (x, y) == (pytest.approx(1.0 - 0.05 * 3.2, rel=1e-5), 0.0)
    assert share == pytest.approx(1.1)


@pytest.mark.parametrize(
    "cls, estimator, settings",
    [(ZOCEG, Coordinate, {}), (ZOBCEG, Block, {"scaled": False, "block_size": 3})],
)
def test_steps_ten_times_too_long_are_found_out(
    cls: type[ZOCEG | ZOBCEG], estimator: type[Any], settings: dict[str, Any]
) -> None:
    ends = []
    for contraction in (0.0, 0.9):
        problem = bowl(4.0, np.linspace(0.2, 0.8, 6))
        solver = cls(primal_step=2.5, dual_step=0.01, dual_cap=9.0, contraction=contraction)
        solver.estimator = estimator(smoothing_radius=1e-6, **settings)
        run = Run(problem=problem, solver=solver, replicas=1, iterations=300, seed=1)
        run.run()
        ends.append(run.trace["objective"][-1, 0])
    assert ends[1] < 1e-6 < 1.0 < ends[0]


def test_blocks_are_compared_where_both_know_the_field() -> None:
    change = ZOBCEG().change(np.array([[1.0, 0.0, 2.0]]), np.array([[4.0, 5.0, 0.0]]))
    np.testing.assert_array_equal(change, [[3.0, 0.0, 0.0]])


def test_the_test_is_the_rules_and_not_of_random_directions_or_noise() -> None:
    chosen = [cls().from_constants(NonconvexQCQP(n=4), NonconvexQCQP(n=4).constants) for cls in (ZOCEG, ZOBCEG)]
    assert [values["contraction"] for values in chosen] == [0.9, 0.9]
    assert "contraction" not in ZOCEG(primal_step=0.1).from_constants(NonconvexQCQP(n=4), NonconvexQCQP(n=4).constants)
    assert "contraction" not in ZOEG().from_constants(NonconvexQCQP(n=4), NonconvexQCQP(n=4).constants)
    problem, streams = bowl(4.0, np.ones(2), noise="independent", noise_scale=0.1), Streams(0, 1)
    state = ZOCEG(contraction=0.9).init(problem.initial(streams), Oracle(problem, streams), streams)
    assert state.share is None
