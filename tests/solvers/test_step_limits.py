"""Limits of live steps, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Constants, Provenance
from zoviz.estimators import Sphere
from zoviz.problems import ConexQCQP
from zoviz.solvers import DSZOG, ZOCEG, ZOSPLM
from zoviz.solvers.step_limits import coupling, descent_end, primal_limits

CONSTANTS = Constants(
    curvature=3.0, constraint_curvature=2.0, slope=1.0, constraint_slope=1.0, start_slope=1.0, weak_convexity=0.0
)


def test_the_stable_end_is_two_over_the_lagrangians_curvature_at_the_largest_multipliers() -> None:
    y = np.array([[3.0, 4.0], [0.0, 0.0]])  # norms 5 and 0
    limits = primal_limits(CONSTANTS, y, end=2.0, weight=1.0, answer=0.5, cap=8.0, source="a theorem")
    assert limits.stable == pytest.approx(2.0 / (3.0 + 5.0 * 2.0 + 1.0 + 0.5))
    assert limits.theorem == pytest.approx(0.5 / (3.0 + 8.0 * 2.0 + 1.0)) and limits.source == "a theorem"
    assert limits.provenance is Provenance.ANALYTIC
    measured = replace(CONSTANTS, provenance=Provenance.MEASURED)
    loose = primal_limits(measured, y[1:], end=descent_end(1.5))
    assert loose.stable == pytest.approx(2.0 / (3.0 * 2.5)) and loose.theorem is None
    assert loose.provenance is Provenance.MEASURED


@pytest.mark.parametrize("theta", [None, 1.0])
def test_a_dual_step_that_answers_shortens_the_stable_end_to_where_the_linear_iteration_ceases_to_contract(
    theta: float | None,
) -> None:
    slope, alpha = 1.5, 0.4
    constants = replace(CONSTANTS, constraint_curvature=0.0, start_slope=slope)

    def largest(c: float) -> float:
        """The spectral radius of the iteration on L x^2 / 2 + y G x, of (x, x^-, y)."""
        bent = constants.curvature
        if theta is None:  # x first, then y along the new x
            step = np.array([[1.0 - c * bent, 0.0, -c * slope], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
            after = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [alpha * slope, 0.0, 1.0]])
        else:  # y along the extrapolation, then x
            step = np.array(
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [(1 + theta) * alpha * slope, -theta * alpha * slope, 1.0]]
            )
            after = np.array([[1.0 - c * bent, 0.0, -c * slope], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return float(np.abs(np.linalg.eigvals(after @ step)).max())

    answer = coupling(constants, alpha, theta or 0.0)
    stable = primal_limits(constants, np.zeros((1, 1)), end=2.0, answer=answer).stable
    assert largest(0.99 * stable) < 1.0 < largest(1.01 * stable)
    assert largest(0.99 * 2.0 / constants.curvature) > 1.0, "without the dual step it would be called stable"


def test_a_method_that_shortens_its_steps_itself_may_have_longer_ones() -> None:
    y = np.array([[10.0]])
    limits = primal_limits(CONSTANTS, y, end=2.0, reach=2.0)
    assert limits.stable == pytest.approx(5.0 * 2.0 / 23.0)


def test_a_solver_declares_what_is_known_and_nothing_else() -> None:
    problem = ConexQCQP(n=4)
    solver = ZOSPLM(estimator=Sphere(batch_size=2, directions="random"), augmentation=False, restoration=0)
    run = Run(problem, solver, replicas=2, iterations=3)
    run.run()
    iterate = run.solver.iterate(run.state)
    limits = run.worker.solver.limits(problem.constants, iterate)["primal_step"]
    curvature = problem.constants.curvature + np.linalg.norm(iterate.dual, axis=1).max() * (
        problem.constants.constraint_curvature
    )
    p, answer = run.parameters["proximal_weight"], 0.5 * run.parameters["dual_step"] * problem.constants.start_slope**2
    assert (
        limits.stable == pytest.approx(2.0 / (curvature + p + answer) / (1.0 + 3.0 / 2.0))
        and limits.theorem < limits.stable
    )
    assert DSZOG().limits(problem.constants, iterate) == {}
    assert "primal_step" in ZOCEG(contraction=0.0).limits(problem.constants, iterate)
    assert ZOCEG(contraction=0.9).limits(problem.constants, iterate) == {}  # Khobotov's test takes long steps back
