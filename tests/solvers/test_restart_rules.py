"""Where methods begin anew, and for how long."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.solvers.restart_rules import in_box, longest_run, moved, unit_lengths


@pytest.mark.parametrize("n, calls", [(1, 3000), (9, 3000), (10, 3300), (100, 30300)])
def test_a_run_has_300_sweeps_and_3000_calls_at_least(n: int, calls: int) -> None:
    assert longest_run(n) == calls


def test_units_follow_from_the_box_and_the_start() -> None:
    lower, upper = np.array([-1.0, -np.inf, 0.0, -1e308, 2.0]), np.array([3.0, np.inf, 1e6, 1e308, 2.0])
    units = unit_lengths(lower, upper, np.array([0.5, -40.0, 7.0, 3.0, 2.0]))
    np.testing.assert_array_equal(units, [1.0, 40.0, 7.0, 3.0, 5e-13])


def test_only_narrow_intervals_are_sampled() -> None:
    lower, upper = np.array([-2.0, 0.0, -np.inf]), np.array([2.0, 5000.0, 1.0])
    point = in_box(lower, upper, np.ones(3), np.array([0.25, 0.5, 0.5]), np.array([9.0, 8.0, 7.0]))
    np.testing.assert_array_equal(point, [-1.0, 8.0, 7.0])


def test_a_step_towards_an_only_bound_divides_the_distance_to_it() -> None:
    """A start at 1 with the bound 0 reaches 0.01 by the step whose opposite reaches 100; it was put on the bound."""
    lower, upper = (
        np.array([0.0, 0.0, -np.inf, -np.inf, 0.0, 3.0]),
        np.array([np.inf, np.inf, 0.0, np.inf, 1.0, np.inf]),
    )
    x, step = np.array([1.0, 1.0, -1.0, 1.0, 0.5, 3.0]), np.array([99.0, -99.0, 99.0, -99.0, -99.0, -99.0])
    place = moved(lower, upper, x, step)
    np.testing.assert_allclose(place, [100.0, 0.01, -0.01, -98.0, 0.0, 3.0], rtol=1e-12)
    np.testing.assert_allclose(
        moved(lower, upper, x, 1e-6 * step), x + [9.9e-5, -9.9e-5, 9.9e-5, -9.9e-5, -9.9e-5, 0], atol=1e-8
    )
