"""Curvatures that values tell, and the steps that follow from them, on a network."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.streams import Streams
from zoviz.estimators import CentralSphere, GradientEstimator, Sphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems import LossTuning, QuadraticBilevel
from zoviz.problems.bilevel import BilevelConstants, OnlineBilevel
from zoviz.solvers import OAGD, SOBBO, SOBOW, SOGD, ZOGD, ZOSOGD, Solver, ZOConservSGD, ZORecursiveGD
from zoviz.solvers.bilevel.base import felt_variance
from zoviz.solvers.bilevel.measured_curvatures import measured_bilevel_constants


@cache
def network() -> LossTuning:
    """The default network, made once; it needs PyTorch."""
    pytest.importorskip("torch", reason='python -m pip install "zoviz[torch]"')
    return LossTuning()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_values_tell_a_networks_largest_curvature_within_a_factor_of_3(seed: int) -> None:
    problem, streams = network(), Streams(seed, 1)
    oracle = Oracle(problem, streams)
    x, rounds = problem.initial(streams), BilevelOracle(oracle)
    oracle.resample((1, 1))
    measured = measured_bilevel_constants(rounds, oracle, x, streams, first_order=False)
    y = rounds.initial(Streams(seed, 1))
    v = Streams(seed, 1).normal("power", y.shape[1])
    size = np.ones(1)
    for _ in range(30):
        image = rounds.hessian_vector(x, y, v)
        size = np.linalg.norm(image, axis=1)
        v = image / size[:, None]
    assert size[0] / 3.0 < measured.inner_curvature < 3.0 * size[0]


@pytest.mark.parametrize("conditioning", [4.0, 100.0])
def test_of_a_quadratic_it_is_the_largest_eigenvalue_within_a_factor_of_3(conditioning: float) -> None:
    problem, streams = QuadraticBilevel(n=30, d=30, conditioning=conditioning), Streams(1, 2)
    oracle = Oracle(problem, streams)
    x = problem.initial(streams)
    oracle.resample((1, 1))
    measured = measured_bilevel_constants(BilevelOracle(oracle), oracle, x, streams, first_order=False)
    known = OnlineBilevel.of(problem).bilevel_constants
    assert known is not None
    assert known.inner_curvature / 3.0 < measured.inner_curvature < 3.0 * known.inner_curvature


@pytest.mark.parametrize("cls", [ZOGD, ZORecursiveGD, ZOConservSGD, ZOSOGD])
def test_a_step_by_values_is_one_that_the_network_bears(cls: type[Solver]) -> None:
    """By estimates of relative variance v a step of 2 / [L_g (1 + v (r + 1) / d)] diverges; r is 10 or so."""
    solver = cls()
    run = Run(network(), solver, replicas=1, iterations=1, seed=1)
    run.run()
    d = OnlineBilevel.of(network()).inner_domain.n
    inflation = 1.0 + 10.0 * solver.relative_variance(d) / d
    assert 0.03 < 10.0 * run.resolved["inner_step"] * inflation < 0.25, "L_g is about 10, and 0.02 was too long"


@pytest.mark.parametrize(
    "estimator", [Sphere(smoothing_radius=1e-4, batch_size=4), CentralSphere(smoothing_radius=1e-4, batch_size=4)]
)
def test_only_curved_directions_feel_an_estimates_variance(estimator: GradientEstimator) -> None:
    """Of rank 3 in 60 variables: the mean of g'Hg over estimates g."""
    d, rank, replicas, curvature = 60, 3, 4000, 2.0
    h = np.zeros(d)
    h[:rank] = curvature
    y = np.tile(np.arange(1.0, d + 1.0), (replicas, 1)) / d

    rounds = BilevelOracle(Oracle(QuadraticBilevel(), Streams(0, replicas)))
    oracle = rounds.view(lambda z: 0.5 * np.square(z) @ h)
    slope = estimator.estimate(objective, y, oracle, Streams(3, replicas)).gradient
    g = h * y[0]
    bends, square = np.square(slope) @ h, np.square(g).sum()
    constants = BilevelConstants(curvature, curvature, 1.0, 1.0, float(rank))
    variance = float(estimator.predicted_variance(np.ones(1), d, 0.0, 1.0)[0])
    bound = curvature * square * (1.0 + felt_variance(variance, d, constants))
    assert 0.9 * bound < bends.mean() < 1.05 * bound
    unaware = curvature * square * (1.0 + felt_variance(variance, d, replace(constants, inner_rank=None)))
    assert bends.mean() < 0.3 * unaware, "without the rank steps are three times shorter than need be"


def test_the_effective_rank_of_a_network_is_small_and_that_of_a_ball_is_all() -> None:
    """A network's is some ten of a thousand; what is taken is 30 times what is measured, but never above d."""
    for problem, least, most in (
        (network(), 10.0, 500.0),
        (QuadraticBilevel(n=30, d=30, conditioning=1.0), 29.0, 30.0),
    ):
        streams = Streams(1, 2)
        oracle = Oracle(problem, streams)
        x = problem.initial(streams)
        oracle.resample((1, 1))
        measured = measured_bilevel_constants(BilevelOracle(oracle), oracle, x, streams, first_order=False)
        assert measured.inner_rank is not None and least <= measured.inner_rank <= most


@pytest.mark.parametrize("cls", [SOBOW, pytest.param(SOBBO, marks=pytest.mark.slow)])
def test_a_system_without_convexity_stays_in_its_ball(cls: type[Solver]) -> None:
    """Without the ball, the published form, v grows in every round, and x jumps between the ends of its box."""
    lengths = {}
    for radius in (None, 1e9):
        rounds = 60 if cls is SOBOW else 150
        run = Run(network(), cls(system_radius=radius), replicas=1, iterations=rounds, seed=1)
        run.run()
        lengths[radius] = np.linalg.norm(run.solver.iterate(run.state).solved), run.resolved.get("system_radius", 1e9)
    assert lengths[None][0] <= 1.0001 * lengths[None][1] < 1e3
    assert lengths[1e9][0] > 1e4


def test_a_neumann_series_that_diverges_stays_in_its_ball() -> None:
    steps = {"inner_step": 0.1, "outer_step": 1e-9, "neumann_step": 10.0}
    lengths = {}
    for radius in (5.0, 1e9):
        run = Run(QuadraticBilevel(n=4, d=5), OAGD(**steps, system_radius=radius), replicas=2, iterations=3, seed=1)
        run.run()
        lengths[radius] = np.linalg.norm(run.solver.iterate(run.state).solved, axis=1)
    np.testing.assert_allclose(lengths[5.0], 5.0)
    assert (lengths[1e9] > 1e3).all()


def test_the_leader_is_not_frozen_where_the_follower_is_not_convex() -> None:
    run = Run(network(), SOGD(), replicas=1, iterations=1, seed=1)
    run.run()
    assert run.resolved["outer_step"] > 1e-5, "it was 2e-9"
