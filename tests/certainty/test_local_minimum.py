"""The minimum of local models: value, place, multipliers and their errors by hand computations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.certainty.calls import coefficients
from zoviz.certainty.local_minimum import minimum, programme
from zoviz.certainty.local_model import Errors
from zoviz.core.types import Array


class Known:
    """Models with known coefficients, whose covariance is that of independent coefficients with these variances."""

    def __init__(self, value: Array, slope: Array, hessian: Array, variance: float = 0.0) -> None:
        self.value, self.slope, self.hessian = (np.array(part, dtype=float) for part in (value, slope, hessian))
        self.q, self.n = self.slope.shape
        self._variance = variance

    def value_at(self, u: Array) -> Array:
        return self.value + self.slope @ u + 0.5 * (self.hessian @ u) @ u

    def slope_at(self, u: Array) -> Array:
        return self.slope + self.hessian @ u

    def value_row(self, u: Array) -> Array:
        return np.concatenate([[1.0], u, np.zeros(coefficients(self.n) - self.n - 1)])

    def slope_rows(self, u: Array) -> Array:
        rows = np.zeros((self.n, coefficients(self.n)))
        rows[:, 1 : self.n + 1] = np.eye(self.n)
        return rows

    def errors(self, functionals: Array) -> Errors:
        flat = functionals.reshape(len(functionals), -1)
        noise = self._variance * flat @ flat.T
        return Errors(noise, noise, np.full(len(flat), 50.0))


def solved(model: Any, equal: Array | None = None, lower: Any = -9.0, upper: Any = 9.0) -> Any:
    rows = np.zeros(model.q - 1, dtype=bool) if equal is None else equal
    return programme(model, rows, np.full(model.n, lower), np.full(model.n, upper))


def test_a_quadratic_on_a_plane_has_its_known_minimum_multiplier_and_value() -> None:
    # (u1 - 0.5)^2 + (u2 - 0.5)^2 on u1 + u2 <= 0.2: u = 0.1, y = 0.8, f = 0.32
    model = Known([0.5, -0.2], [[-1.0, -1.0], [1.0, 1.0]], [2.0 * np.eye(2), np.zeros((2, 2))])
    found = solved(model)
    made = minimum(model, found, found.active)
    assert found.within and found.feasible and found.active.tolist() == [0]
    assert made.u == pytest.approx([0.1, 0.1], abs=1e-9) and made.y == pytest.approx([0.8], abs=1e-9)
    assert made.f == pytest.approx(0.32, abs=1e-9) and made.h == pytest.approx([0.0], abs=1e-9)


def test_its_errors_are_those_of_the_optimality_conditions_inverse() -> None:
    variance = 1e-4
    model = Known([0.5, -0.2], [[-1.0, -1.0], [1.0, 1.0]], [2.0 * np.eye(2), np.zeros((2, 2))], variance)
    found = solved(model)
    made = minimum(model, found, found.active)
    y, u = made.y[0], found.u
    matrix = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0]])
    share = variance * np.diag([1.0 + y * y, 1.0 + y * y, 1.0 + u @ u])
    share[:2, 2] = share[2, :2] = variance * y * u  # of y h's slope and of h, by the same coefficients
    inverse = np.linalg.inv(matrix)
    spread = inverse @ share @ inverse
    assert made.covariance == pytest.approx(spread[:2, :2], rel=1e-6)
    assert made.y_variance == pytest.approx([spread[2, 2]], rel=1e-6)
    product = inverse @ share
    own = variance * (1.0 + u @ u) * (1.0 + y * y)
    assert made.f_variance == pytest.approx(own + 0.5 * np.trace(product @ product), rel=1e-6)
    assert made.f == pytest.approx(0.32 + 0.5 * np.trace(inverse @ share), rel=1e-6)


def test_a_bound_holds_its_variable_and_leaves_the_others() -> None:
    model = Known([0.0], [[-1.0, -0.2]], [np.eye(2)])
    found = solved(model, upper=[0.0, 9.0])
    made = minimum(model, found, found.active)
    assert found.free.tolist() == [False, True] and made.u == pytest.approx([0.0, 0.2], abs=1e-7)
    assert made.f == pytest.approx(-0.02, abs=1e-9)


def test_an_equality_may_have_a_multiplier_of_either_sign() -> None:
    model = Known([0.0, -0.3], [[1.0], [1.0]], [np.eye(1), np.zeros((1, 1))])
    found = solved(model, np.array([True]))
    made = minimum(model, found, found.active)
    assert made.u == pytest.approx([0.3]) and made.y == pytest.approx([-1.3])


def test_an_unbounded_model_ends_where_models_reach_and_says_so() -> None:
    found = solved(Known([0.0], [[-1.0, 0.0]], [np.diag([-1.0, 1.0])]))
    assert not found.within and found.u[0] == pytest.approx(1.0) and found.free.all()


def test_rows_that_no_point_satisfies_are_told() -> None:
    model = Known([0.0, 0.5, 0.5], [[1.0], [1.0], [-1.0]], np.zeros((3, 1, 1)))
    assert not solved(model).feasible


def test_a_row_counted_as_active_moves_the_minimum_to_it() -> None:
    # u^2 / 2 beside u <= 0.1: inactive; counted as active it has y = -0.1 at u = 0.1.
    model = Known([0.0, -0.1], [[0.0], [1.0]], [np.eye(1), np.zeros((1, 1))])
    found = solved(model)
    made = minimum(model, found, np.array([0]))
    assert found.active.size == 0 and made.u == pytest.approx([0.1]) and made.y == pytest.approx([-0.1])
