"""Coordinates in place of random directions: all of them, or a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, Sphere
from zoviz.estimators.base import DirectionalEstimator
from zoviz.estimators.scalars import objective
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOALM, ZOGDA, ZOSPLM, Solver, SZOConEX

FAMILIES = (Sphere, CentralSphere, Gaussian)


def box(n: int, **noise: Any) -> BlackBox:
    def value(x: Array) -> Evaluation:
        return Evaluation(np.sin(x).sum(axis=-1) + x[..., 0] ** 2, x[..., :1] - 1.0)

    return BlackBox(value, bounds=[(-2.0, 2.0)] * n, x0=np.full(n, 0.5), m=1, joint=True, vectorised=True, **noise)


@pytest.mark.parametrize("cls", FAMILIES)
def test_a_sweep_equals_differences_along_the_coordinates(cls: type[DirectionalEstimator]) -> None:
    n, r = 5, 1e-3
    problem, streams = box(n), Streams(0, 2)
    oracle, x = Oracle(problem, streams), np.linspace(-1.0, 1.0, 2 * n).reshape(2, n)
    estimator = cls(smoothing_radius=r, batch_size=50, directions="sweep")
    # Gaussian steps are sqrt(n) r long, as its normal draws are.
    length = r * np.sqrt(n) if cls is Gaussian else r
    forward, central = (
        Coordinate(smoothing_radius=length, differences=kind).estimate(objective, x, oracle, streams).gradient
        for kind in ("forward", "central")
    )
    backward = 2.0 * central - forward
    before = oracle.calls.copy()
    estimate = estimator.estimate(objective, x, oracle, streams)
    if estimator.central:
        np.testing.assert_allclose(estimate.gradient, central, rtol=1e-11)
    else:  # each along a side that is drawn
        ahead, behind = (np.isclose(estimate.gradient, side, rtol=1e-10, atol=0.0) for side in (forward, backward))
        assert (ahead ^ behind).all() and ahead.any() and behind.any()
    np.testing.assert_array_equal(estimate.variance, 0.0)
    assert (oracle.calls - before).tolist() == [estimator.calls(n)] * 2 == [2 * n if estimator.central else n + 1] * 2
    assert estimator.predicted_variance(np.ones(1), n, 0.0, r)[0] == 0.0


@pytest.mark.parametrize("cls", FAMILIES)
def test_theory_knows_what_noise_is_left_in_a_sweep(cls: type[DirectionalEstimator]) -> None:
    n, r, sigma = 4, 0.01, 0.01
    problem, streams = box(n, noise="independent", noise_scale=sigma), Streams(3, 4000)
    estimator = cls(smoothing_radius=r, batch_size=9, directions="sweep")
    x = np.full((4000, n), 0.3)
    estimate = estimator.estimate(objective, x, Oracle(problem, streams), streams)
    spread = estimate.gradient.var(axis=0).sum()
    assert spread == pytest.approx(estimator.predicted_variance(np.ones(1), n, sigma**2, r)[0], rel=0.08)
    assert np.isnan(estimate.variance).all()


@pytest.mark.parametrize("cls", FAMILIES)
@pytest.mark.parametrize("sigma", [0.0, 0.01])
def test_a_block_is_the_sweep_in_the_mean_with_the_variance_that_theory_knows(
    cls: type[DirectionalEstimator], sigma: float
) -> None:
    """Monte Carlo over 20,000 blocks of 3 in 7 coordinates."""
    n, k, r, replicas = 7, 3, 0.01, 20_000
    problem, streams = box(n, **({"noise": "independent", "noise_scale": sigma} if sigma else {})), Streams(4, replicas)
    x = np.tile(np.linspace(-1.0, 1.0, n), (replicas, 1))
    gradient = np.cos(x[0]) + 2.0 * x[0] * (np.arange(n) == 0)
    estimator, oracle = cls(smoothing_radius=r, batch_size=k, directions="block"), Oracle(problem, streams)
    estimate = estimator.estimate(objective, x, oracle, streams)
    assert (oracle.calls == estimator.calls(n)).all() and estimator.calls(n) == (2 * k if estimator.central else k + 1)
    assert ((estimate.gradient != 0.0).sum(axis=1) <= k).all()
    spread = estimate.gradient.var(axis=0).sum()
    error = 4.0 * (spread / replicas) ** 0.5 + estimator.bias_bound(2.0, n, r)
    np.testing.assert_allclose(estimate.gradient.mean(axis=0), gradient, atol=error)
    predicted = estimator.predicted_variance((gradient**2).sum()[None], n, sigma**2, r)[0]
    assert spread == pytest.approx(predicted, rel=0.05)
    if sigma:
        assert np.isnan(estimate.variance).all()
    else:
        assert estimate.variance.mean() == pytest.approx(spread, rel=0.02)


@pytest.mark.parametrize("cls", FAMILIES)
def test_a_block_of_all_coordinates_is_a_sweep(cls: type[DirectionalEstimator]) -> None:
    problem, x = box(4), np.full((2, 4), 0.3)
    estimates = []
    for settings in ({"batch_size": 50, "directions": "block"}, {"batch_size": 1, "directions": "sweep"}):
        streams = Streams(0, 2)
        estimates.append(cls(**settings).estimate(objective, x, Oracle(problem, streams), streams))
    np.testing.assert_array_equal(estimates[0].gradient, estimates[1].gradient)
    np.testing.assert_array_equal(estimates[0].variance, 0.0)


def test_a_slope_that_fails_leaves_the_others_as_they_are() -> None:
    def value(x: Array) -> Evaluation:
        return Evaluation(np.where(x[..., 0] > 0.0, np.nan, 3.0 * x[..., 1]), np.zeros((*x.shape[:-1], 0)))

    problem = BlackBox(value, bounds=[(-2.0, 2.0)] * 2, x0=[0.0, 1.0], m=0, joint=True, vectorised=True)
    streams = Streams(0, 1)
    estimator = Sphere(smoothing_radius=1e-3, directions="sweep")
    estimate = estimator.estimate(objective, np.array([[0.0, 1.0]]), Oracle(problem, streams), streams)
    np.testing.assert_allclose(estimate.gradient, [[0.0, 3.0]], rtol=1e-9)


@pytest.mark.parametrize("cls", [ZOSPLM, ZOALM, ZOGDA, SZOConEX])
def test_the_rule_takes_coordinates_where_nothing_is_told(cls: type[Solver]) -> None:
    taken = {}
    cases = {"few": box(4), "many": box(60), "noisy": box(4, noise="independent"), "told": NonconvexQCQP(n=4)}
    for name, problem in cases.items():
        run = Run(problem=problem, solver=cls(), replicas=1, iterations=2)
        run.run()
        taken[name] = run.resolved["estimator.directions"]
    assert taken == {"few": "sweep", "many": "block", "noisy": "random", "told": "random"}
    run = Run(problem=box(4), solver=cls(primal_step=0.01), replicas=1, iterations=2)
    run.run()
    assert "estimator.directions" not in run.resolved
