"""The regression against dense kriging equations written by hand, and its design."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.regression import Data, Prior, design, fit, priors
from zoviz.solvers.sqp.situation import space_of


def data(seed: int, n: int, points: int, outputs: int = 2) -> Data:
    generator = np.random.default_rng(seed)
    u = generator.uniform(-1.5, 1.5, (points, n))
    counts = generator.integers(1, 5, points).astype(float)
    values = 3.0 + u @ generator.standard_normal((n, outputs)) + np.square(u) @ generator.standard_normal((n, outputs))
    values += 0.1 * generator.standard_normal((points, outputs)) / np.sqrt(counts)[:, None]
    return Data(u, np.abs(u).max(axis=1), counts, values, np.zeros((len(u), 0)))


def kernel(kind: int, one: Array, other: Array) -> Array:
    return np.square(one @ other.T) / 2.0 if kind == 0 else np.square(one) @ np.square(other).T / 2.0


def by_hand(data: Data, noise: float, prior: Prior, y: Array, at: Array) -> tuple[float, float, float]:
    """Value and standard error at a point, and restricted log-likelihood, by generalised least squares in N numbers."""
    k = prior.curvature**2 * kernel(prior.kind, data.u, data.u)
    k[np.diag_indices(len(k))] += 1.0 / data.counts + prior.bias**2 * data.reach**6
    k += prior.shared**2 * data.batches @ data.batches.T
    inverse = np.linalg.inv(k)
    trend = np.concatenate([np.ones((len(y), 1)), data.u], axis=1)
    normal = trend.T @ inverse @ trend
    theta = np.linalg.solve(normal, trend.T @ inverse @ (y / noise))
    rest = y / noise - trend @ theta
    cross = prior.curvature**2 * kernel(prior.kind, data.u, at[None])[:, 0]
    here = np.concatenate([[1.0], at])
    value = here @ theta + cross @ inverse @ rest
    own = prior.curvature**2 * kernel(prior.kind, at[None], at[None])[0, 0] - cross @ inverse @ cross
    left = here - trend.T @ inverse @ cross
    variance = own + left @ np.linalg.solve(normal, left)
    likelihood = -0.5 * (rest @ inverse @ rest + np.linalg.slogdet(k)[1] + np.linalg.slogdet(normal)[1])
    return noise * value, noise * np.sqrt(variance), likelihood


# With 4 variables there are 10 second derivatives, fewer than points; with 8 there are 36, more than points.
def batched(seed: int, size: int, shared: float, noise: float) -> Data:
    """Points in batches of this size, whose values share noise of this size beside a noise of their own."""
    given, generator = data(seed, 3, 40), np.random.default_rng(seed)
    u = given.u
    values = np.stack([3.0 + u[:, 0] + u[:, 1] ** 2, 1.0 - u[:, 2]], axis=1)
    batches = np.repeat(np.eye(40 // size), size, axis=0)
    values += shared * batches @ generator.standard_normal((40 // size, 2)) + noise * generator.standard_normal((40, 2))
    return given._replace(counts=np.ones(40), values=values, batches=batches)


@pytest.mark.parametrize("shared", [0.1, 3.0, 100.0])
def test_a_random_intercept_for_each_batch_is_that_of_dense_kriging(shared: float) -> None:
    given, noise, prior = batched(5, 4, 1.0, 0.1), np.array([0.7, 1.3]), Prior(0, 3.0, 0.1, shared)
    model, at = fit(given, noise, [prior]), np.array([0.5, -0.3, 0.8])
    for j, one in enumerate(noise / np.sqrt(1.0 + shared**2)):
        value, error, _ = by_hand(given, one, prior, given.values[:, j], at)
        assert model.value(at)[j] == pytest.approx(value, rel=1e-5)
        assert model.standard_error(at)[j] == pytest.approx(error, rel=1e-5)
    np.testing.assert_allclose(model.noise, noise / np.sqrt(1.0 + shared**2))
    np.testing.assert_array_equal(model.call_noise, noise)


def test_heavy_shared_noise_spoils_the_level_but_not_the_differences() -> None:
    off, levels, slopes = [], [], []
    origin, at = np.zeros(3), np.array([1.0, 0.0, 0.0])
    for seed in range(60):
        given = batched(seed, 4, 1.0, 0.01)
        model = fit(given, np.full(2, 1.0), priors(3, STANDARD, True))
        off.append((model.value(origin)[1] - 1.0) / model.level_error[1])
        levels.append(model.level_error[1])
        slopes.append([model.value(at)[1] - model.value(origin)[1], model.standard_error(at, False)[1]])
        assert (model.shared >= 30.0).all()
    # Ten batches tell the level, forty points the slopes.
    assert np.median(levels) == pytest.approx(1.0 / np.sqrt(10), rel=0.2)
    assert 0.7 < np.std(off) < 1.3
    assert np.abs(np.array(slopes)).max() < 0.05, "the second output does not depend on the first variable"


def test_without_batches_the_error_of_a_level_is_part_of_the_others() -> None:
    model = fit(data(3, 4, 30), np.full(2, 0.1), priors(4, STANDARD))
    np.testing.assert_array_equal(model.level_error, 0.0)
    np.testing.assert_array_equal(model.noise, model.call_noise)
    assert not model.batched


@pytest.mark.parametrize("n, points", [(4, 30), (8, 25)], ids=["explicit", "factor"])
@pytest.mark.parametrize("kind", [0, 1], ids=["full", "diagonal"])
def test_values_and_errors_are_those_of_dense_kriging(kind: int, n: int, points: int) -> None:
    given, noise, prior = data(3, n, points), np.array([0.1, 0.2]), Prior(kind, 3.0, 0.1)
    model = fit(given, noise, [prior])
    at = np.linspace(-0.8, 0.9, n)
    for j in range(2):
        value, error, _ = by_hand(given, noise[j], prior, given.values[:, j], at)
        assert model.value(at)[j] == pytest.approx(value, rel=1e-6)
        assert model.standard_error(at)[j] == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("n, points", [(4, 30), (8, 25)], ids=["explicit", "factor"])
@pytest.mark.parametrize("kind", [0, 1], ids=["full", "diagonal"])
def test_the_error_by_noise_is_what_each_call_moves_the_value_by(kind: int, n: int, points: int) -> None:
    given, noise, prior = data(5, n, points), np.array([0.1, 0.2]), Prior(kind, 3.0, 0.1)
    at = np.linspace(-0.8, 0.9, n)
    model = fit(given, noise, [prior])
    effects = [
        fit(given._replace(values=given.values + shift[:, None]), noise, [prior]).value(at) - model.value(at)
        for shift in np.eye(points)
    ]
    error = noise * np.sqrt((np.square(effects) / given.counts[:, None]).sum(axis=0))
    np.testing.assert_allclose(model.noise_error(at), error, rtol=1e-5)
    assert (model.noise_error(at) < model.standard_error(at)).all()


@pytest.mark.parametrize("n, points", [(4, 30), (8, 25)], ids=["explicit", "factor"])
def test_derivatives_are_those_of_the_values(n: int, points: int) -> None:
    given = data(3, n, points)
    model = fit(given, np.full(2, 0.1), [Prior(0, 3.0, 0.1)])
    at, step, weights = np.linspace(-0.5, 0.6, n), 1e-5, np.array([1.0, 2.0])
    moved = step * np.eye(n)
    slopes = np.array([model.value(at + one) - model.value(at - one) for one in moved]) / (2 * step)
    np.testing.assert_allclose(model.gradient(at), slopes, atol=1e-6)
    bends = np.array([(model.gradient(at + one) - model.gradient(at - one)) @ weights for one in moved]) / (2 * step)
    np.testing.assert_allclose(model.hessian(weights), bends, atol=1e-5)
    linear, quadratic = model.parts(given.u[:3], np.array([1]))
    whole = np.array([model.value(u)[1] for u in model.data.u[:3]]) - model.value(np.zeros(n))[1]
    np.testing.assert_allclose((linear + quadratic)[:, 0], whole, atol=1e-9)


def test_the_prior_of_the_largest_restricted_likelihood_is_chosen() -> None:
    given, noise = data(5, 3, 25), np.array([0.1, 0.1])
    model = fit(given, noise, priors(3, STANDARD))
    for j in range(2):
        likelihoods = [by_hand(given, 0.1, prior, given.values[:, j], np.zeros(3))[2] for prior in priors(3, STANDARD)]
        assert model.priors[j] == priors(3, STANDARD)[int(np.argmax(likelihoods))]


def test_a_linear_output_is_known_to_the_noise_over_the_root_of_the_calls() -> None:
    generator = np.random.default_rng(0)
    u = generator.uniform(-1, 1, (400, 3))
    values = (1.0 + u @ [1.0, -2.0, 0.5] + 0.01 * generator.standard_normal(400))[:, None]
    known = Data(u, np.abs(u).max(axis=1), np.ones(400), values, np.zeros((400, 0)))
    model = fit(known, np.array([0.01]), priors(3, STANDARD))
    assert model.priors[0].curvature == 0.03
    assert model.standard_error(np.zeros(3))[0] < 1.5 * 0.01 / np.sqrt(400)
    assert abs(model.value(np.zeros(3))[0] - 1.0) < 4 * 0.01 / np.sqrt(400)


@pytest.mark.parametrize("count", [3, 8, 12, 30])
def test_a_design_is_balanced_well_conditioned_and_inside(count: int) -> None:
    n = 4
    space = space_of(Box(np.full(n, -10.0), np.full(n, 10.0)), np.zeros(n), np.empty(0))
    points = design(np.ones(n), 0.1, count, space, np.random.default_rng(1))
    assert points.shape == (count, n)
    assert np.abs(points - 1.0).max() <= 0.1 * 1.0 * (1 + 1e-12)
    if count in (8, 12, 30):
        np.testing.assert_allclose(points.mean(axis=0), 1.0, atol=1e-12)
        assert np.linalg.cond(np.concatenate([np.ones((count, 1)), (points - 1.0) / 0.1], axis=1)) < 10.0


def test_a_design_at_a_corner_uses_the_room_that_there_is() -> None:
    space = space_of(Box(np.zeros(3), np.ones(3)), np.zeros(3), np.empty(0))
    points = design(np.zeros(3), 0.5, 12, space, np.random.default_rng(2))
    assert (points >= 0.0).all() and (points <= 0.25).all()
    assert np.linalg.matrix_rank(points) == 3 and len(np.unique(points, axis=0)) > 4
