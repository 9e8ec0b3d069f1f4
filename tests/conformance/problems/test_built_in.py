"""Checks of the built-in problems: their optima by other solvers, their ends, their defaults."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers.every_problem import inside
from zoviz.core.types import Array
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP
from zoviz.problems.base import Problem


@pytest.mark.parametrize(
    "seed, value", [(0, -1.327402), (1, -1.370462), (2, -0.762884), (3, -0.918215), (4, -1.827046)]
)
def test_qcqp_optimum_at_n_50(seed: int, value: float) -> None:
    problem = NonconvexQCQP(n=50, seed=seed)
    assert problem.known_optimum.value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("n", [5, 50])
def test_qcqp_is_indefinite_by_a_tenth_and_strictly_feasible_at_0(n: int) -> None:
    problem = NonconvexQCQP(n=n)
    hessian = problem.gradient(np.eye(n))[0] - problem.gradient(np.zeros((n, n)))[0]
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-9)
    assert np.linalg.eigvalsh(hessian)[0] == pytest.approx(-0.1, abs=1e-9)
    assert problem.evaluate(np.zeros(n)).h.item() == -1.0


def solve(problem: Problem, start: Array) -> tuple[float, Array]:
    """SLSQP's local solution from a start."""
    box = problem.domain
    solution = minimize(
        lambda x: float(problem.evaluate(x).f),
        start,
        jac=lambda x: problem.gradient(x)[0],
        bounds=list(zip(box.lower, box.upper, strict=True)),
        constraints={
            "type": "ineq",
            "fun": lambda x: -problem.evaluate(x).h,
            "jac": lambda x: -problem.gradient(x)[1],
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return float(solution.fun), solution.x


@pytest.mark.parametrize("seed", [0, 1])
def test_qcqp_optimum_is_the_best_of_many_local_solves(seed: int) -> None:
    problem = NonconvexQCQP(n=10, seed=seed)
    optimum = problem.known_optimum
    assert optimum is not None
    starts = np.random.default_rng(seed).uniform(-1.0, 1.0, (12, 10))
    best, where = min((solve(problem, start) for start in starts), key=lambda pair: pair[0])
    assert best == pytest.approx(optimum.value, rel=1e-6)
    np.testing.assert_allclose(where, optimum.point, atol=1e-3)


def test_qcqp_claims_no_optimum_outside_its_box() -> None:
    wide = NonconvexQCQP(n=10, seed=0)
    edge = np.abs(wide.known_optimum.point).max()
    assert NonconvexQCQP(n=10, seed=0, half_width=1.01 * edge).known_optimum is not None
    assert NonconvexQCQP(n=10, seed=0, half_width=0.99 * edge).known_optimum is None


@pytest.mark.parametrize("seed", [0, 3])
def test_load_tracking_optimum_is_slsqps(seed: int) -> None:
    problem = LoadTracking(n=20, seed=seed)
    best, where = solve(problem, 0.5 * problem.domain.upper)
    optimum = problem.known_optimum
    assert best == pytest.approx(optimum.value, rel=1e-7)
    np.testing.assert_allclose(where, optimum.point, atol=1e-3)
    assert problem.evaluate(optimum.point).h.item() == pytest.approx(0.0, abs=1e-6)


def test_load_tracking_at_its_ends() -> None:
    idle = LoadTracking(n=10, curtailment=0.0)
    assert idle.known_optimum.value == 0.0 and idle.known_optimum.multipliers[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="Expected a curtailment of at most"):
        _ = LoadTracking(n=10, curtailment=1e5).known_optimum


def test_black_box_default_is_hock_schittkowski_22() -> None:
    problem, point, multipliers = BlackBox(), np.ones(2), np.full(2, 2.0 / 3.0)
    value = problem.evaluate(point)
    assert value.f == problem.known_optimum.value == 1.0 and value.h.tolist() == [0.0, 0.0]
    of_f, of_h = np.array([-2.0, 0.0]), np.array([[1.0, 1.0], [2.0, -1.0]])
    np.testing.assert_allclose(of_f + multipliers @ of_h, 0.0, atol=1e-15)


def test_black_box_point_by_point_equals_vectorised() -> None:
    both, alone = BlackBox(), BlackBox(vectorised=False)
    x = inside(both, 3, 4)
    np.testing.assert_array_equal(both.evaluate(x).f, alone.evaluate(x).f)
    np.testing.assert_array_equal(both.evaluate(x).h, alone.evaluate(x).h)
