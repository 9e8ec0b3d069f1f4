"""The oracle hides exact values behind noise, common or independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.quadratic_bowl import Bowl, made, points
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle


def noise_of(oracle: Oracle, x: Array) -> Array:
    """(..., m + 1) additive noise of one call."""
    got, exact = oracle(x), Bowl().evaluate(x)
    return np.concatenate([(got.f - exact.f)[..., None], got.h - exact.h], axis=-1)


def test_common_noise_is_shared_within_an_iteration_and_new_after_resample() -> None:
    oracle = made(Bowl(noise="common", noise_scale=0.5))
    first = noise_of(oracle, points(3, 3))
    batch = noise_of(oracle, points(3, 6, 3))
    np.testing.assert_allclose(batch, np.repeat(first[:, None], 6, axis=1), atol=1e-14)
    assert np.unique(np.round(first, 12)).size == 9, "replicas and functions have noise of their own"
    oracle.resample()
    second = noise_of(oracle, points(3, 3))
    assert (np.abs(second - first) > 1e-6).all()


def test_independent_noise_differs_at_every_call() -> None:
    oracle = made(Bowl(noise="independent", noise_scale=0.5))
    x = np.zeros((3, 6, 3))
    values = np.concatenate([noise_of(oracle, x), noise_of(oracle, x)], axis=1)
    assert np.unique(np.round(values, 12)).size == values.size


@pytest.mark.parametrize("contract", ["common", "independent"])
def test_noise_has_its_scale_and_law(contract: str) -> None:
    settings = {"noise": contract, "noise_scale": 0.3}
    heavy = {"noise_distribution": "student_t", "noise_degrees": 9.0}
    for law, variance, excess in (({}, 1.0, 0.0), (heavy, 9.0 / 7.0, 6.0 / 5.0)):
        problem = Bowl(**settings, **law)
        oracle = made(problem, 50)
        values = []
        for _ in range(400):
            values.append(noise_of(oracle, np.zeros((50, 3))))
            oracle.resample()
        sample = np.stack(values)
        error = np.sqrt((2.0 + excess) / sample.size) * variance * 0.09
        assert abs(sample.var() - 0.09 * variance) < 4 * error
        assert abs(sample.mean()) < 4 * 0.3 * np.sqrt(variance / sample.size)
        expected = 0.09 * variance if contract == "independent" else 0.0
        assert problem.noise_variances[0] == pytest.approx(expected)
        across = np.corrcoef(sample.reshape(-1, 3).T)[np.triu_indices(3, 1)]
        assert np.abs(across).max() < 4 / np.sqrt(sample.size / 3), "f and each h have noise of their own"


def test_replicas_noise_does_not_depend_on_their_number() -> None:
    x = points(5, 4, 3)
    for noise in ("common", "independent"):
        few, many = (made(Bowl(noise=noise), count) for count in (2, 5))
        np.testing.assert_array_equal(few(x[:2]).f, many(x).f[:2])


class Sampled(Bowl):
    """f = |x|^2 + xi, xi a draw of the problem's own; says for what shapes it was drawn."""

    __abstract = True

    def __init__(self, **params: Any) -> None:
        super().__init__(noise_scale=0.0, **params)
        self.draws: list[tuple[int, tuple[int, ...]]] = []

    def draw(self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: object = 1) -> Array:
        self.draws.append((iteration, shape))
        return streams.normal("xi", *shape)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f, h = super().evaluate(x)
        if xi is None:
            return Evaluation(f, h)
        return Evaluation(f + xi.reshape(*xi.shape, *[1] * (f.ndim - xi.ndim)), h)


def test_the_problems_own_sample_is_pinned_under_common_noise() -> None:
    problem = Sampled(noise="common")
    oracle, x = made(problem), np.zeros((3, 4, 3))
    first = oracle(x[:, 0]).f
    np.testing.assert_array_equal(oracle(x).f, np.repeat(first[:, None], 4, axis=1))
    oracle.resample()
    assert (oracle(x[:, 0]).f != first).all()
    assert problem.draws == [(0, ()), (1, ())]


def test_the_problems_own_sample_is_drawn_per_point_under_independent_noise() -> None:
    problem = Sampled(noise="independent")
    oracle = made(problem)
    assert np.unique(oracle(np.zeros((3, 4, 3))).f).size == 12
    assert np.unique(oracle(np.zeros((3, 3))).f).size == 3
    assert problem.draws == [(0, (4,)), (0, ())]
    assert made(Sampled())(np.zeros((3, 3))).f.tolist() == [0.0] * 3, "no sample where values are deterministic"


@pytest.mark.parametrize("noise", ["common", "independent"])
def test_samples_of_frozen_replicas_are_left_out(noise: str) -> None:
    frozen, whole = (made(Sampled(noise=noise)) for _ in range(2))
    frozen.freeze(np.array([False, True, False]))
    x = points(3, 4, 3)
    got, expected = frozen(x).f, whole(x).f
    np.testing.assert_array_equal(got[[0, 2]], expected[[0, 2]])
    assert np.isnan(got[1]).all()
