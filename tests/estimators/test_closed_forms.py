"""Mean and variance of every gradient estimator against closed forms; its calls, its noise, its chunks."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pytest

import zoviz.estimators.base as estimators_base
from helpers.estimator_cases import (
    EACH_CASE,
    EACH_NOISE,
    NOISES,
    SEED,
    Case,
    N,
    Quadratic,
    assert_mean,
    estimate,
    estimates,
    gaussian,
    sphere,
    square,
)
from zoviz.core.streams import Streams
from zoviz.estimators import Coordinate
from zoviz.oracle import Oracle


@EACH_NOISE
@EACH_CASE
def test_mean_and_variance_are_the_closed_forms(case: Case, noise: str) -> None:
    problem = Quadratic(**NOISES[noise])
    estimate = estimates(case, problem, SEED + zlib.crc32(f"{case.label} {noise}".encode()))
    mean, variance, scale = case.mean(problem), case.variance(problem), square(problem)
    errors = estimate.gradient - mean
    for i in range(N):
        assert_mean(estimate.gradient[:, i], mean[i], np.sqrt(scale))
    assert_mean(np.square(errors).sum(axis=1), variance, scale)
    if np.isfinite(estimate.variance).all():
        assert_mean(estimate.variance, variance, scale)
    else:
        assert np.isnan(estimate.variance).all() and case.estimator.batch_size == 1


@EACH_CASE
def test_variance_is_unmeasured_only_where_one_sample_cannot_tell(case: Case) -> None:
    est = case.estimator
    for noise, settings in NOISES.items():
        result, _ = estimate(case, Quadratic(**settings), 3)
        one_direction = not isinstance(est, Coordinate)
        noisy = noise in ("normal", "student_t")
        unmeasurable = est.batch_size == 1 and (one_direction or noisy)
        assert np.isnan(result.variance).all() if unmeasurable else np.isfinite(result.variance).all(), noise


@EACH_CASE
def test_common_noise_cancels(case: Case) -> None:
    exact, _ = estimate(case, Quadratic(), 50)
    shared, _ = estimate(case, Quadratic(noise="common", noise_scale=10.0), 50)
    np.testing.assert_allclose(shared.gradient, exact.gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(shared.variance, exact.variance, rtol=1e-9, atol=1e-9)


@EACH_NOISE
@EACH_CASE
def test_predicted_variance_is_the_limit_of_small_radius(case: Case, noise: str) -> None:
    problem = Quadratic(**NOISES[noise])
    r = case.estimator.smoothing_radius
    predicted = case.estimator.predicted_variance(np.array([square(problem)]), N, problem.phi_noise, r)
    assert predicted.shape == (1,)
    np.testing.assert_allclose(predicted, case.limit(problem), rtol=1e-12)


@pytest.mark.parametrize("make", [sphere, gaussian], ids=["sphere", "gaussian"])
def test_noiseless_variance_does_not_vanish_with_the_radius(make: Callable[[int, float], Case]) -> None:
    case, problem = make(4, 1e-5), Quadratic()
    estimate = estimates(case, problem)
    assert_mean(estimate.variance, case.limit(problem), case.limit(problem))


@EACH_CASE
def test_calls_are_what_the_oracle_counts(case: Case) -> None:
    for noise, settings in NOISES.items():
        _, oracle = estimate(case, Quadratic(**settings), 3)
        est, count = case.estimator, case.estimator.calls(N)
        shared_base = (
            isinstance(est, Coordinate) and est.differences != "central" and noise in ("deterministic", "common")
        )
        counted = count - (est.batch_size - 1 if shared_base else 0)
        assert (oracle.calls == counted).all(), noise
        assert oracle.account.spent == counted


@EACH_CASE
def test_a_base_that_is_paid_for_is_not_paid_again(case: Case) -> None:
    problem, streams = Quadratic(), Streams(0, 4)
    oracle = Oracle(problem, streams)
    x = np.repeat(problem.point[None], 4, axis=0)
    base = oracle(x)
    result = case.estimator.estimate(problem.phi, x, oracle, streams, base=base)
    fresh, counted = estimate(case, problem, 4, 0)
    central = getattr(case.estimator, "differences", "") == "central" or getattr(case.estimator, "central", False)
    assert (oracle.calls == counted.calls + (1 if central else 0)).all()
    assert result.base is base
    assert (fresh.base is None) == central
    np.testing.assert_array_equal(result.gradient, fresh.gradient)


@EACH_CASE
def test_a_radius_in_the_call_replaces_the_estimators_own(case: Case) -> None:
    problem, streams = Quadratic(), Streams(3, 4)
    x = np.repeat(problem.point[None], 4, axis=0)
    estimate = case.estimator.estimate(problem.phi, x, Oracle(problem, streams), streams, radius=0.07)
    clone = case.estimator.clone()
    clone.smoothing_radius = 0.07
    streams = Streams(3, 4)
    own = clone.estimate(problem.phi, x, Oracle(problem, streams), streams)
    np.testing.assert_array_equal(estimate.gradient, own.gradient)


@EACH_NOISE
@EACH_CASE
def test_chunks_change_neither_the_estimate_nor_its_noise(
    case: Case, noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Quadratic(**NOISES[noise])
    whole, _ = estimate(case, problem, 3)
    for points in (1, 2, 3):
        monkeypatch.setattr(estimators_base, "CHUNK_BYTES", points * 3 * N * 8)
        parts, _ = estimate(case, problem, 3)
        np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(parts.variance, whole.variance, rtol=1e-8, atol=1e-10)
