"""Curvatures that values tell, and the steps that follow from them, on a network."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.streams import Streams
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems import LossTuning, QuadraticBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.solvers import SOGD, ZOGD, ZOSOGD, Solver, ZOConservSGD, ZORecursiveGD
from zoviz.solvers.bilevel.measured_curvatures import measured_bilevel_constants


@cache
def network() -> LossTuning:
    """The default network, made once."""
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
    """By estimates of relative variance v a step of 2 / [L_g (1 + v)] diverges; 0.01, which is longer, did."""
    solver = cls()
    run = Run(network(), solver, replicas=1, iterations=1, seed=1)
    run.run()
    inflation = 1.0 + solver.relative_variance(OnlineBilevel.of(network()).inner_domain.n)
    assert 0.1 < 10.0 * run.resolved["inner_step"] * inflation < 2.0, "L_g is about 10"


def test_the_leader_is_not_frozen_where_the_follower_is_not_convex() -> None:
    run = Run(network(), SOGD(), replicas=1, iterations=1, seed=1)
    run.run()
    assert run.resolved["outer_step"] > 1e-5, "it was 2e-9"
