"""Estimates beside bounds that no call may leave: their means, their spread, and where nothing is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Block, CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.inside import narrowest
from zoviz.estimators.scalars import objective
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem

RADIUS, REPLICAS = 1e-3, 4000
SLOPE = np.array([1.0, 2.0, -1.5, 0.5])
N = SLOPE.size
PLACES = {
    "vertex": ([0.0, 0.0, -1.0, 0.0], [1.0, 1.0, 0.0, 1.0]),
    "edge": ([0.0, -1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 0.0]),
    "near": ([-3e-4, -1.0, -1.0, -1.0], [1.0, 2e-4, 1.0, 1.0]),
    "narrow": ([-2e-4, -1.0, 0.0, -1.0], [3e-4, 1.0, 4e-4, 1.0]),
    "fixed": ([0.0, 0.0, -1.0, -1.0], [0.0, 1.0, 1.0, 1.0]),
}
"""Boxes around the origin."""
RANDOM: dict[str, GradientEstimator] = {
    "Sphere, k = 1": Sphere(),
    "Sphere, k = 3": Sphere(batch_size=3),
    "Gaussian, k = 5": Gaussian(batch_size=5),
    "CentralSphere, k = 2": CentralSphere(batch_size=2),
}
SWEEPS: dict[str, GradientEstimator] = {
    "Coordinate, forward": Coordinate(differences="forward"),
    "Coordinate, central": Coordinate(differences="central"),
    "Block of all": Block(block_size=N),
    "Sphere, sweep": Sphere(directions="sweep"),
    "CentralSphere, sweep": CentralSphere(directions="sweep"),
}


class Linear(Problem):
    """f = g'x, and an error outside the box, which no call may leave unless ``keeps`` is False."""

    __abstract = True
    m = 0

    def __init__(self, box: Box, slope: Array = SLOPE, keeps: bool = True) -> None:
        super().__init__(noise="deterministic")
        self.domain, self.n, self._slope, self.keeps_bounds = box, box.n, slope, keeps

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        if self.keeps_bounds:
            assert ((x >= self.domain.lower) & (x <= self.domain.upper)).all()
        return Evaluation(x @ self._slope, np.empty((*x.shape[:-1], 0)))


def estimates(estimator: GradientEstimator, problem: Problem, x: Array, seed: int = 3) -> Any:
    oracle = Oracle(problem, Streams(0, len(x)))
    estimator.smoothing_radius = RADIUS
    return estimator.estimate(objective, x, oracle, Streams(seed, len(x)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", RANDOM)
def test_the_mean_of_random_directions_is_the_gradient_beside_bounds(name: str, place: str) -> None:
    box = Box(*PLACES[place])
    estimate = estimates(RANDOM[name].clone(), Linear(box), np.zeros((REPLICAS, N)))
    truth = np.where(box.variable, SLOPE, 0.0)
    error = estimate.gradient.std(axis=0) / np.sqrt(REPLICAS) + 1e-12
    assert (np.abs(estimate.gradient.mean(axis=0) - truth) < 4.5 * error).all()
    assert (error < 0.25).all() and estimate.cut.all()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SWEEPS)
def test_differences_along_coordinates_are_exact_beside_bounds(name: str, place: str) -> None:
    box = Box(*PLACES[place])
    estimate = estimates(SWEEPS[name].clone(), Linear(box), np.zeros((2, N)))
    np.testing.assert_allclose(estimate.gradient, [np.where(box.variable, SLOPE, 0.0)] * 2, rtol=1e-9)


@pytest.mark.parametrize("batch", [5, 20])
def test_a_vertex_costs_little_of_the_precision(batch: int) -> None:
    """All slopes of one sign: the mean of steps that are cut would else be in every sample, squared and n times."""
    slope, x = np.ones(10), np.zeros((1500, 10))
    spread = [
        np.var(estimates(Sphere(batch_size=batch), Linear(box, slope), x).gradient, axis=0).sum()
        for box in (Box(-x[0] - 1.0, x[0] + 1.0), Box(x[0], x[0] + 1.0))
    ]
    assert 1.0 < spread[1] / spread[0] < 1.7


@pytest.mark.parametrize("name", ["Sphere, k = 3", "Gaussian, k = 5"])
def test_the_measured_variance_is_right_where_steps_are_cut(name: str) -> None:
    estimator = RANDOM[name].clone()
    estimator.batch_size = 20
    estimate = estimates(estimator, Linear(Box(*PLACES["vertex"])), np.zeros((REPLICAS, N)))
    assert estimate.variance.mean() == pytest.approx(estimate.gradient.var(axis=0).sum(), rel=0.1)


@pytest.mark.parametrize("name", [*RANDOM, *SWEEPS])
def test_nothing_changes_where_no_step_is_cut(name: str) -> None:
    box, x = Box(np.full(N, -1.0), np.full(N, 1.0)), np.random.default_rng(0).uniform(-0.9, 0.9, (5, N))
    kept, free = (estimates((RANDOM | SWEEPS)[name].clone(), Linear(box, keeps=keeps), x) for keeps in (True, False))
    np.testing.assert_array_equal(kept.gradient, free.gradient)
    np.testing.assert_array_equal(kept.variance, free.variance)
    assert not kept.cut.any() and free.cut is None


@pytest.mark.parametrize("name", [*RANDOM, *SWEEPS])
def test_a_replica_at_a_bound_leaves_the_others_as_they_are(name: str) -> None:
    box, x = Box(np.zeros(N), np.ones(N)), np.full((3, N), 0.5)
    inside = estimates((RANDOM | SWEEPS)[name].clone(), Linear(box), x)
    x = np.array([x[0], np.zeros(N), x[2]])
    mixed = estimates((RANDOM | SWEEPS)[name].clone(), Linear(box), x)
    np.testing.assert_array_equal(mixed.gradient[[0, 2]], inside.gradient[[0, 2]])
    assert not mixed.cut[[0, 2]].any()


def test_the_pieces_of_a_batch_do_not_matter_where_steps_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    box, x = Box(*PLACES["vertex"]), np.zeros((3, N))
    whole = estimates(Sphere(batch_size=12), Linear(box), x)
    monkeypatch.setattr("zoviz.estimators.base.CHUNK_BYTES", 3 * 3 * N * 8)
    pieces = estimates(Sphere(batch_size=12), Linear(box), x)
    np.testing.assert_allclose(pieces.gradient, whole.gradient, rtol=1e-9)
    np.testing.assert_allclose(pieces.variance, whole.variance, rtol=1e-9)


@pytest.mark.parametrize(
    "box, width",
    [(Box([0.0, 1.0], [2.0, 1.0]), 2.0), (Box([1.0], [1.0]), np.inf), (Box([0, -np.inf], [1, 0]), 1.0)],
)
def test_the_narrowest_width_is_of_coordinates_that_move(box: Box, width: float) -> None:
    assert narrowest(box) == width
