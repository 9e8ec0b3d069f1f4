"""The slope in y that methods of joint directions take: h(x) where the rule chooses the step, else as published."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import ConexQCQP, DistributedConsensus
from zoviz.solvers import OGDARR, ZOEG, Solver

JOINT = pytest.mark.parametrize("cls", [ZOEG, OGDARR])


@JOINT
def test_the_slope_is_exact_where_the_rule_chooses_the_step_and_as_published_where_it_is_given(
    cls: type[Solver],
) -> None:
    problem = ConexQCQP(n=4)
    assert cls().from_constants(problem, problem.constants)["dual"] == "exact"
    assert "dual" not in cls(dual="estimated").from_constants(problem, problem.constants)
    assert "dual" not in cls(primal_step=0.01).from_constants(problem, problem.constants)
    given, published = (
        Run(problem, cls(primal_step=0.01, dual=d), replicas=2, iterations=5) for d in (None, "estimated")
    )
    np.testing.assert_array_equal(given.run().x, published.run().x)
    exact = Run(problem, cls(primal_step=0.01, dual="exact"), replicas=2, iterations=5)
    assert np.abs(exact.run().x - published.result.x).max() > 1e-6


@JOINT
def test_rows_that_are_drawn_at_random_leave_joint_directions_no_way(cls: type[Solver]) -> None:
    """The ablation: of 60 rows every value is noise in x for a joint direction, and the same rule diverges."""
    left = []
    for dual in (None, "estimated"):
        run = Run(DistributedConsensus(), cls(dual=dual), replicas=8, iterations=500, seed=7)
        run.run()
        gap = np.abs(run.trace["gap"])
        left.append(float(gap[-1].mean() / gap[0].mean()))
    assert left[0] < 0.1 and left[1] > 1.0, left


@pytest.mark.parametrize("n, directions", [(8, "sweep"), (12, "block")])
def test_directions_in_x_alone_become_coordinates(n: int, directions: str) -> None:
    """Ten directions in eight variables are a whole gradient, where values repeat and nothing is told."""
    problem = ConexQCQP(n=n, scaled=True)
    chosen, joint = Run(problem, ZOEG(), iterations=2), Run(problem, ZOEG(dual="estimated"), iterations=2)
    chosen.run(), joint.run()
    assert chosen.resolved["estimator.directions"] == directions
    assert ("contraction" in chosen.resolved) == (directions == "sweep"), "fields of a block are not exact"
    assert "estimator.directions" not in joint.resolved and "restoration" not in joint.resolved
