"""PESC-lite's moment matching against samples, and what it learns from a solution."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.solvers.bayesian.pesc_lite import Law, conditioned, no_better, truncated

SAMPLES = 200_000


@pytest.mark.parametrize("bound", [-1.0, 0.4, 3.0])
def test_truncation_matches_samples(bound: float) -> None:
    draws = 0.3 + 1.2 * np.random.default_rng(0).standard_normal(SAMPLES)
    kept = draws[draws <= bound]
    mean, variance = truncated(np.array(0.3), np.array(1.44), np.array(bound))
    assert mean == pytest.approx(kept.mean(), abs=0.01) and variance == pytest.approx(kept.var(), rel=0.02)


@pytest.mark.parametrize("f, h", [(0.2, [-0.3, 0.1]), (-0.8, [-1.0, -0.7]), (1.5, [-0.5, -2.0])])
def test_the_fact_that_no_point_is_better_matches_samples(f: float, h: list[float]) -> None:
    rng = np.random.default_rng(1)
    joint = np.array([[1.0, 0.4], [0.4, 0.5]])
    pair = np.array([f, -0.1]) + rng.standard_normal((SAMPLES, 2)) @ np.linalg.cholesky(joint).T
    spread = np.array([0.8, 0.3])
    constraints = np.array(h) + np.sqrt(spread) * rng.standard_normal((SAMPLES, 2))
    kept = ~((constraints <= 0).all(axis=1) & (pair[:, 0] < pair[:, 1]))
    one = np.ones(1)
    law = Law(f * one, one, -0.1, 0.5, 0.4 * one, np.array(h)[:, None], spread[:, None])
    of_f, of_h = no_better(law)
    assert 0.3 < kept.mean() < 0.999
    assert of_f[0] == pytest.approx(pair[kept, 0].var(), rel=0.02)
    np.testing.assert_allclose(of_h[:, 0], constraints[kept].var(axis=0), rtol=0.02)


def test_to_know_the_solution_never_adds_variance_where_it_is() -> None:
    x = np.linspace(0.0, 1.0, 5)
    covariance: Array = np.exp(-8.0 * np.square(x[:, None] - x))[None].repeat(2, axis=0)
    mean, variance = np.array([[0.1, -0.2, 0.3, 0.5, 0.0], [0.5, -0.5, -0.2, 0.1, 0.3]]), np.ones((2, 5))
    after = conditioned(mean, variance, covariance, 1, np.array([0.0, 0.0]))
    assert (after[:, 1] < 0.75).all(), "f and h at the solution are bounded"
    assert (after > 0.0).all() and after[0, 4] > after[0, 1]
