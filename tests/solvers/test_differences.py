"""Outputs whose values are rounded too coarsely for differences, by base values and those around them."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.oracle.quantum import quantum
from zoviz.solvers.differences import hidden, rounding


def steps(seen: list[list[float]], values: list[list[float]]) -> Array:
    return rounding(np.array(seen), np.array(values), lambda own, scattered: quantum(own, scattered=scattered))


def test_an_objective_that_is_the_same_everywhere_is_rounded_by_its_digits_and_a_row_is_not() -> None:
    assert steps([[12.34, -12.34]], [[12.34, -12.34]] * 3) == pytest.approx([0.01, 0.0])


def test_a_row_is_rounded_once_three_of_its_values_differ() -> None:
    x = np.pi
    assert steps([[x, -1.23], [x / 2, -0.71]], [[x / 3, -0.71], [x / 5, -0.71]]) == pytest.approx([0.0, 0.0])
    assert steps([[x, -1.23], [x / 2, -0.98], [x / 4, -0.71]], [[x / 3, -0.71]]) == pytest.approx([0.0, 0.01])


def test_base_values_on_a_lattice_are_not_rounded_where_differences_leave_it() -> None:
    """As those of a linear function at the corners of a box."""
    corners = [[float(value)] for value in (12, 31, 55, 17, 22, 48, 90)]
    assert steps(corners, [[90.0 + 1e-7 * np.e]]) == pytest.approx([0.0])
    assert steps(corners, [[90.0], [90.0]]) == pytest.approx([1.0])


def test_only_what_changes_by_few_steps_is_hidden() -> None:
    base, values = np.array([1.0, 1.0, 1.0]), np.array([[1.01, 1.01, 1.0], [1.0, np.nan, 1.0]])
    assert hidden(base, values, np.array([1e-3, 1e-6, 0.0])).tolist() == [True, False, False]
