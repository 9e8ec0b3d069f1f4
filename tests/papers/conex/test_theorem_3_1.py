"""Theorem 3.1 of paper conex, small: the error is 0 at the optimum only, and falls."""

from __future__ import annotations

import numpy as np

from zoviz.papers.conex.theorem_3_1 import error_after, errors_of
from zoviz.problems import ConexQCQP


def test_the_error_is_zero_at_the_optimum_and_positive_elsewhere() -> None:
    problem = ConexQCQP(n=5, seed=1)
    optimum = problem.known_optimum
    assert abs(errors_of(problem, optimum.point[None])[0]) < 1e-6
    points = optimum.point + np.random.default_rng(0).normal(0.0, 0.3, (200, 5))
    assert (errors_of(problem, points) > 0.0).all()


def test_the_average_comes_nearer_with_more_iterations() -> None:
    problem = ConexQCQP(n=5, seed=1)
    few, many = (error_after(problem, iterations, 0.3) for iterations in (50, 500))
    assert many < 0.5 * few < 1.0
