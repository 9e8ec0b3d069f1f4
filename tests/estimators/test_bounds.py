"""Published bounds of gradient estimators, means beyond quadratics, bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.estimator_cases import (
    CASES,
    REPLICAS,
    SEED,
    TOGETHER,
    N,
    Quadratic,
    Z,
    assert_mean,
    block,
    central_sphere,
    coordinate,
    estimate,
    estimates,
    gaussian,
    gradient,
    sphere,
    square,
)
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Gaussian, GradientEstimator, Sphere
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem


def test_published_bounds_splm_5_is_broken_and_zoeg_8_holds() -> None:
    case, problem = sphere(4, 1e-3), Quadratic()
    estimate = estimates(case, problem)
    r = case.estimator.smoothing_radius
    curvature = np.array([np.abs(np.linalg.eigvalsh(problem.hessian)).max()])
    slope = np.sqrt(square(problem)) + curvature * r  # over the ball that is probed
    bounds = case.estimator.published_bounds(slope, curvature, N, r)
    assert set(bounds) == {"splm (5)", "zoeg (8)"}
    np.testing.assert_allclose(bounds["splm (5)"], N**2 * curvature**2 * r**2 / (4 * 4))
    np.testing.assert_allclose(
        bounds["zoeg (8)"], (9 * N**2 * slope**2 / (N + 2) + 0.75 * N**2 * curvature**2 * r**2) / 4
    )
    measured = np.square(estimate.gradient - gradient(problem)).sum(axis=1)
    low, high = (measured.mean() + s * Z * measured.std() / np.sqrt(REPLICAS) for s in (-1, 1))
    assert low > 1000.0 * bounds["splm (5)"]
    assert high < bounds["zoeg (8)"]


@pytest.mark.parametrize("r", [0.05, 0.5, 2.0])
def test_zoeg_8_bounds_the_second_moment_at_every_radius(r: float) -> None:
    case, problem = sphere(1, r), Quadratic()
    estimate = estimates(case, problem)
    curvature = np.array([np.abs(np.linalg.eigvalsh(problem.hessian)).max()])
    bound = case.estimator.published_bounds(np.sqrt([square(problem)]) + curvature * r, curvature, N, r)["zoeg (8)"]
    moment = np.square(estimate.gradient).sum(axis=1)
    assert moment.mean() + Z * moment.std() / np.sqrt(REPLICAS) < bound


def test_no_paper_bounds_the_other_families() -> None:
    for case in (central_sphere(2, 0.1), gaussian(2, 0.1), coordinate(1, 0.1, False), block(1, 2, 0.1, False, True)):
        assert case.estimator.published_bounds(np.ones(1), np.ones(1), N, 0.1) == {}


class Sine(Problem):
    """sin(<a, x>): its average over a Gaussian or a ball is known, so the bias of a finite radius is."""

    __abstract = True

    m = 0

    def __init__(self) -> None:
        super().__init__()
        self.a = np.array([0.9, -0.4, 0.3, 0.6, -0.5])
        self.domain = Box.free(N)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        return Evaluation(np.sin(x @ self.a), np.empty((*x.shape[:-1], 0)))


def value_f(value: Evaluation) -> Array:
    return value.f


@pytest.mark.parametrize("kind", ["gaussian", "sphere"])
def test_mean_of_a_cubic_and_more_is_the_smoothed_gradient(kind: str) -> None:
    problem, r, k = Sine(), 1.2, 4
    x = np.array([0.2, 0.1, -0.3, 0.5, 0.4])
    est: GradientEstimator = Gaussian(batch_size=k, smoothing_radius=r / np.sqrt(N))
    size = np.linalg.norm(problem.a)
    if kind == "sphere":
        est = Sphere(batch_size=k, smoothing_radius=r)
        # Mean of cos(t r |a|) over a ball, t the first coordinate: density (1 - t^2)^((n - 1)/2).
        t = np.linspace(-1.0, 1.0, 20_001)
        density = (1.0 - t * t) ** ((N - 1) / 2)
        damping = float((np.cos(t * r * size) * density).sum() / density.sum())
    else:
        damping = float(np.exp(-0.5 * (r * size) ** 2 / N))
    expected = np.cos(x @ problem.a) * problem.a * damping
    streams = Streams(SEED, TOGETHER)
    oracle, points = Oracle(problem, streams), np.repeat(x[None], TOGETHER, axis=0)
    estimate = [est.estimate(value_f, points, oracle, streams).gradient for _ in range(REPLICAS // TOGETHER)]
    along = np.concatenate(estimate) @ problem.a / size
    assert_mean(along, float(expected @ problem.a) / size, 1.0)
    plain = np.cos(x @ problem.a) * size
    assert abs(along.mean() - plain) > 20 * along.std() / np.sqrt(along.size), "the bias must be seen at this radius"


def test_gaussian_with_nu_r_over_root_n_agrees_with_the_sphere_in_mean() -> None:
    problem, r = Quadratic(), 0.4
    on_sphere = estimates(sphere(4, r), problem, 1)
    normal = estimates(gaussian(4, r / np.sqrt(N)), problem, 2)
    difference = on_sphere.gradient - normal.gradient
    error = difference.std(axis=0, ddof=1) / np.sqrt(REPLICAS)
    assert (np.abs(difference.mean(axis=0)) <= Z * error).all()
    # Same mean square step: nu^2 E|u|^2 = r^2; the paper's form (n/r)[phi(x + r D) - phi(x)] D has D ~ N(0, I/n).
    draws = Streams(2, 7).normal("directions", 4, N)
    few, _ = estimate(gaussian(4, r / np.sqrt(N)), problem, 7, 2)
    scaled = draws / np.sqrt(N)
    ahead = problem.phi(problem.evaluate(problem.point + r * scaled)) - problem.phi(problem.evaluate(problem.point))
    np.testing.assert_allclose(few.gradient, (N / r * ahead[..., None] * scaled).mean(axis=1), rtol=1e-10)


def test_bias_of_a_forward_sweep_is_within_its_bound() -> None:
    problem, r = Quadratic(), 0.5
    result, _ = estimate(coordinate(1, r, False), problem, 1)
    curvature = np.abs(np.linalg.eigvalsh(problem.hessian)).max()
    assert np.linalg.norm(result.gradient[0] - gradient(problem)) <= 0.5 * curvature * r * np.sqrt(N)


def test_inputs_are_left_alone() -> None:
    problem = Quadratic()
    for case in CASES:
        streams = Streams(0, 3)
        oracle = Oracle(problem, streams)
        x = np.repeat(problem.point[None], 3, axis=0)
        base = oracle(x)
        copies = x.copy(), base.f.copy(), base.h.copy()
        case.estimator.estimate(problem.phi, x, oracle, streams, base=base)
        for before, after in zip(copies, (x, *base), strict=True):
            np.testing.assert_array_equal(before, after)
