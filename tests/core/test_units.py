"""The map between a user's units and a solver's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.sets import Ball, Box, Product, Set, Simplex
from zoviz.core.types import Array, Evaluation
from zoviz.core.units import Similar, Units, coordinates
from zoviz.problems import NonconvexQCQP


def units(domain: Set, x0: Any, m: int = 2, level: float = 7.0, f: float = 5.0, h: Any = (2.0, 0.1)) -> Units:
    return coordinates(domain, np.atleast_2d(x0), m).with_values(level, f, np.array(h, float))


# --- the map ----------------------------------------------------------------------------------------------------------


def test_intervals_become_unit_and_the_rest_is_measured_by_its_start() -> None:
    inf = np.inf
    box = Box([-2.0, 5.0, 3.0, -inf, -inf, 1.0, -1e20], [8.0, 5.0, inf, 4.0, inf, 1.0 + 1e-6, 1e20])
    one = coordinates(box, np.array([[0.0, 5.0, 3.5, 1.0, -20.0, 1.0, 0.0]]), 1)
    np.testing.assert_allclose(one.width, [10.0, 1.0, 0.5, 3.0, 20.0, 1e-6, 3.0], rtol=1e-9)
    assert one.offset.tolist() == [-2.0, 5.0, 3.0, 4.0, 0.0, 1.0, 0.0]
    inner = one.domain
    np.testing.assert_array_equal(inner.lower[[0, 1, 2, 5]], 0.0)
    np.testing.assert_array_equal(inner.upper[[0, 1, 3, 5]], [1.0, 0.0, 0.0, 1.0])
    assert inner.upper[2] == inf and inner.lower[3] == -inf and inner.lower[4] == -inf and inner.upper[6] > 1e19


def test_a_start_at_zero_takes_the_others_measure_or_one() -> None:
    free = Box.free(4)
    assert coordinates(free, np.zeros((1, 4)), 0).width.tolist() == [1.0] * 4
    assert coordinates(free, np.array([[0.0, 2e6, -4e6, np.nan]]), 0).width.tolist() == [3e6, 2e6, 4e6, 3e6]
    several = coordinates(free, np.array([[1.0, 1.0, 1.0, 3.0], [-1.0, 1.0, 1.0, 4.0]]), 0)
    np.testing.assert_allclose(several.width, [1.0, 1.0, 1.0, np.sqrt(12.5)])


def test_a_start_next_to_zero_or_to_its_bound_tells_no_length_either() -> None:
    assert coordinates(Box.free(3), np.array([[1e-8, 2.0, -1e-12]]), 0).width.tolist() == [2.0] * 3
    assert coordinates(Box([0.0, 3.0], [np.inf] * 2), np.array([[1e-9, 3.0 + 1e-9]]), 0).width.tolist() == [1.0, 1.0]
    assert coordinates(Box.free(2), np.array([[1e-6, 3e-6]]), 0).width.tolist() == [1e-6, 3e-6]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_points_go_there_and_back_and_never_leave_the_box(size: float) -> None:
    rng = np.random.default_rng(0)
    lower = size * rng.normal(size=50)
    box = Box(lower, lower + size * rng.uniform(0.1, 3.0, 50))
    one = units(box, box.sample(np.full(50, 0.5)))
    for unit in (np.zeros(50), np.ones(50), rng.uniform(size=(200, 50)), rng.choice([0.0, 1.0], (50, 50))):
        x = one.point(unit)
        assert (x >= box.lower).all() and (x <= box.upper).all(), "not even by one unit in the last place"
        np.testing.assert_allclose(one.inverse(x), unit, atol=1e-12)
        back = one.inverse(x)
        assert (back >= 0.0).all() and (back <= 1.0).all()
    outside = one.point(np.full(50, 1.0 + 1e-3))
    assert (outside > box.upper).all(), "probes outside stay outside"


def test_values_multipliers_and_gradients_agree_with_the_chain_rule() -> None:
    problem = NonconvexQCQP(n=4)
    one = units(Box([-10.0, -10.0, -10.0, -10.0], [10.0, 0.0, 30.0, -9.0]), np.zeros(4), 1, h=(3.0,))
    u = np.random.default_rng(1).uniform(size=(5, 4))
    step = 1e-6

    def scaled(points: Array) -> Evaluation:
        return one.value(problem.evaluate(one.point(points)))

    of_f, of_h = one.gradients(problem.gradient(one.point(u)))
    for i in range(4):
        ahead, behind = scaled(u + step * np.eye(4)[i]), scaled(u - step * np.eye(4)[i])
        np.testing.assert_allclose((ahead.f - behind.f) / (2 * step), of_f[:, i], rtol=1e-5, atol=1e-3)
        np.testing.assert_allclose((ahead.h - behind.h) / (2 * step), of_h[:, :, i], rtol=1e-5, atol=1e-3)
    back = one.user_value(scaled(u))
    np.testing.assert_allclose(back.f, problem.evaluate(one.point(u)).f, rtol=1e-12)
    np.testing.assert_allclose(back.h, problem.evaluate(one.point(u)).h, rtol=1e-12)
    # The same stationary Lagrangian: grad f~ + y~ grad h~ = W (grad f + y grad h) / s_f.
    y = np.array([[0.7]] * 5)
    user_f, user_h = problem.gradient(one.point(u))
    user = user_f + one.dual(y) * user_h[:, 0]
    np.testing.assert_allclose(of_f + y * of_h[:, 0], user * one.width / one.f, rtol=1e-12)


@pytest.mark.parametrize("domain", [Ball([1e3, 2e3], 500.0), Simplex(2, 1e-4)], ids=["ball", "simplex"])
def test_other_sets_keep_their_projections(domain: Set) -> None:
    start = domain.sample(np.full((1, 2), 0.3))
    one = coordinates(domain, start, 0)
    assert isinstance(one.domain, Similar) and np.ptp(one.width) == 0.0
    assert one.width[0] == pytest.approx(np.sqrt(np.square(start).mean()))
    far = np.random.default_rng(0).normal(size=(20, 2)) * 30.0
    np.testing.assert_allclose(one.point(one.domain.project(far)), domain.project(one.point(far)), rtol=1e-9)
    assert one.domain.contains(one.domain.sample(np.random.default_rng(1).random((9, 2))), 1e-9).all()


def test_products_of_boxes_are_one_box() -> None:
    one = coordinates(Product([Box([0.0], [4.0]), Product([Box([1.0], [11.0])])]), np.zeros((1, 2)), 0)
    assert isinstance(one.domain, Box) and one.width.tolist() == [4.0, 10.0]
    assert isinstance(coordinates(Product([Box([0.0], [4.0]), Ball([0.0], 1.0)]), np.ones((1, 2)), 0).domain, Similar)
