"""What problems tell of their data: the domain, constants and the optimum; and where they start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param
import pytest

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Optimum
from zoviz.problems import ConexQCQP, DistributedConsensus, NetworkSlicing, NonconvexQCQP
from zoviz.problems.base import Problem


class _Instance(NamedTuple):
    domain: Box
    optimum: Optimum


class _Corner(Problem):
    """Its instance knows an optimum and no constants."""

    start_radius = param.Number(default=3.0)
    m = 0

    def build(self) -> _Instance:
        self.built = getattr(self, "built", 0) + 1
        return _Instance(Box(np.array([-1.0, 0.0]), np.array([1.0, 2.0])), Optimum(0.0, np.zeros(2), np.zeros(0), ""))


def test_what_the_instance_has_is_told_and_built_once() -> None:
    problem = _Corner()
    assert problem.constants is None and problem.known_optimum.value == 0.0 and problem.domain.n == 2
    x = problem.initial(Streams(5, 1000))
    u = 6.0 * Streams(5, 1000).uniform("x0", 2) - 3.0
    expected = np.stack([u[:, 0].clip(-1.0, 1.0), u[:, 1].clip(0.0, 2.0)], axis=1)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-14)
    assert problem.built == 1
    problem.start_radius = 0.5
    assert np.abs(problem.initial(Streams(5, 1000))).max() <= 0.5 and problem.built == 2


def test_a_domain_that_is_set_goes_before_that_of_the_data() -> None:
    problem = _Corner()
    problem.domain = Box(np.zeros(1), np.ones(1))
    assert problem.domain.n == 1 and not hasattr(problem, "built")


def test_a_problem_without_domain_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Problem must have a domain, or build\\(\\) data that have one"):
        _ = Problem().domain
    assert Problem().known_optimum is None and Problem().constants is None


@pytest.mark.parametrize("problem", [NonconvexQCQP(n=6), ConexQCQP(n=6), DistributedConsensus()])
def test_starts_fill_the_cube_around_the_origin(problem: Problem) -> None:
    x = problem.initial(Streams(1, 4000))
    assert np.abs(x).max() <= problem.start_radius
    # Uniform: mean 0 and mean square r^2 / 3, each within 5 standard errors.
    assert (np.abs(x.mean(axis=0)) < 5.0 * problem.start_radius / np.sqrt(3 * 4000)).all()
    square = np.square(x / problem.start_radius).mean(axis=0)
    assert (np.abs(square - 1.0 / 3.0) < 5.0 * np.sqrt(4.0 / 45.0 / 4000)).all()


def test_network_slicing_starts_on_one_side() -> None:
    problem = NetworkSlicing(start_radius=0.25)
    x = problem.initial(Streams(1, 50))
    assert x.min() >= 0.0 and x.max() <= 0.25 and problem.known_optimum is None


@pytest.mark.parametrize(("problem", "weak"), [(NonconvexQCQP(n=6), 0.1), (ConexQCQP(n=6, convex=False), None)])
def test_an_instance_of_quadratics_holds_both_functions(problem: Problem, weak: float | None) -> None:
    data, x = problem.data, problem.initial(Streams(2, 3))
    for j, value in enumerate((problem.evaluate(x).f, problem.evaluate(x).h[:, 0])):
        q, d, e = data.matrices[:, j * 6 : j * 6 + 6], data.vectors[j], data.offsets[j]
        np.testing.assert_allclose(value, [0.5 * one @ q @ one + d @ one + e for one in x], rtol=1e-12)
    lowest = -np.linalg.eigvalsh(data.matrices[:, :6])[0]
    assert problem.constants.weak_convexity == (weak if weak is not None else pytest.approx(2 * 0.1, rel=1e-9))
    assert lowest == pytest.approx(problem.constants.weak_convexity, rel=1e-9)
