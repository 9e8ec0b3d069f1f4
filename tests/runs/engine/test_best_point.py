"""The best point: over any number of batches that of all their points, bounds kept."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.ranking import first, ranks
from zoviz.core.sets import Box
from zoviz.core.types import Evaluation
from zoviz.runs.engine.best_point import BestPoint


@pytest.mark.parametrize("lowest", [0.6, -1.0])
def test_batches_make_no_difference(lowest: float) -> None:
    """With and without a feasible point."""
    rng = np.random.default_rng(3)
    x, f, h = rng.random((30, 2)), rng.integers(0, 3, 30).astype(float), rng.random((30, 2)) - lowest
    f[rng.random(30) < 0.2] = np.nan
    best = BestPoint(1e-6, Box([0.0] * 2, [1.0] * 2))
    for rows in np.split(np.arange(30), [0, 1, 4, 17]):
        best.enter(x[rows], Evaluation(f[rows], h[rows]))
    i = first(*ranks(Evaluation(f, h), 1e-6))
    assert best.points == 30 and best.feasible == (lowest > 0)
    np.testing.assert_array_equal(best.x, x[i])
    np.testing.assert_array_equal(best.h, h[i])
    assert (best.f, best.violation) == (f[i], max(0.0, h[i].max()))


def test_points_without_values_are_none() -> None:
    best = BestPoint(1e-6, Box([0.0], [1.0]))
    best.enter(np.zeros((2, 1)), Evaluation(np.array([np.nan, 0.0]), np.array([[0.0], [np.inf]])))
    assert best.points == 2 and best.x.size == 0 and not best.feasible and best.violation == np.inf


def test_only_points_in_the_bounds_are_entered() -> None:
    best = BestPoint(1e-6, Box([0.0], [1.0]))
    best.enter(np.array([[-1e-12], [0.25], [0.75]]), Evaluation(np.array([-1.0, 0.25, 0.75]), np.empty((3, 0))))
    assert best.f == 0.25 and best.points == 2


def test_the_row_that_is_named_is_one_that_violates() -> None:
    """Units are powers of 2 near the rows' sizes, so that tolerances in them differ by up to a factor of 2."""
    best = BestPoint(None, Box([0.0], [1.0]))
    best.size(np.array([1.6e-6, 1.4e-6, 0.0]))
    assert best.words(np.array([-1e-13, 5e-7, -1.0])) == "by 5e-07 (row 2, where 1.4e-06 is allowed)"
    assert best.words(np.array([9e-7, 2e-7, -1.0])) == "by 9e-07 (row 1, where 1.6e-06 is allowed)"
    assert best.words(np.array([1e-6, -1.0, 1e-9])) == "by 1e-09 (row 3, where 0 is allowed)"
