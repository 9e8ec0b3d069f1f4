"""The random QCQPs of paper conex: as documented, and solved by others to the same value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import ConexQCQP
from zoviz.problems.quadratic.base import dual_optimum
from zoviz.runs.run import Run
from zoviz.solvers import ZOEG, ZOSPLM

INSTALL = "Clarabel checks the optimum independently: pip install clarabel"
EACH_KIND = pytest.mark.parametrize("convex", [True, False], ids=["convex", "indefinite"])


def hessians(problem: ConexQCQP) -> tuple[Array, Array]:
    """2 A_0 and 2 A_1, read off the gradients."""
    of_f, of_h = (np.squeeze(g) for g in problem.gradient(np.eye(problem.n)))
    at_zero = problem.gradient(np.zeros(problem.n))
    return of_f - at_zero[0], of_h - at_zero[1][0]


@EACH_KIND
@pytest.mark.parametrize("n", [6, 60])
def test_the_instance_is_as_documented(n: int, convex: bool) -> None:
    problem = ConexQCQP(n=n, seed=3, convex=convex)
    for matrix in hessians(problem):
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-10)
        smallest, largest = np.linalg.eigvalsh(matrix / 2)[[0, -1]]
        assert largest < 4.0
        assert smallest > 0.0 if convex else smallest == pytest.approx(-0.1, abs=1e-10)
    assert problem.evaluate(np.zeros(n)).h.item() <= -1.0, "x = 0 is a Slater point"
    assert (problem.domain.lower == -10.0).all() and (problem.domain.upper == 10.0).all()


@EACH_KIND
def test_values_are_those_of_the_formula_drawn_again(convex: bool) -> None:
    n, rng = 5, np.random.default_rng(11)
    a = []
    for factor in (rng.standard_normal((2 * n, n)), rng.standard_normal((2 * n, n))):
        matrix = factor.T @ factor / (2 * n)
        a.append(matrix if convex else matrix - (np.linalg.eigvalsh(matrix)[0] + 0.1) * np.eye(n))
    b = rng.standard_normal(n), rng.standard_normal(n)
    c_0, c_1 = rng.standard_normal(), -abs(rng.standard_normal())
    x = np.random.default_rng(0).uniform(-10, 10, n)
    value = ConexQCQP(n=n, seed=11, convex=convex).evaluate(x)
    assert value.f == pytest.approx(x @ a[0] @ x + b[0] @ x + c_0, rel=1e-12)
    assert value.h.item() == pytest.approx(x @ a[1] @ x + b[1] @ x + c_1 - 1.0, rel=1e-12)


def by_clarabel(problem: ConexQCQP) -> tuple[float, Array]:
    """The convex problem as a second-order cone programme: 1/2 ||Rx||^2 <= s, s = -(b'x + c), and the box."""
    clarabel = pytest.importorskip("clarabel", reason=INSTALL)
    n, zero = problem.n, np.zeros(problem.n)
    q, a = hessians(problem)
    offsets, (d, b) = problem.evaluate(zero), (np.ravel(g) for g in problem.gradient(zero))
    c, root = offsets.h.item(), np.linalg.cholesky(a).T
    rows = np.concatenate([np.eye(n), -np.eye(n), b[None], b[None], -root])
    right = np.concatenate([np.full(2 * n, 10.0), [0.5 - c, -0.5 - c], zero])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
    cones = [clarabel.NonnegativeConeT(2 * n), clarabel.SecondOrderConeT(n + 2)]
    upper = sparse.csc_matrix(np.triu(q))
    solution = clarabel.DefaultSolver(upper, d, sparse.csc_matrix(rows), right, cones, settings).solve()
    assert str(solution.status) == "Solved"
    return solution.obj_val + float(offsets.f), np.array(solution.x)


@pytest.mark.parametrize("n, seed", [(3, 3), (10, 0), (10, 1), (50, 0), (50, 2), (200, 0)])
def test_the_convex_optimum_is_that_of_a_conic_solver(n: int, seed: int) -> None:
    problem = ConexQCQP(n=n, seed=seed)
    optimum = problem.known_optimum
    value, point = by_clarabel(problem)
    assert optimum.value == pytest.approx(value, rel=1e-7, abs=1e-7)
    np.testing.assert_allclose(optimum.point, point, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_no_local_solve_beats_the_certified_optimum_of_the_indefinite_one(seed: int) -> None:
    problem, rng = ConexQCQP(n=10, seed=seed, convex=False), np.random.default_rng(seed)
    optimum, ends = problem.known_optimum, []
    for start in rng.uniform(-10.0, 10.0, (15, 10)):
        constraint = {
            "type": "ineq",
            "fun": lambda x: -problem.evaluate(x).h,
            "jac": lambda x: -problem.gradient(x)[1],
        }
        solution = minimize(
            lambda x: float(problem.evaluate(x).f),
            start,
            jac=lambda x: problem.gradient(x)[0],
            bounds=[(-10.0, 10.0)] * 10,
            constraints=constraint,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        if problem.evaluate(solution.x).h.item() <= 1e-9:
            ends.append(solution.fun)
    assert len(ends) >= 5 and min(ends) == pytest.approx(optimum.value, rel=1e-6)


def test_nothing_is_claimed_where_no_multiplier_certifies_it() -> None:
    claimed = [ConexQCQP(n=2, seed=seed, convex=False).known_optimum for seed in range(4)]
    assert [optimum is not None for optimum in claimed] == [False, False, False, True]
    wide = ConexQCQP(n=10, seed=1, convex=False)
    edge = np.abs(wide.known_optimum.point).max()
    assert ConexQCQP(n=10, seed=1, convex=False, half_width=1.01 * edge).known_optimum is not None
    assert ConexQCQP(n=10, seed=1, convex=False, half_width=0.99 * edge).known_optimum is None


def solved(q: list[float], a: list[float], d: list[float], c: float) -> tuple[float, list[float], float] | None:
    """Diagonal quadratics: value, point and multiplier."""
    result = dual_optimum((np.diag(q), np.diag(a)), (np.array(d), np.zeros(len(d))), (0.0, c), 100.0)
    return None if result is None else (result.value, result.point.tolist(), float(result.multipliers[0]))


def test_the_dual_by_hand() -> None:
    # min x^2/2 - 3x s.t. x^2/2 <= 2: x = 2, lam = 1/2; with room for x = 3 the multiplier is 0.
    value, point, lam = solved([1.0], [1.0], [-3.0], -2.0)
    assert (value, point[0], lam) == pytest.approx((-4.0, 2.0, 0.5))
    value, point, lam = solved([1.0], [1.0], [-3.0], -8.0)
    assert (value, point[0], lam) == pytest.approx((-4.5, 3.0, 0.0), abs=1e-12)
    # Indefinite objective and constraint: (x^2 - y^2)/2 - 3x s.t. (3 y^2 - x^2)/2 <= 1/2, with 1/3 < lam < 1:
    # y = 0 and x = 3 / (1 - lam) satisfy h < 0 for every lam, so that nothing is certified.
    assert solved([1.0, -1.0], [-1.0, 3.0], [-3.0, 0.0], -0.5) is None
    # With h = (3 y^2 - x^2)/2 + 8 and objective (2 x^2 - y^2)/2 - 3x: x = 3 / (2 - lam) = 4, lam = 5/4.
    value, point, lam = solved([2.0, -1.0], [-1.0, 3.0], [-3.0, 0.0], 8.0)
    assert (value, lam) == pytest.approx((4.0, 1.25)) and point == pytest.approx([4.0, 0.0])
    # Both concave in one direction: no multiplier makes the Lagrangian convex.
    assert solved([1.0, -1.0], [1.0, -1.0], [1.0, 1.0], -1.0) is None


@pytest.mark.parametrize("law, heavy", [("normal", 1.0), ("student_t", 5.0 / 3.0)])
def test_the_papers_noise_is_one_setting_away(law: str, heavy: float) -> None:
    problem = ConexQCQP(n=5, noise="independent", noise_distribution=law)
    assert problem.noise_variances[0] == pytest.approx(heavy)
    x = np.zeros((2000, 5))
    value = Oracle(problem, Streams(0, 2000))(x)
    exact = problem.evaluate(x)
    for noisy, quiet in ((value.f, exact.f), (value.h[:, 0], exact.h[:, 0])):
        assert np.std(noisy - quiet) == pytest.approx(np.sqrt(heavy), rel=0.15)


@pytest.mark.parametrize("solver", [ZOSPLM, ZOEG], ids=lambda cls: cls.__name__)
def test_defaults_converge_on_the_indefinite_one(solver: type) -> None:
    run = Run(problem=ConexQCQP(n=20, convex=False), solver=solver(), replicas=6, iterations=600)
    run.run()
    for name, share in (("stationarity", 0.03), ("gap", 0.05), ("violation", 0.05)):
        column = np.abs(run.trace[name])
        assert column[-1].mean() <= share * column[0].mean(), name
