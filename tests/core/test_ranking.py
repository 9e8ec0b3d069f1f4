"""Points are compared by one rule: feasible within the tolerance, then the objective; else the violation."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.ranking import best_of, first, first_by_means, is_feasible, ranks
from zoviz.core.types import Array, Evaluation


def best_by_hand(f: Array, h: Array, tolerance: float) -> int:
    best, key = 0, (np.inf, np.inf)
    for i in range(len(f)):
        worst = max([0.0, *h[i]])
        if np.isfinite(f[i]) and np.isfinite(h[i]).all():
            mine = (0.0 if worst <= tolerance else worst, f[i])
            best, key = (i, mine) if mine < key else (best, key)
    return best


@pytest.mark.parametrize("m", [0, 1, 3])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_first_is_that_of_a_search_one_by_one(m: int, share: float) -> None:
    """With all points infeasible, some feasible, and all."""
    rng = np.random.default_rng(m)
    f = rng.integers(0, 4, (40, 12)).astype(float)  # with ties
    h = rng.integers(1, 4, (40, 12, m)) * np.where(rng.random((40, 12, 1)) < share, -1.0, 1.0)
    f[rng.random(f.shape) < 0.1] = np.nan
    h[rng.random(h.shape) < 0.05] = np.nan
    index = first(*ranks(Evaluation(f, h), 1e-6))
    np.testing.assert_array_equal(index, [best_by_hand(f[r], h[r], 1e-6) for r in range(40)])


def test_the_tolerance_is_for_each_constraint() -> None:
    h = np.array([[0.5, 0.0], [0.0, 0.5]])
    np.testing.assert_array_equal(is_feasible(h, 0.5), [True, True])
    np.testing.assert_array_equal(is_feasible(h, np.array([0.5, 0.1])), [True, False])
    violation, f = ranks(Evaluation(np.array([2.0, 1.0]), h), np.array([0.5, 0.1]))
    np.testing.assert_array_equal(violation, [0.0, 0.5])
    assert first(violation, f) == 0


def test_what_is_not_eligible_never_comes_first() -> None:
    value = Evaluation(np.array([0.0, 1.0, 2.0]), np.array([[-1.0], [5.0], [4.0]]))
    violation, f = ranks(value, 0.0, np.array([False, True, True]))
    np.testing.assert_array_equal(violation, [np.inf, 5.0, 4.0])
    np.testing.assert_array_equal(f, [np.inf, 1.0, 2.0])
    assert first(violation, f) == 2


@pytest.mark.parametrize(
    "f, h, best", [(0.5, -1.0, 1), (1.0, -1.0, 0), (2.0, -1.0, 0), (-9.0, 0.1, 0), (np.inf, 0.0, 0)]
)
def test_a_point_gives_way_to_a_better_one_alone(f: float, h: float, best: int) -> None:
    x, value = np.zeros(2), np.array([1.0, 0.0])
    points, values = np.ones((2, 2)), np.array([[f, h], [np.nan, np.nan]])
    point, own_value = best_of(x, value, points, values, 1e-6)
    assert point[0] == best and own_value[0] == (value, values[0])[best][0]
    points[:] = values[:] = 7.0
    assert point[0] == best, "the caller's array is its own"


def test_before_a_finite_value_any_is_better() -> None:
    point, _ = best_of(np.zeros(1), np.full(2, np.inf), np.ones((1, 1)), np.array([[3.0, 5.0]]), 1e-6)
    assert point[0] == 1.0


def test_by_means_a_point_counts_as_feasible_within_two_standard_errors() -> None:
    """Of two places, the first has the larger f; the second's h is outside by one to three standard errors."""
    calls = np.array([-1.0, 1.0, -1.0, 1.0])
    error = np.sqrt(4.0 / 3.0 / 4.0)
    f = np.stack([np.full(4, 2.0), np.full(4, 1.0)])
    for errors, index in ((1.0, 1), (1.99, 1), (2.01, 0), (3.0, 0)):
        h = np.stack([np.full(4, -1.0), calls + errors * error])[..., None]
        best, means, margins = first_by_means(Evaluation(f, h), 0.0)
        assert best == index, errors
        np.testing.assert_allclose(means.h[:, 0], [-1.0, errors * error])
        np.testing.assert_allclose(margins[:, 0], [0.0, 2.0 * error])


def test_calls_that_fail_count_in_no_mean_and_a_point_of_such_alone_is_not_the_best() -> None:
    f = np.array([[np.nan, np.inf, np.nan], [5.0, np.nan, 7.0]])
    best, means, _ = first_by_means(Evaluation(f, np.zeros((2, 3, 0))), 0.0)
    assert best == 1 and np.isnan(means.f[0]) and means.f[1] == 6.0
    assert first_by_means(Evaluation(f[:1], np.zeros((1, 3, 0))), 0.0)[0] == 0
