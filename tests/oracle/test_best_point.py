"""The oracle remembers the best feasible point."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.quadratic_bowl import Bowl, made
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem


def brute_force(problem: Problem, queries: list[Array], replica: int, tolerance: float) -> tuple[float, Array]:
    best, where = np.inf, np.full(3, np.nan)
    for x in queries:
        for point in x[replica].reshape(-1, 3):
            f, h = problem.evaluate(point)
            if f < best and (h <= tolerance).all() and np.abs(point).max() <= 1.0 + 1e-9:
                best, where = float(f), point
    return best, where


def assert_best(oracle: Oracle, queries: list[Array], tolerance: float) -> None:
    for replica in range(6):
        best, where = brute_force(Bowl(), queries, replica, tolerance)
        assert oracle.best.f[replica] == pytest.approx(best, rel=1e-12)
        np.testing.assert_array_equal(oracle.best.x[replica], where)


@pytest.mark.parametrize("noise", ["deterministic", "common", "independent"])
@pytest.mark.parametrize("tolerance", [1e-6, 0.3])
def test_the_best_feasible_point_is_that_of_a_search_over_all_queries(noise: str, tolerance: float) -> None:
    rng = np.random.default_rng(4)
    oracle = made(Bowl(noise=noise, noise_scale=3.0), 6, feasibility_tolerance=tolerance)
    queries = [rng.uniform(-1.6, 1.6, (6, 3) if i % 3 == 0 else (6, 4, 3)) for i in range(40)]
    for i, x in enumerate(queries):
        oracle(x)
        if i in (0, 1, 7):
            assert_best(oracle, queries[: i + 1], tolerance)
    assert_best(oracle, queries, tolerance)


def test_points_outside_the_domain_or_infeasible_never_count_as_best() -> None:
    oracle = made(Bowl(), 3)
    x = np.array([[0.3, 0.0, 1.5], [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])
    oracle(x)
    assert oracle.best.f.tolist() == [np.inf, 0.3**2, np.inf]
    assert np.isnan(oracle.best.x[[0, 2]]).all()
    oracle(x[:, None])
    assert oracle.best.f.tolist() == [np.inf, 0.3**2, np.inf]
    oracle(np.array([[0.4, 0.0, 1.0 + 1e-10]] * 3))
    assert np.isfinite(oracle.best.f).all(), "the tolerance covers round-off"


def test_what_is_remembered_is_a_copy() -> None:
    oracle = made(Bowl(), 1)
    x = np.array([[0.3, 0.0, 0.0]])
    oracle(x)
    x[:] = 9.0
    assert oracle.best.x.tolist() == [[0.3, 0.0, 0.0]]
