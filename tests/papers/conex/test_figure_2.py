"""Fig. 2 of paper conex, small: the least KKT residual, and a chain of stages that makes it fall."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.conex.figure_1 import Budget
from zoviz.papers.conex.figure_2 import courses, ends, least_residual, starts
from zoviz.papers.conex.methods import OURS
from zoviz.problems import ConexQCQP


@pytest.mark.parametrize("convex", [True, False])
def test_the_least_residual_is_0_at_the_optimum_and_least_over_multipliers(convex: bool) -> None:
    problem = ConexQCQP(n=12, convex=convex, seed=1)
    optimum = problem.known_optimum
    assert optimum is not None
    assert least_residual(problem, optimum.point[None])[0] < 1e-7
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 12))
    grid = np.linspace(0.0, 5.0, 4001)
    every = [problem.metrics(x, np.full((3, 1), y), None)["stationarity"] for y in grid]
    np.testing.assert_allclose(least_residual(problem, x), np.min(every, axis=0), rtol=1e-2)
    assert (least_residual(problem, x) <= np.min(every, axis=0) * (1.0 + 1e-9)).all()


def test_the_chain_of_stages_falls_where_the_step_is_not_0() -> None:
    problem = ConexQCQP(n=8, convex=False, noise="common")
    budget = Budget(replicas=3, calls=8000, rivals=0, seconds=1.0)
    runs, start = courses(problem, budget), starts(problem, 3)
    every = ends(problem, runs, start)
    name = f"{OURS}, ν = 0.05"
    assert runs[name].state.finished >= 49, "K stages share the budget"
    assert np.median(every.shares[name]) < 0.6
    assert (every.shares[f"{OURS}, ν = 2"] > 1.0).all()
