"""The curved bilevel problem: its derivatives, its solution, and the bias of smoothing that a quadratic has not."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Sample
from zoviz.oracle import Oracle
from zoviz.problems import CurvedBilevel, QuadraticBilevel
from zoviz.solvers import OGD
from zoviz.solvers.bilevel.ogd import PairState

PROBLEM = CurvedBilevel(n=3, d=4, drift="rapid", sampling_noise=0.3)


def place(replicas: int = 2) -> tuple[Array, Array, Array, Sample]:
    rng = np.random.default_rng(1)
    x, y, v = (rng.normal(size=(replicas, size)) for size in (3, 4, 4))
    return x, y, v, PROBLEM.draw(6, Streams(2, replicas), size=(2, 3))


def test_derivatives_are_those_of_differences() -> None:
    x, y, v, xi = place()
    step = 1e-5
    for i, e in enumerate(np.eye(4)):
        rise = PROBLEM.inner(x, y + step * e, xi) - PROBLEM.inner(x, y - step * e, xi)
        np.testing.assert_allclose(PROBLEM.inner_gradient(x, y, xi)[:, i], rise / (2 * step), rtol=1e-7, atol=1e-7)
    rise = PROBLEM.inner_gradient(x, y + step * v, xi) - PROBLEM.inner_gradient(x, y - step * v, xi)
    np.testing.assert_allclose(PROBLEM.inner_hessian_vector(x, y, v, xi), rise / (2 * step), rtol=1e-7, atol=1e-7)
    for i, e in enumerate(np.eye(3)):
        rise = PROBLEM.inner_gradient(x + step * e, y, xi) - PROBLEM.inner_gradient(x - step * e, y, xi)
        product = (rise * v).sum(axis=1) / (2 * step)
        np.testing.assert_allclose(PROBLEM.inner_jacobian_vector(x, y, v, xi)[:, i], product, rtol=1e-7, atol=1e-7)


def test_its_solution_is_one_and_the_hypergradient_is_the_slope_of_the_leaders_value() -> None:
    x, _, _, xi = place()
    y, v = PROBLEM.solution(x, xi)
    exact, step = PROBLEM.exact(xi), 1e-5
    assert np.abs(PROBLEM.inner_gradient(x, y, exact)).max() < 1e-12
    residual = PROBLEM.inner_hessian_vector(x, y, v, exact) + PROBLEM.outer_gradients(x, y, exact)[1]
    assert np.abs(residual).max() < 1e-12
    slope = PROBLEM.hypergradient(x, y, v, xi)
    for i, e in enumerate(np.eye(3)):
        rise = PROBLEM.evaluate(x + step * e, xi).f - PROBLEM.evaluate(x - step * e, xi).f
        np.testing.assert_allclose(slope[:, i], rise / (2 * step), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(PROBLEM.evaluate(x, xi).f, PROBLEM.outer(x, y, exact))


def test_a_batch_s_derivatives_have_the_exact_ones_as_means() -> None:
    replicas = 40_000
    x, y, v = (np.repeat(one[:1], replicas, axis=0) for one in place()[:3])
    xi = PROBLEM.draw(6, Streams(2, replicas), size=(2, 3))
    exact = PROBLEM.exact(xi)
    for method in (PROBLEM.inner_hessian_vector, PROBLEM.inner_jacobian_vector):
        values, right = method(x, y, v, xi), method(x, y, v, exact)[0]
        error = values.std(axis=0) / replicas**0.5
        assert (np.abs(values.mean(axis=0) - right) < 4.5 * error + 1e-12).all()
    values, right = PROBLEM.inner_gradient(x, y, xi), PROBLEM.inner_gradient(x, y, exact)[0]
    assert (np.abs(values.mean(axis=0) - right) < 4.5 * values.std(axis=0) / replicas**0.5).all()


@pytest.mark.parametrize("radius", [0.5, 0.25])
def test_smoothing_has_a_bias_of_the_square_of_the_radius_that_a_quadratic_has_not(radius: float) -> None:
    x, _, _, xi = place()
    y, _ = PROBLEM.solution(x, xi)
    bias = {}
    for problem in (PROBLEM, QuadraticBilevel(n=3, d=4, drift="rapid")):
        exact = problem.exact(problem.draw(6, Streams(2, 2)))
        at = problem.solution(x, exact)[0]
        rows = []
        for e in np.eye(4):
            central = problem.inner(x, at + radius * e, exact) - problem.inner(x, at - radius * e, exact)
            rows.append(central / (2.0 * radius) - (problem.inner_gradient(x, at, exact) @ e))
        bias[type(problem).__name__] = np.abs(rows).max()
    third = PROBLEM.weights.max() * 4.0 * 0.0908578  # s''(1) in size
    assert bias["CurvedBilevel"] == pytest.approx(third * radius**2 / 6.0, rel=0.1)
    assert bias["QuadraticBilevel"] < 1e-12


def rest_over_start(problem: QuadraticBilevel) -> float:
    """The hypergradient where Qx = q and y = y*, over its median at starts; OGD does not move from there."""
    streams = Streams(0, 30)
    xi = problem.draw(0, streams)
    starts = problem.initial(streams)
    rest = np.repeat(np.linalg.solve(problem.data.bowl, problem.vectors(0)[-problem.n :])[None], 30, axis=0)
    y, _ = problem.solution(rest, xi)
    oracle = Oracle(problem, streams)
    after, _ = OGD(inner_step=0.1, outer_step=0.1).step(PairState(rest, y, 0), oracle, streams)
    np.testing.assert_allclose(after.x, rest, atol=1e-12)
    sizes = [np.linalg.norm(problem.hypergradient(x, *problem.solution(x, xi), xi), axis=1) for x in (rest, starts)]
    return float(np.median(sizes[0]) / np.median(sizes[1]))


def test_ogd_rests_where_the_hypergradient_is_about_a_starts_and_is_refused_for_that() -> None:
    """The counter-example of the refusal; on the quadratic follower, whose answer weighs less, it is accepted."""
    still = {"drift": "none", "noise": "deterministic", "half_width": 50.0}
    curved, quadratic = (
        np.median([rest_over_start(cls(seed=seed, **still)) for seed in range(10)])
        for cls in (CurvedBilevel, QuadraticBilevel)
    )
    assert curved > 0.6 and quadratic < 0.5
    assert "leaves out B'(y* - a)" in str(OGD().accepts(CurvedBilevel())) and OGD().accepts(QuadraticBilevel()) is None
