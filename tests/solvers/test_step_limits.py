"""Limits of live steps, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Constants, Provenance
from zoviz.estimators import Sphere
from zoviz.problems import ConexQCQP
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.solvers.step_limits import primal_limits

CONSTANTS = Constants(
    curvature=3.0, constraint_curvature=2.0, slope=1.0, constraint_slope=1.0, start_slope=1.0, weak_convexity=0.0
)


def test_the_stable_end_is_two_over_the_lagrangians_curvature_at_the_largest_multipliers() -> None:
    y = np.array([[3.0, 4.0], [0.0, 0.0]])  # norms 5 and 0
    limits = primal_limits(CONSTANTS, y, weight=1.0, variance=0.0, cap=8.0, reach=None, source="a theorem")
    assert limits.stable == pytest.approx(2.0 / (3.0 + 5.0 * 2.0 + 1.0))
    assert limits.theorem == pytest.approx(0.5 / (3.0 + 8.0 * 2.0 + 1.0)) and limits.source == "a theorem"
    assert limits.provenance is Provenance.ANALYTIC
    measured = replace(CONSTANTS, provenance=Provenance.MEASURED)
    loose = primal_limits(measured, y[1:], weight=0.0, variance=1.5, cap=None, reach=None, source="")
    assert loose.stable == pytest.approx(2.0 / (3.0 * 2.5)) and loose.theorem is None
    assert loose.provenance is Provenance.MEASURED


def test_a_method_that_shortens_its_steps_itself_may_have_longer_ones() -> None:
    y = np.array([[10.0]])
    limits = primal_limits(CONSTANTS, y, weight=0.0, variance=0.0, cap=None, reach=2.0, source="")
    assert limits.stable == pytest.approx(5.0 * 2.0 / 23.0)


def test_a_solver_declares_what_is_known_and_nothing_else() -> None:
    problem = ConexQCQP(n=4)
    solver = ZOSPLM(estimator=Sphere(batch_size=2, sweep=False), augmentation=False, restoration=0)
    run = Run(problem, solver, replicas=2, iterations=3)
    run.run()
    iterate = run.solver.iterate(run.state)
    limits = run.worker.solver.limits(problem.constants, iterate)["primal_step"]
    curvature = problem.constants.curvature + np.linalg.norm(iterate.dual, axis=1).max() * (
        problem.constants.constraint_curvature
    )
    p = run.parameters["proximal_weight"]
    assert limits.stable == pytest.approx(2.0 / (curvature + p) / (1.0 + 3.0 / 2.0)) and limits.theorem < limits.stable
    assert ZOCEG().limits(problem.constants, iterate) == {}
