"""One value along each direction: means, variances and calls against closed forms, and a loop written out.

For phi(x) = 1/2 x'Hx + c'x + d, with g its gradient and s^2 the variance of one independent value, one sample has the
mean g and the variance

- one point: (n - 1)|g|^2 + n^2 (phi^2 + s^2) / r^2 + n phi tr(H) + r^2/4 n/(n + 2) (tr(H)^2 + 2 tr(H^2))
- residual feedback, k > 2: (2n - 1)|g|^2 + 2 n^2 s^2 / r^2 + r^2/2 (n/(n + 2) (tr(H)^2 + 2 tr(H^2)) - tr(H)^2)

and samples of residual feedback are uncorrelated, but for k = 2, where both have one difference.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from helpers.estimator_cases import (
    NOISES,
    Case,
    N,
    Quadratic,
    assert_mean,
    estimate,
    estimates,
    gradient,
    spread,
    square,
)
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import GradientEstimator, OnePoint, ResidualFeedback, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import VARIANCE, VARIANCE_PREDICTED
from zoviz.runs.run import Run
from zoviz.solvers import ZOSPLM

R = 0.5


def value(p: Quadratic) -> float:
    return float(p.phi(p.evaluate(p.point)))


def one_point(p: Quadratic, k: int) -> float:
    noise = p.phi_noise + value(p) ** 2
    bent = N * value(p) * np.trace(p.hessian) + R**2 / 4 * N / (N + 2) * spread(p)
    return float((N - 1) * square(p) + N**2 * noise / R**2 + bent) / k


def residual(p: Quadratic, k: int) -> float:
    bent = R**2 / 2 * (N / (N + 2) * spread(p) - np.trace(p.hessian) ** 2)
    return float((2 * N - 1) * square(p) + 2 * N**2 * p.phi_noise / R**2 + bent) / k


Formula = Callable[[Quadratic, int], float]
EACH = pytest.mark.parametrize(
    ("estimator", "variance"),
    [
        pytest.param(cls(batch_size=k), formula, id=f"{cls.__name__}-{k}")
        for cls, formula, sizes in ((OnePoint, one_point, (1, 4)), (ResidualFeedback, residual, (3, 6)))
        for k in sizes
    ],
)


def case(estimator: GradientEstimator) -> Case:
    """An estimator with the radius of this file."""
    estimator = estimator.clone()
    estimator.smoothing_radius = R
    return Case("", estimator, gradient, lambda p: 0.0, lambda p: 0.0)


@EACH
@pytest.mark.parametrize("noise", ["deterministic", "normal"])
def test_mean_and_variance_are_the_closed_forms(estimator: GradientEstimator, variance: Formula, noise: str) -> None:
    problem = Quadratic(**NOISES[noise])
    result, wanted = estimates(case(estimator), problem, 11), variance(problem, estimator.batch_size)
    scale = square(problem)
    for i in range(N):
        assert_mean(result.gradient[:, i], gradient(problem)[i], np.sqrt(scale))
    assert_mean(np.square(result.gradient - gradient(problem)).sum(axis=1), wanted, scale)
    if estimator.batch_size > 1:
        assert_mean(result.variance, wanted, scale)
    else:
        assert np.isnan(result.variance).all()


@pytest.mark.parametrize("k", [1, 2])
def test_one_and_two_directions_of_residual_feedback(k: int) -> None:
    problem = Quadratic(**NOISES["normal"])
    problem.hessians[:] = 0.0
    problem.hessian = np.zeros((N, N))
    estimator = ResidualFeedback(batch_size=k, smoothing_radius=R)
    result = estimates(case(estimator), problem, 12)
    wanted = estimator.predicted_variance(np.array([square(problem)]), N, problem.phi_noise, R)[0]
    assert_mean(np.square(result.gradient - gradient(problem)).sum(axis=1), float(wanted), square(problem))
    assert np.isnan(result.variance).all()


@EACH
def test_predictions_are_the_limits_for_small_radii(estimator: GradientEstimator, variance: Formula) -> None:
    problem = Quadratic(**NOISES["normal"])
    problem.hessian = np.zeros((N, N))
    k, noise = estimator.batch_size, problem.phi_noise + (value(problem) ** 2 if estimator.takes_values else 0.0)
    predicted = estimator.predicted_variance(np.array([square(problem)]), N, noise, R)
    assert predicted == pytest.approx([variance(problem, k)])
    assert estimator.bias_bound(2.0, N, R) == Sphere().bias_bound(2.0, N, R)


@pytest.mark.parametrize(("estimator", "calls"), [(OnePoint(batch_size=3), 3), (ResidualFeedback(batch_size=3), 3)])
def test_it_is_the_loop_written_out_without_a_call_at_the_point(estimator: GradientEstimator, calls: int) -> None:
    problem = Quadratic()
    result, oracle = estimate(case(estimator), problem, 2)
    assert oracle.calls.tolist() == [calls, calls] == [estimator.calls(N)] * 2 and result.base is None
    u = Streams(7, 2).normal("directions", 3, N)
    for r in range(2):
        units = [one / np.linalg.norm(one) for one in u[r]]
        values = [float(problem.phi(problem.evaluate(problem.point + R * one))) for one in units]
        before = [0.0] * 3 if estimator.takes_values else [values[-1], *values[:-1]]
        total = sum((v - b) * one for v, b, one in zip(values, before, units, strict=True))
        np.testing.assert_allclose(result.gradient[r], N / (3 * R) * total, rtol=1e-12)


def test_a_single_direction_of_residual_feedback_is_a_forward_difference() -> None:
    assert ResidualFeedback().calls(N) == 2
    ours, theirs = (estimate(case(one), Quadratic(), 3)[0] for one in (ResidualFeedback(), Sphere(directions="random")))
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-12)


def test_noise_that_points_share_is_in_one_point_estimates_alone() -> None:
    quiet, common = Quadratic(), Quadratic(**NOISES["common"])
    for estimator, same in ((OnePoint(batch_size=3), False), (ResidualFeedback(batch_size=3), True)):
        pair = [estimate(case(estimator), problem, 3)[0].gradient for problem in (quiet, common)]
        assert np.allclose(*pair, rtol=1e-10) == same


class Guarded(Problem):
    """f = g'x + 0.5 in a box that no call leaves."""

    __abstract = True
    m, n, slope = 0, 3, np.array([1.0, -2.0, 0.5])

    def __init__(self) -> None:
        super().__init__(noise="deterministic")
        self.domain, self.keeps_bounds = Box([0.0, -1.0, -1e-4], [1.0, 0.0, 1.0]), True

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        inside = ((x >= self.domain.lower) & (x <= self.domain.upper)).all(axis=-1)
        return Evaluation(np.where(inside, x @ self.slope + 0.5, np.nan), np.empty((*x.shape[:-1], 0)))


@pytest.mark.parametrize("estimator", [OnePoint(batch_size=40), ResidualFeedback(batch_size=4)])
def test_beside_bounds_the_mean_is_the_gradient_and_no_call_is_outside(estimator: GradientEstimator) -> None:
    problem, replicas = Guarded(), 20_000
    oracle, x = Oracle(problem, Streams(0, replicas)), np.zeros((replicas, 3))
    result = estimator.estimate(lambda v: v.f, x, oracle, Streams(1, replicas), radius=0.3)
    error = result.gradient.std(axis=0) / np.sqrt(replicas)
    assert (np.abs(result.gradient.mean(axis=0) - problem.slope) < 4.5 * error).all() and (error < 0.05).all()
    assert result.cut is not None and result.cut.all() and np.isfinite(result.gradient).all()


def test_a_value_that_fails_leaves_the_others() -> None:
    class Failing(Quadratic):
        __abstract = True

        def evaluate(self, x: Array, xi: object = None) -> Evaluation:
            value = super().evaluate(x, xi)
            return value._replace(f=np.where(x[..., 0] > self.point[0] + 0.2, np.nan, value.f))

    for estimator in (OnePoint(batch_size=30), ResidualFeedback(batch_size=30)):
        result, _ = estimate(case(estimator), Failing(), 5)
        assert np.isfinite(result.gradient).all() and np.isfinite(result.variance).all()


@pytest.mark.parametrize("kind", [OnePoint, ResidualFeedback])
def test_a_run_takes_it_and_its_predicted_variance_is_the_measured_one(kind: type[GradientEstimator]) -> None:
    solver = ZOSPLM.published(estimator=kind(batch_size=400, smoothing_radius=0.05), primal_step=1e-5, dual_step=1e-5)
    run = Run(NonconvexQCQP(n=4), solver, replicas=4, iterations=60)
    run.run()
    measured, predicted = (run.trace[name][5:] for name in (VARIANCE, VARIANCE_PREDICTED))
    assert measured.mean() == pytest.approx(predicted.mean(), rel=0.1)
