"""The stochastic QP and the measures under linear constraints, against dense algebra, moments and other solvers."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from zoviz.core.sets import Box, Simplex
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import FirstOrder, Oracle
from zoviz.problems import StochasticQP
from zoviz.problems.linear import normal_residual
from zoviz.solvers import OGDARR, ZOEG

KINDS: list[dict[str, Any]] = [
    {},
    {"constraints": "inequalities"},
    {"null_curvature": -0.4},
    {"free_variables": 6},
    {"sampled_rows": True, "rows": 5},
]


def dense(problem: StochasticQP) -> tuple[Array, Array]:
    """Q and q."""
    n = problem.n
    vector = problem.stochastic_gradient(np.zeros(n))
    return problem.stochastic_gradient(np.eye(n)) - vector, vector


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_the_point_that_it_is_made_from_is_stationary(kind: dict[str, Any], seed: int) -> None:
    problem = StochasticQP(n=14, seed=seed, **kind)
    x, dual, normal = problem.stationary
    (q, vector), (a, b), box = dense(problem), problem.matrix(), problem.domain
    np.testing.assert_allclose(q @ x + vector + a.T @ dual + normal, 0.0, atol=1e-12)
    residual = a @ x - b
    assert np.abs(residual).max() < 1e-12 if problem.equations else residual.max() < 1e-12
    if not problem.equations:
        assert (dual >= 0.0).all() and np.abs(dual * residual).max() < 1e-12 and residual.min() < -0.1
    np.testing.assert_array_equal(normal > 0.0, x == box.upper)
    np.testing.assert_array_equal(normal < 0.0, x == box.lower)
    assert (normal != 0.0).sum() == 14 // 5
    assert normal_residual(box, x[None], (q @ x + vector + a.T @ dual)[None])[0] < 1e-6


@pytest.mark.parametrize("low", [0.3, -0.4])
def test_curvatures_are_those_asked_for(low: float) -> None:
    problem = StochasticQP(n=15, rows=4, null_curvature=low, curvature=3.0, indefiniteness=1.5)
    q, a = dense(problem)[0], problem.matrix()[0]
    spectrum, null = np.linalg.eigvalsh(q), np.linalg.svd(a)[2][4:].T
    assert spectrum[0] == pytest.approx(-1.5) and problem.constants.curvature == pytest.approx(np.abs(spectrum).max())
    on_null = np.linalg.eigvalsh(null.T @ q @ null)
    assert on_null[0] == pytest.approx(low) and on_null[-1] == pytest.approx(3.0)
    np.testing.assert_allclose(np.linalg.svd(a)[1], np.linspace(0.7, 1.3, 4)[::-1])
    assert problem.operator_norm == pytest.approx(1.3)
    assert (problem.known_optimum is None) == (low < 0.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_is_a_general_solvers_from_many_starts(seed: int) -> None:
    problem = StochasticQP(n=10, seed=seed)
    optimum, (a, b) = problem.known_optimum, problem.matrix()
    starts = problem.domain.sample(np.random.default_rng(seed).random((5, 10)))
    for i in range(5):
        solution = minimize(
            lambda x: float(problem.evaluate(x).f),
            starts[i],
            jac=problem.stochastic_gradient,
            bounds=list(zip(problem.domain.lower, problem.domain.upper, strict=True)),
            constraints={"type": "eq", "fun": lambda x: a @ x - b, "jac": lambda x: a},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        np.testing.assert_allclose(solution.x, optimum.point, atol=1e-5)
        assert solution.fun == pytest.approx(optimum.value, rel=1e-8)


@pytest.mark.parametrize("size", [1, 4])
def test_noise_has_mean_zero_and_the_variance_it_says(size: int) -> None:
    problem = StochasticQP(n=6, rows=2, curvature_noise=0.4, sampled_rows=True, row_noise=0.5)
    x, draws = problem.domain.upper * 0.7, 40_000
    points = np.tile(x, (1, draws, 1))
    xi = problem.draw(0, Streams(0, 1), (draws,), size)
    noise = (problem.stochastic_gradient(points, xi) - problem.stochastic_gradient(x))[0]
    expected = (problem.gradient_noise**2 + problem.curvature_noise**2 * (x @ x)) / size
    assert np.square(noise).sum(axis=1).mean() == pytest.approx(expected, rel=0.03)
    assert np.linalg.norm(noise.mean(axis=0)) < 4.0 * np.sqrt(expected / draws)
    values = (problem.evaluate(points, xi).f - problem.evaluate(x).f)[0]
    assert abs(values.mean()) < 4.0 * values.std() / np.sqrt(draws)
    copies = [(problem.residual(points, xi, copy) - problem.residual(x))[0] for copy in range(3)]
    square = 0.5**2 * (x @ x / 6 + 1.0) / size
    for i in range(3):
        np.testing.assert_allclose(copies[i].mean(axis=0), 0.0, atol=4.0 * np.sqrt(square / draws))
        np.testing.assert_allclose(copies[i].var(axis=0), square, rtol=0.04)
        for j in range(i):
            np.testing.assert_allclose((copies[i] * copies[j]).mean(axis=0), 0.0, atol=4.0 * square / np.sqrt(draws))


def test_a_sample_is_one_function_with_its_own_gradient_and_adjoint() -> None:
    problem = StochasticQP(n=7, rows=2, curvature_noise=0.4, sampled_rows=True)
    xi = problem.draw(3, Streams(0, 2), size=2)
    x, step = problem.initial(Streams(1, 2)), 1e-5
    probes = np.stack([x[:, None] + step * np.eye(7), x[:, None] - step * np.eye(7)])
    ahead, behind = (problem.evaluate(points, xi) for points in probes)
    np.testing.assert_allclose((ahead.f - behind.f) / (2 * step), problem.stochastic_gradient(x, xi), atol=1e-7)
    for copy in range(3):
        y = np.array([[1.0, -2.0], [0.5, 3.0]])
        left = (y * (problem.residual(x, xi, copy) - problem.residual(0.0 * x, xi, copy))).sum(axis=1)
        np.testing.assert_allclose(left, (x * problem.adjoint(y, xi, copy)).sum(axis=1), atol=1e-12)


def test_independent_noise_gives_every_gradient_its_own_sample() -> None:
    problem = StochasticQP(n=6, rows=2, noise="independent", sampled_rows=True)
    first = FirstOrder(Oracle(problem, Streams(0, 3)))
    x = problem.initial(Streams(0, 3))
    assert (first.gradient(x) != first.gradient(x)).all() and (first.residual(x) != first.residual(x)).all()
    pinned = FirstOrder(Oracle(StochasticQP(n=6, rows=2), Streams(0, 3)))
    np.testing.assert_array_equal(pinned.gradient(x), pinned.gradient(x))
    with pytest.raises(ValueError, match="Expected rows that are known, got sampled ones"):
        first.matrix()


def by_clarabel(problem: StochasticQP, z: Array, weight: float) -> Array:
    """arg min f + weight/2 ||x - z||^2 over the rows and the box, by an interior-point method for QPs."""
    (q, vector), (a, b), n = dense(problem), problem.matrix(), problem.n
    box = problem.domain
    upper, lower = np.isfinite(box.upper), np.isfinite(box.lower)
    rows = np.concatenate([a, np.eye(n)[upper], -np.eye(n)[lower]])
    ends = np.concatenate([b, box.upper[upper], -box.lower[lower]])
    p, sides = len(b), int(upper.sum() + lower.sum())
    cones = [clarabel.ZeroConeT(p) if problem.equations else clarabel.NonnegativeConeT(p)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = False, 1e-12, 1e-12, 1e-12
    quadratic = sparse.csc_matrix(np.triu(q + weight * np.eye(n)))
    cones.append(clarabel.NonnegativeConeT(sides))
    solver = clarabel.DefaultSolver(quadratic, vector - weight * z, sparse.csc_matrix(rows), ends, cones, settings)
    return np.array(solver.solve().x)


@pytest.mark.parametrize("kind", KINDS)
def test_near_stationarity_is_an_interior_point_methods(kind: dict[str, Any]) -> None:
    problem = StochasticQP(n=12, **{"rows": 3, **kind})
    z, weight = problem.initial(Streams(4, 3)) * 1.5, 4.0 * problem.constants.curvature
    result = problem.near_stationarity(z)
    expected = [weight * np.linalg.norm(point - by_clarabel(problem, point, weight)) for point in z]
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert problem.near_stationarity(problem.stationary.point[None])[0] < 1e-6
    problem.envelope_weight = 30.0
    expected = 30.0 * np.linalg.norm(z[0] - by_clarabel(problem, z[0], 30.0))
    assert problem.near_stationarity(z[:1])[0] == pytest.approx(expected, rel=1e-5)


class Redundant(StochasticQP):
    """Its first row twice."""

    __abstract = True  # keeps it out of the registry

    def matrix(self) -> tuple[Array, Array]:
        a, b = super().matrix()
        return np.concatenate([a, a[:1]]), np.concatenate([b, b[:1]])


def test_near_stationarity_takes_redundant_equations_and_refuses_what_is_too_large() -> None:
    z = StochasticQP(n=10).initial(Streams(0, 2))
    np.testing.assert_allclose(Redundant(n=10).near_stationarity(z), StochasticQP(n=10).near_stationarity(z), rtol=1e-6)
    with pytest.raises(ValueError, match="at most 500 variables for near-stationarity, got a Box of 600"):
        StochasticQP(n=600).near_stationarity(np.zeros((1, 600)))


def test_distance_to_the_normal_cone() -> None:
    box, x = Box(np.zeros(4), np.ones(4)), np.array([[0.0, 0.0, 1.0, 0.5]])
    # At a lower bound a positive slope is balanced by the cone, a negative one is not; inside, neither.
    slope = np.array([[3.0, -2.0, -5.0, 1.5]])
    assert normal_residual(box, x, slope)[0] == pytest.approx(np.hypot(2.0, 1.5), rel=1e-6)
    simplex = Simplex(3)
    # At (1, 0, 0) the cone is {v : v_1 >= v_2, v_1 >= v_3}; -slope = (1, 1, 4) is nearest to (2.5, 1, 2.5).
    distance = normal_residual(simplex, np.array([[1.0, 0.0, 0.0]]), -np.array([[1.0, 1.0, 4.0]]))
    assert distance[0] == pytest.approx(np.linalg.norm([1.5, 0.0, -1.5]), rel=1e-6)


def test_metrics_are_those_of_every_problem_without_a_copy_of_the_rows() -> None:
    problem = StochasticQP(n=8)
    x = problem.initial(Streams(0, 4))
    y = np.abs(np.random.default_rng(0).standard_normal((4, problem.m)))
    of_f, of_h = problem.gradient(x)
    assert of_h.strides[0] == 0
    slope = of_f + np.einsum("rm,rmn->rn", y, of_h)
    h = problem.evaluate(x).h
    distance = np.linalg.norm(problem.domain.project(x - slope) - x, axis=1)
    expected = np.maximum(np.maximum(distance, np.linalg.norm(np.maximum(h, 0), axis=1)), np.abs((y * h).sum(axis=1)))
    np.testing.assert_allclose(problem.metrics(x, y, None)["stationarity"], expected, rtol=1e-12)


def test_too_many_rows_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="Expected fewer than n/2 rows"):
        _ = StochasticQP(n=6, rows=3).domain


@pytest.mark.parametrize("seed", range(5))
def test_its_lagrangian_has_no_saddle_point(seed: int) -> None:
    """One would be (x*, y*), as both are the only ones of a minimum; but from x* it falls along free coordinates.

    That is why methods that seek one, and have no penalty, refuse the problem: the counter-example to their theorems.
    """
    problem = StochasticQP(seed=seed)
    x, dual, _ = problem.stationary
    (q, _), (a, b), box = dense(problem), problem.matrix(), problem.domain
    free = (x > box.lower) & (x < box.upper)
    assert np.linalg.matrix_rank(a[:, free]) == len(a), "one y* only"
    values, vectors = np.linalg.eigh(q[np.ix_(free, free)])
    assert values[0] < -0.1
    d = np.zeros_like(x)
    d[free] = 1e-3 * vectors[:, 0]

    def lagrangian(at: Array) -> float:
        return float(problem.evaluate(at).f + dual @ (a @ at - b))

    assert max(lagrangian(x + d), lagrangian(x - d)) < lagrangian(x)
    for method in (ZOEG(dual="estimated"), OGDARR()):
        assert "not convex" in (method.accepts(problem) or "")
        assert method.accepts(StochasticQP(indefiniteness=0.0)) is None
