"""What every gradient estimator in the registry keeps, whatever its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.parameters import assert_documented
from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Estimate, Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP

# A class that another test defines is no concern of this one.
ESTIMATORS = {
    name: cls
    for name, cls in discover("zoviz.estimators", GradientEstimator).items()
    if cls.__module__.startswith("zoviz.")
}
EACH_CLASS = pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS.keys())
EACH_BATCH = pytest.mark.parametrize("k", [1, 5])
EACH_NOISE = pytest.mark.parametrize("noise", ["deterministic", "common", "independent"])
N = 8


def lagrangian(value: Evaluation) -> Array:
    return value.f + 0.3 * value.h.sum(axis=-1)


def estimated(
    cls: type[GradientEstimator], replicas: int, seed: int = 0, noise: str = "deterministic", **settings: Any
) -> tuple[Estimate, Oracle, Array]:
    problem, streams = NonconvexQCQP(n=N, noise=noise, noise_scale=0.1), Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    x = problem.initial(streams)
    est = cls(**{"smoothing_radius": 1e-3} | settings)
    return est.estimate(lagrangian, x, oracle, streams), oracle, x


@EACH_CLASS
def test_it_says_what_it_is(cls: type[GradientEstimator]) -> None:
    assert cls.__doc__
    assert_documented(cls)
    assert all(name in cls.param for name in cls.live)


@EACH_NOISE
@EACH_BATCH
@EACH_CLASS
def test_shapes_and_dtypes(cls: type[GradientEstimator], k: int, noise: str) -> None:
    estimate, _, _ = estimated(cls, 3, noise=noise, batch_size=k)
    assert estimate.gradient.shape == (3, N) and estimate.gradient.dtype == np.float64
    assert estimate.variance.shape == (3,) and estimate.variance.dtype == np.float64
    assert np.isfinite(estimate.gradient).all()
    assert not (estimate.variance < 0).any()
    assert estimate.base is None or (estimate.base.f.shape == (3,) and estimate.base.h.shape == (3, 1))


@EACH_NOISE
@EACH_BATCH
@EACH_CLASS
def test_a_replica_does_not_depend_on_how_many_there_are(cls: type[GradientEstimator], k: int, noise: str) -> None:
    many, _, _ = estimated(cls, 5, noise=noise, batch_size=k)
    for replicas in (1, 3):
        few, _, _ = estimated(cls, replicas, noise=noise, batch_size=k)
        np.testing.assert_allclose(few.gradient, many.gradient[:replicas], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(few.variance, many.variance[:replicas], rtol=1e-6, atol=1e-8)


@EACH_CLASS
def test_the_same_seed_gives_the_same_bits(cls: type[GradientEstimator]) -> None:
    first, again = (estimated(cls, 3, noise="independent", batch_size=4)[0] for _ in range(2))
    np.testing.assert_array_equal(first.gradient, again.gradient)
    np.testing.assert_array_equal(first.variance, again.variance)


@EACH_BATCH
@EACH_CLASS
def test_calls_bound_what_is_counted_and_hold_under_independent_noise(cls: type[GradientEstimator], k: int) -> None:
    count = cls(batch_size=k).calls(N)
    for noise in ("deterministic", "common", "independent"):
        _, oracle, _ = estimated(cls, 3, noise=noise, batch_size=k)
        assert (oracle.calls <= count).all()
    assert (oracle.calls == count).all()


@EACH_CLASS
def test_the_mean_of_many_directions_is_the_gradient(cls: type[GradientEstimator]) -> None:
    estimate, _, x = estimated(cls, 4, batch_size=20_000, smoothing_radius=1e-5)
    problem = NonconvexQCQP(n=N)
    of_f, of_h = problem.gradient(x)
    exact = of_f + 0.3 * of_h.sum(axis=1)
    error = np.linalg.norm(estimate.gradient - exact, axis=1)
    assert (error <= 4.0 * np.sqrt(estimate.variance) + 1e-3).all()
    noise = np.square(lagrangian(problem.evaluate(x))) if cls.takes_values else 0.0
    predicted = cls(batch_size=20_000).predicted_variance(np.square(exact).sum(axis=1), N, noise, 1e-5)
    np.testing.assert_allclose(estimate.variance, predicted, rtol=0.1, atol=1e-6)


@EACH_CLASS
def test_predicted_variance_is_a_number_per_replica(cls: type[GradientEstimator]) -> None:
    est, squares = cls(batch_size=3), np.array([0.0, 1.0, 4.0])
    quiet = est.predicted_variance(squares, N, 0.0, 1e-3)
    noisy = est.predicted_variance(squares, N, np.full(3, 0.01), 1e-3)
    assert quiet.shape == noisy.shape == (3,)
    assert (quiet >= 0).all() and (noisy > quiet).all()
    finer = cls(batch_size=30).predicted_variance(squares, N, 0.01, 1e-3)
    np.testing.assert_allclose(10.0 * finer, noisy, rtol=1e-12)
    assert all(bound.shape == (3,) for bound in est.published_bounds(squares, squares, N, 1e-3).values())


@EACH_CLASS
def test_a_clone_is_equal_and_independent(cls: type[GradientEstimator]) -> None:
    est = cls(batch_size=7, smoothing_radius=0.02)
    clone = est.clone()
    assert type(clone) is cls and (clone.batch_size, clone.smoothing_radius) == (7, 0.02)
    clone.batch_size = 9
    assert est.batch_size == 7
