"""Level lines of functions whose lines are known."""

from __future__ import annotations

import numpy as np

from zoviz.views.common.plane import largest_constraint, level_lines


def test_the_levels_of_a_bowl_are_circles_and_of_a_slope_straight() -> None:
    x, y = np.linspace(-2, 2, 81), np.linspace(-2, 2, 61)
    xs, ys = level_lines(x, y, x[None, :] ** 2 + y[:, None] ** 2, [1.0, 2.25, 99.0])
    assert len(xs) == len(ys) == 2, "one line for each level that there is"
    for a, b, radius in zip(xs, ys, (1.0, 1.5), strict=True):
        np.testing.assert_allclose(np.hypot(a, b), radius, atol=2e-3)
    xs, ys = level_lines(x, y, np.broadcast_to(y[:, None], (61, 81)), [0.5])
    np.testing.assert_allclose(ys[0], 0.5)
    assert (np.ptp(xs[0]), level_lines(x, y, np.full((61, 81), np.nan), [0.0])) == (4.0, ([], []))


def test_of_the_constraints_the_largest_by_its_own_spread() -> None:
    h = np.array([[[1e6, -0.5], [-1e6, 0.5]], [[-5e5, -1.0], [0.0, np.nan]]])
    largest = largest_constraint(h)
    np.testing.assert_array_equal(largest, [[1.0, 0.5], [-0.5, np.nan]])
    np.testing.assert_array_equal(largest_constraint(np.empty((2, 3, 0))), np.full((2, 3), -1.0))
