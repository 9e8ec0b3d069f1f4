"""Derivatives of online bilevel problems against autodiff and complex steps, their solver, their regret, products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Sample
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.papers.sogd.product_variance import product_spread
from zoviz.problems import BlackBoxAttack, LossTuning, QuadraticBilevel, ToyBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.problems.inner_solution import settle
from zoviz.runs.run import Run
from zoviz.solvers import SOGD, ZOSOGD
from zoviz.solvers.bilevel.base import RepeatedNumbers, Triple
from zoviz.solvers.bilevel.measured_curvatures import measured_bilevel_constants

PROBLEMS = {
    "quadratic": QuadraticBilevel(n=3, d=4, sampling_noise=0.3, drift="rapid"),
    "toy": ToyBilevel(sampling_noise=0.3, variant="rapid"),
}
EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())


def place(problem: OnlineBilevel, replicas: int = 2) -> tuple[Array, Array, Array, Sample]:
    rng, d = np.random.default_rng(1), problem.inner_domain.n
    x = rng.uniform(-1.0, 1.0, (replicas, problem.domain.n))
    xi = problem.draw(6, Streams(2, replicas), size=(2, 3))
    return x, rng.normal(size=(replicas, d)), rng.normal(size=(replicas, d)), xi


def derivatives(problem: OnlineBilevel) -> list[Array]:
    x, y, v, xi = place(problem)
    return [
        *problem.outer_gradients(x, y, xi),
        problem.inner_gradient(x, y, xi),
        problem.inner_hessian_vector(x, y, v, xi),
        problem.inner_jacobian_vector(x, y, v, xi),
    ]


@pytest.mark.parametrize("cls", [QuadraticBilevel, ToyBilevel, LossTuning, BlackBoxAttack])
def test_what_a_stream_does_not_have_is_told_before_its_data_are_made(cls: type[OnlineBilevel]) -> None:
    """Some train a network, and need PyTorch for it."""
    problem = cls()
    assert problem.constants is None and problem.known_optimum is None and problem.noisy_constants is None
    assert not problem.prepared


@EACH
def test_derivatives_are_those_of_autodiff(problem: OnlineBilevel) -> None:
    torch = pytest.importorskip("torch")
    matrices = problem.data._asdict().items() if problem.data else ()
    data = {k: torch.tensor(w) for k, w in matrices if isinstance(w, np.ndarray)}
    x, y, v, xi = place(problem)
    results = [[] for _ in range(5)]
    for r in range(len(x)):
        a, b = torch.tensor(x[r], requires_grad=True), torch.tensor(y[r], requires_grad=True)
        one = {k: torch.tensor(w[r]) if isinstance(w, np.ndarray) else w for k, w in vars(xi).items()}
        if isinstance(problem, ToyBilevel):
            f = 0.5 * one["a"] * (a[0] - 1.0) ** 2 + one["w"] * b[0]
            g = (b[0] - torch.cos(a[0]) - one["shift"]) ** 2
        else:
            f = 0.5 * ((b - one["a"]) ** 2).sum() + 0.5 * a @ data["bowl"] @ a - one["q"] @ a
            g = 0.5 * one["bend"] * (b @ data["hessian"] @ b) - (one["pull"] * (data["coupling"] @ a) + one["c"]) @ b
            g = g.sum()
        of_f = torch.autograd.grad(f, (a, b))
        of_g = torch.autograd.grad(g, b, create_graph=True)[0]
        along = of_g @ torch.tensor(v[r])
        products = torch.autograd.grad(along, (b, a))
        for column, new in zip(results, (*of_f, of_g, *products), strict=True):
            column.append(new.detach().numpy())
    for mine, theirs in zip(derivatives(problem), results, strict=True):
        np.testing.assert_allclose(mine, np.stack(theirs), rtol=1e-12, atol=1e-12)


@EACH
def test_derivatives_are_those_of_complex_steps(problem: OnlineBilevel) -> None:
    x, y, v, xi = place(problem)
    step = 1e-30

    def slope(phi: Any, z: Array) -> Array:
        return np.stack([phi(z + 1j * step * e).imag / step for e in np.eye(z.shape[1])], axis=-1)

    def along(x: Array, y: Array) -> Array:
        return (problem.inner_gradient(x, y, xi) * v).sum(axis=-1)

    expected = [
        slope(lambda z: problem.outer(z, y + 0j, xi), x),
        slope(lambda z: problem.outer(x + 0j, z, xi), y),
        slope(lambda z: problem.inner(x + 0j, z, xi), y),
        slope(lambda z: along(x + 0j, z), y),
        slope(lambda z: along(z, y + 0j), x),
    ]
    for mine, exact in zip(derivatives(problem), expected, strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-12)


@EACH
def test_estimated_directions_have_the_exact_ones_as_means(problem: OnlineBilevel) -> None:
    replicas = 400
    x, y, v, _ = place(problem, 1)
    solver = ZOSOGD(product_radius=1e-3)
    for part in (solver.estimator, solver.outer_estimator):
        part.smoothing_radius, part.batch_size = 1e-3, 50
    streams = Streams(3, replicas)
    problem = problem.clone()
    problem.noise = "deterministic"
    oracle = Oracle(problem, streams)
    at = Triple(*(np.repeat(one, replicas, axis=0) for one in (x, y, v)))
    result, _ = solver.raw(BilevelOracle(oracle), at, RepeatedNumbers(streams), 1)
    exact, _ = SOGD().raw(BilevelOracle(oracle), at, RepeatedNumbers(streams), 1)
    assert len(result) == len(exact) == 3
    for estimates, expected in zip(result, exact, strict=True):
        error = estimates.std(axis=0) / np.sqrt(replicas)
        assert (np.abs(estimates.mean(axis=0) - expected[0]) <= 4.5 * error + 1e-4).all()


def test_a_shared_direction_bounds_the_variance_of_a_product_and_directions_of_their_own_do_not() -> None:
    """Mean square errors of D^v at three rho_v, over 300 replicas."""
    radii = (1e-1, 1e-3, 1e-5)
    shared, apart = (
        np.array([product_spread(radius, one, replicas=300).mean() for radius in radii]) for one in (True, False)
    )
    np.testing.assert_allclose(shared / shared[0], 1.0, rtol=0.05)
    np.testing.assert_allclose(apart[1:] / apart[:-1], 1e4, rtol=0.3)


@EACH
def test_the_solver_of_the_follower_finds_the_closed_form(problem: OnlineBilevel) -> None:
    x, y, _, xi = place(problem)
    (inner, multiplier), (expected, weight) = settle(problem, x, xi, 3.0 * y), problem.solution(x, xi)
    np.testing.assert_allclose(inner, expected, atol=1e-7)
    np.testing.assert_allclose(multiplier, weight, atol=1e-7)


class Curved(QuadraticBilevel):
    """The quadratic one with a follower whose curvature grows: g + sum y^4."""

    __abstract = True

    def inner_gradient(self, x: Array, y: Array, xi: Any) -> Array:
        return super().inner_gradient(x, y, xi) + 4.0 * y**3

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Any) -> Array:
        return super().inner_hessian_vector(x, y, v, xi) + 12.0 * y**2 * v

    def solution(self, x: Array, xi: Any) -> tuple[Array, Array]:
        return settle(self, x, xi, np.full((len(x), self.d), 5.0))


def test_a_follower_without_a_closed_form_is_solved_to_1e_8_off_the_books() -> None:
    problem = Curved(n=3, d=4)
    x, _, _, xi = place(problem)
    y, v = problem.solution(x, xi)
    exact = problem.exact(xi)
    assert np.abs(problem.inner_gradient(x, y, exact)).max() < 1e-8 * 600
    residual = problem.outer_gradients(x, y, exact)[1] + problem.inner_hessian_vector(x, y, v, exact)
    assert np.linalg.norm(residual) <= 1e-7
    run = Run(problem=problem, solver=SOGD(), replicas=3, iterations=30)
    run.run()
    assert np.isfinite(run.trace["regret"][-1]).all() and (run.result.calls == 4 + 29 * 8).all()


def test_regret_is_the_sum_over_every_round_that_was_played() -> None:
    problem = QuadraticBilevel(n=3, d=4, half_width=0.4, drift="rapid", drift_size=3.0, regret_step=0.3)
    run = Run(problem=problem, solver=SOGD(), replicas=2, iterations=9, seed=1)
    run.run()
    streams = Streams(1, 2)
    oracle = Oracle(problem, streams)
    solver = SOGD(**{k: run.resolved[k] for k in SOGD().open_scales()})
    state, total = solver.init(problem.initial(streams), oracle, streams), np.zeros(2)
    for t in range(1, 10):
        a, c, q = np.split(problem.vectors(t), [4, 8])
        for r in range(2):
            data, x = problem.data, state.x[r]
            y = np.linalg.solve(data.hessian, data.coupling @ x + c)
            slope = data.bowl @ x - q + data.coupling.T @ np.linalg.solve(data.hessian, y - a)
            total[r] += np.square((x - np.clip(x - 0.3 * slope, -0.4, 0.4)) / 0.3).sum()
            if t == 9:
                assert run.trace["inner_error"][-1][r] == pytest.approx(np.linalg.norm(state.inner[r] - y))
        state, _ = solver.step(state, oracle, streams)
    np.testing.assert_allclose(run.trace["regret"][-1], total, rtol=1e-10)
    np.testing.assert_allclose(run.trace["average_regret"][-1], total / 9, rtol=1e-10)
    assert np.isnan(run.trace["average_regret"][0]).all() and (run.trace["regret"][0] == 0.0).all()


def test_phases_change_the_centre_at_their_rounds_only() -> None:
    problem = QuadraticBilevel(n=2, d=2, drift="none", phase_length=10)
    assert problem.phases(9) == [] and problem.phases(25) == [(10, "phase 2"), (20, "phase 3")]
    assert (problem.vectors(9) == problem.vectors(1)).all() and (problem.vectors(10) != problem.vectors(9)).all()


def test_vectors_of_a_round_are_drawn_once_and_anew_for_another_instance() -> None:
    problem = QuadraticBilevel(drift="rapid", seed=1)
    first = problem.vectors(5)
    for t in range(20):  # few rounds are kept, and which of them makes no difference
        np.testing.assert_array_equal(problem.vectors(t), QuadraticBilevel(drift="rapid", seed=1).vectors(t))
    assert problem.vectors(19) is problem.vectors(19)
    np.testing.assert_array_equal(problem.vectors(5), first)
    problem.seed = 2
    assert (problem.vectors(5) != first).all()


@pytest.mark.parametrize("first_order", [True, False])
def test_measured_constants_are_of_the_right_size(first_order: bool) -> None:
    problem = QuadraticBilevel(n=8, d=8, sampling_noise=0.0)
    streams = Streams(0, 3)
    oracle = Oracle(problem, streams)
    constants = measured_bilevel_constants(
        BilevelOracle(oracle), oracle, problem.initial(streams), streams, first_order
    )
    expected = problem.bilevel_constants
    assert constants.measured and str(oracle.account.spent) in constants.source
    assert 0.7 * expected.inner_curvature <= constants.inner_curvature <= 3.0 * expected.inner_curvature
    assert expected.inner_convexity * 0.999 <= constants.inner_convexity <= expected.inner_curvature
    assert 0.3 * expected.outer_curvature <= constants.outer_curvature <= 10.0 * expected.outer_curvature
