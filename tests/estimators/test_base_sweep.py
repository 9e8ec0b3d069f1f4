"""A sweep of the coordinates in place of random directions: the gradient itself."""

from __future__ import annotations

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


def box(n: int) -> BlackBox:
    def value(x: Array) -> Evaluation:
        return Evaluation(np.sin(x).sum(axis=-1) + x[..., 0] ** 2, x[..., :1] - 1.0)

    return BlackBox(value, bounds=[(-2.0, 2.0)] * n, x0=np.full(n, 0.5), m=1, joint=True, vectorised=True)


@pytest.mark.parametrize("cls", FAMILIES)
def test_a_sweep_equals_differences_along_the_coordinates(cls: type[DirectionalEstimator]) -> None:
    n, r = 5, 1e-3
    problem, streams = box(n), Streams(0, 2)
    oracle, x = Oracle(problem, streams), np.linspace(-1.0, 1.0, 2 * n).reshape(2, n)
    estimator = cls(smoothing_radius=r, batch_size=50, sweep=True)
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
    problem, streams = box(n), Streams(3, 4000)
    problem = BlackBox(
        problem.objective, bounds=[(-2.0, 2.0)] * n, x0=np.full(n, 0.5), m=1, joint=True, vectorised=True,
        noise="independent", noise_scale=sigma,
    )  # fmt: skip
    estimator = cls(smoothing_radius=r, batch_size=9, sweep=True)
    x = np.full((4000, n), 0.3)
    estimate = estimator.estimate(objective, x, Oracle(problem, streams), streams)
    spread = estimate.gradient.var(axis=0).sum()
    assert spread == pytest.approx(estimator.predicted_variance(np.ones(1), n, sigma**2, r)[0], rel=0.08)
    assert np.isnan(estimate.variance).all()


def test_a_slope_that_fails_leaves_the_others_as_they_are() -> None:
    def value(x: Array) -> Evaluation:
        return Evaluation(np.where(x[..., 0] > 0.0, np.nan, 3.0 * x[..., 1]), np.zeros((*x.shape[:-1], 0)))

    problem = BlackBox(value, bounds=[(-2.0, 2.0)] * 2, x0=[0.0, 1.0], m=0, joint=True, vectorised=True)
    streams = Streams(0, 1)
    estimator = Sphere(smoothing_radius=1e-3, sweep=True)
    estimate = estimator.estimate(objective, np.array([[0.0, 1.0]]), Oracle(problem, streams), streams)
    np.testing.assert_allclose(estimate.gradient, [[0.0, 3.0]], rtol=1e-9)


@pytest.mark.parametrize("cls", [ZOSPLM, ZOALM, ZOGDA, SZOConEX])
def test_the_rule_sweeps_where_it_pays_and_nothing_is_told(cls: type[Solver]) -> None:
    taken = {}
    cases = {"few": box(4), "many": box(60), "told": NonconvexQCQP(n=4)}
    for name, problem in cases.items():
        run = Run(problem=problem, solver=cls(), replicas=1, iterations=2)
        run.run()
        taken[name] = run.resolved["estimator.sweep"]
    assert taken == {"few": True, "many": False, "told": False}
    run = Run(problem=box(4), solver=cls(primal_step=0.01), replicas=1, iterations=2)
    run.run()
    assert "estimator.sweep" not in run.resolved
