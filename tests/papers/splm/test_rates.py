"""Theorem 1 of paper splm, small: it is the slow centre, and directions that grow with n, that bring the rate."""

from __future__ import annotations

import numpy as np

from zoviz.papers.concave_normal import ConcaveNormal
from zoviz.papers.splm.rates import (
    AT_ONCE,
    CONSTANT,
    ONE,
    RESIDUAL,
    SHARE,
    SLOWLY,
    SQUARE,
    Directions,
    Residuals,
)


def test_the_objective_is_concave_along_the_normal_only() -> None:
    problem = ConcaveNormal(n=5, seed=3)
    normal = problem.gradient(np.zeros((1, 5)))[1][0, 0]
    curvature = problem.gradient(np.eye(5))[0] - problem.gradient(np.zeros((1, 5)))[0]
    np.testing.assert_allclose(curvature @ normal, -normal, atol=1e-12)
    assert np.sum(np.linalg.eigvalsh(curvature) < 0.0) == 1


def test_without_a_slow_centre_the_residual_stays() -> None:
    experiment = Residuals(size="quick")
    slowly, at_once = (experiment.values("", name, 800)[RESIDUAL] for name in (SLOWLY, AT_ONCE))
    assert (slowly[-1] < 0.4 * slowly[0]).all() and (at_once[-1] > 0.6 * at_once[0]).all()


def test_an_iteration_is_paid_for_by_its_values() -> None:
    experiment = Residuals(size="quick")
    costs = [experiment.cost("", name) for name in (SLOWLY, AT_ONCE, "SZOConEX", ONE)]
    np.testing.assert_allclose(costs, [1.0, 1.0, 201.0 / 101.0, 2.0 / 101.0])


def test_few_directions_at_the_steps_of_many_leave_a_residual_that_grows_with_n() -> None:
    experiment = Directions(size="quick")
    shares = {name: experiment.values("", name, 20)[SHARE] for name in (SQUARE, CONSTANT)}
    assert (shares[CONSTANT] > 100.0 * shares[SQUARE]).all()
