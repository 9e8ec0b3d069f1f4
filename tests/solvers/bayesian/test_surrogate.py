"""The surrogate: its posterior against the formula, its draws against its moments, its search for a maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.threads.blas import quiet_pytorch
from zoviz.core.types import Array
from zoviz.solvers.bayesian.surrogate import JITTER, Numbers, Surrogate


def matern(a: Array, b: Array, lengths: Array) -> Array:
    r = np.sqrt(5.0 * np.square((a[:, None] - b[None]) / lengths).sum(axis=-1))
    return (1.0 + r + r**2 / 3.0) * np.exp(-r)


@pytest.fixture(scope="module")
def data() -> tuple[Array, Array]:
    x = np.random.default_rng(0).random((9, 2))
    return x, np.stack([x.sum(axis=1), 30.0 * np.sin(5.0 * x[:, 0]), x[:, 1] ** 2], axis=1)


@pytest.mark.parametrize("noisy", [False, True])
def test_the_posterior_is_that_of_its_hyper_parameters(data: tuple[Array, Array], noisy: bool) -> None:
    x, values = data
    hyper = np.array([[-0.5, 0.2, -3.0, 0.1], [-1.0, 1.0, -4.0, 0.0], [0.3, -0.7, -2.0, -0.2]])
    points = np.random.default_rng(1).random((6, 2))
    with quiet_pytorch():
        surrogate = Surrogate(x, values, noisy, hyper, fit=False)
        mean, deviation = surrogate.moments(points)
        joint, covariance = surrogate.joint(points)
    for k in range(3):
        lengths, noise = np.exp(hyper[k, :2]), np.exp(hyper[k, 2]) if noisy else JITTER
        y = (values[:, k] - values[:, k].mean()) / values[:, k].std()
        inverse = np.linalg.inv(matern(x, x, lengths) + noise * np.eye(len(x)))
        cross = matern(points, x, lengths)
        expected = hyper[k, 3] + cross @ inverse @ (y - hyper[k, 3])
        spread = matern(points, points, lengths) - cross @ inverse @ cross.T
        np.testing.assert_allclose(joint[k], expected, atol=1e-5)
        np.testing.assert_allclose(covariance[k], spread, atol=1e-5)
        np.testing.assert_allclose(mean[:, k], values[:, k].mean() + values[:, k].std() * expected, atol=3e-4)
        np.testing.assert_allclose(deviation[:, k] ** 2, values[:, k].var() * np.diag(spread), atol=1e-2)


@pytest.mark.parametrize("noisy", [False, True])
def test_the_posterior_and_its_slope_are_botorchs(data: tuple[Array, Array], noisy: bool) -> None:
    import torch

    x, values = data
    with quiet_pytorch():
        surrogate = Surrogate(x, values, noisy, np.zeros((3, 4)), fit=True)
        points = torch.tensor(np.concatenate([np.random.default_rng(1).random((6, 2)), x[:1]]), requires_grad=True)
        theirs = surrogate.model.posterior(points[:, None])
        joint, mean = surrogate.joint(points.detach().numpy()), theirs.mean[:, 0]
        own_mean, own_variance = surrogate.law(points)
        np.testing.assert_allclose(own_mean.detach(), mean.detach(), atol=1e-5)
        np.testing.assert_allclose(own_variance.detach(), theirs.variance[:, 0].detach(), atol=1e-5)
        np.testing.assert_allclose(joint[0].T, own_mean.detach(), atol=1e-9)
        np.testing.assert_allclose(np.einsum("kii->ik", joint[1]), own_variance.detach(), atol=1e-9)
        for own, other in ((own_mean, mean), (own_variance, theirs.variance)):
            slope, expected = (torch.autograd.grad(one[:6].sum(), points, retain_graph=True)[0] for one in (own, other))
            np.testing.assert_allclose(slope, expected, rtol=1e-3, atol=1e-3)


def test_a_fit_raises_the_likelihood_and_is_taken_up_again(data: tuple[Array, Array]) -> None:
    x, values = data
    none = np.zeros((3, 4))
    with quiet_pytorch():
        fitted = Surrogate(x, values, True, none, fit=True)
        same = Surrogate(x, values, True, fitted.hyper, fit=False)
        points = np.full((1, 2), 0.4)
        one, other = fitted.moments(points), same.moments(points)
    assert fitted.hyper.shape == (3, 4) and np.isfinite(fitted.hyper).all()
    np.testing.assert_allclose(one, other, rtol=1e-9)
    # sin(5 x1) does not depend on x2, x2^2 not on x1.
    lengths = fitted.hyper[:, :2]
    assert lengths[1, 1] > lengths[1, 0] and lengths[2, 0] > lengths[2, 1]


def test_draws_have_the_posteriors_moments(data: tuple[Array, Array]) -> None:
    x, values = data
    points, rng = np.random.default_rng(1).random((4, 2)), np.random.default_rng(2)
    with quiet_pytorch():
        surrogate = Surrogate(x, values, False, np.tile([-0.5, -0.5, 0.0, 0.0], (3, 1)), fit=False)
        draws = np.stack([surrogate.draw(points, rng.standard_normal((3, 4))) for _ in range(100)])
        mean, deviation = surrogate.moments(points)
    error = np.abs(draws.mean(axis=0).T - mean) / (deviation / 10.0)
    assert error.max() < 4.5
    np.testing.assert_allclose(draws.std(axis=0).T, deviation, rtol=0.35)


def test_the_search_ends_at_the_maximum_and_candidates_gather_around_the_best() -> None:
    import torch

    target = torch.tensor([0.3, 0.8], dtype=torch.float64)

    def acquisition(points: Any) -> Any:
        return -(points[:, 0] - target).square().sum(dim=-1)

    rng = np.random.default_rng(0)
    numbers = Numbers(rng.random((40, 2)), rng.standard_normal((40, 2)), rng.standard_normal((1, 1, 40)))
    best = np.array([0.9, 0.1])
    candidates = numbers.candidates(best)
    assert (candidates >= 0).all() and (candidates <= 1).all()
    assert np.median(np.abs(candidates[:10] - best)) < 0.1 < np.median(np.abs(candidates[10:] - best))
    with quiet_pytorch():
        surrogate = Surrogate(rng.random((4, 2)), rng.random((4, 1)), False, np.zeros((1, 4)), fit=False)
        np.testing.assert_allclose(surrogate.maximise(acquisition, candidates, 2), [0.3, 0.8], atol=1e-4)


def test_a_search_whose_gradient_is_not_a_number_takes_the_best_candidate() -> None:
    import torch

    def acquisition(points: Any) -> Any:
        # The root of 0 has a value, and no derivative.
        flat = (points[:, 0] - 0.5).square().sum(dim=-1)
        return -flat + 0.0 * torch.sqrt(0.0 * flat)

    candidates = np.random.default_rng(0).random((20, 2))
    nearest = candidates[np.square(candidates - 0.5).sum(axis=1).argmin()]
    with quiet_pytorch():
        surrogate = Surrogate(candidates[:4], candidates[:4, :1], False, np.zeros((1, 4)), fit=False)
        np.testing.assert_array_equal(surrogate.maximise(acquisition, candidates, 2), nearest)
