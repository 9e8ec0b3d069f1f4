"""The methods of paper zoeg without their extra-gradient, beside a loop written out, and at half the calls."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.estimators import Coordinate
from zoviz.oracle import Oracle
from zoviz.papers.zoeg.convergence import BLOCKS, COORDINATES, RANDOM, SINGLE, solver_of
from zoviz.papers.zoeg.single_step import ZOCEGAlternating, ZOCEGSingle
from zoviz.problems import LoadTracking

STEP = 0.02


@pytest.mark.parametrize("cls", [ZOCEGSingle, ZOCEGAlternating])
def test_one_step_is_descent_in_x_and_ascent_in_y_along_the_value_at_the_old_x_or_the_new(
    cls: type[ZOCEGSingle],
) -> None:
    problem, streams = LoadTracking(n=6), Streams(0, 3)
    oracle = Oracle(problem, streams)
    solver = cls.published(
        primal_step=STEP, dual_step=STEP, dual_cap=50.0, estimator=Coordinate(smoothing_radius=1e-4), report="average"
    )
    state = solver.init(problem.initial(streams), oracle, streams)
    x, y, total = state.x, np.zeros((3, 1)), np.zeros((3, 6))
    for _ in range(20):
        state, _ = solver.step(state, oracle, streams)
        slope, rows = problem.gradient(x)
        before = x
        x = problem.domain.project(x - STEP * (slope + y * rows[:, 0]))
        y = np.clip(y + STEP * problem.evaluate(x if cls.alternating else before).h, 0.0, 50.0)
        total += x
    np.testing.assert_allclose(state.x, x, rtol=1e-3)
    np.testing.assert_allclose(state.y, y, rtol=1e-3)
    np.testing.assert_allclose(solver.output(state), total / 20.0, rtol=1e-3)


def test_two_iterations_of_one_step_cost_an_iteration_of_two() -> None:
    problem = LoadTracking(n=10)
    for method in (COORDINATES, BLOCKS, RANDOM):
        calls = []
        for name, iterations in ((method, 3), (method + SINGLE, 6)):
            solver, streams = solver_of(name, 1e-3, problem), Streams(0, 2)
            oracle = Oracle(problem, streams)
            state = solver.init(problem.initial(streams), oracle, streams)
            for _ in range(iterations):
                state, _ = solver.step(state, oracle, streams)
            assert solver.open_scales() == [], "every step is set, none is left to a rule"
            calls.append(oracle.calls.max())
        assert calls[0] == calls[1], method
