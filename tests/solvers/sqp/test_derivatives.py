"""Difference quotients near bounds and beside failed calls; the quasi-Newton update."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.sqp import derivatives
from zoviz.solvers.sqp.situation import space_of


def joint(x: Array) -> Array:
    """f = x0^3 + x0 x1 and h = exp(x1), side by side."""
    return np.stack([x[..., 0] ** 3 + x[..., 0] * x[..., 1], np.exp(x[..., 1])], axis=-1)


EXACT = {
    "inside": ([0.5, -0.3], [[3 * 0.25 - 0.3, 0.0], [0.5, np.exp(-0.3)]]),
    "upper": ([1.0, 1.0], [[4.0, 0.0], [1.0, np.e]]),
    "lower": ([-1.0, -1.0], [[2.0, 0.0], [-1.0, np.exp(-1.0)]]),
}


@pytest.mark.parametrize("central, relative, accuracy", [(False, 1e-7, 1e-5), (True, 1e-5, 1e-8)])
@pytest.mark.parametrize("place", EXACT)
def test_quotients_inside_and_at_bounds(place: str, central: bool, relative: float, accuracy: float) -> None:
    point, exact = EXACT[place]
    x, space = np.array(point), space_of(Box([-1.0, -1.0], [1.0, 1.0]), np.array(point), np.zeros(1))
    steps = derivatives.offsets(x, space, np.full(2, relative), central)
    points = derivatives.points(x, steps, space)
    assert points.shape == (4 if central else 2, 2) and np.abs(points).max() <= 1.0
    np.testing.assert_allclose(derivatives.quotients(joint(x), joint(points), steps), exact, atol=accuracy)


def test_second_differences_are_the_curvatures_along_the_coordinates() -> None:
    for point, exact in (([0.5, -0.3], [[3.0, 0.0], [0.0, np.exp(-0.3)]]), ([1.0, 1.0], [[6.0, 0.0], [0.0, np.e]])):
        x, space = np.array(point), space_of(Box([-1.0, -1.0], [1.0, 1.0]), np.array(point), np.zeros(1))
        steps = derivatives.offsets(x, space, np.full(2, 1e-4), True)
        values = joint(derivatives.points(x, steps, space))
        np.testing.assert_allclose(derivatives.curvatures(joint(x), values, steps), exact, atol=1e-3)


def test_steps_stay_in_a_box_however_narrow() -> None:
    x, width = np.array([0.5e-7, 3.0]), np.array([1e-7, 2.0])
    space = space_of(Box([0.0, 2.0], [1e-7, 4.0]), x, np.zeros(1))
    steps = derivatives.offsets(x, space, np.full(2, 1e-1), True)
    assert (np.abs(steps.first) <= width / 4.0).all() and (np.abs(steps.first) > 0.0).all()
    assert (np.abs(np.diff(derivatives.points(x, steps, space), axis=0)[-1]) > 0.0).any()


def test_a_variable_far_from_zero_with_small_units_is_moved_by_more_than_round_off() -> None:
    space = space_of(Box([-np.inf], [np.inf]), np.array([1e6]), np.zeros(1))._replace(scale=np.array([1e-3]))
    step = derivatives.offsets(np.array([1e6]), space, np.array([1e-7]), False).first
    assert step[0] == pytest.approx(1e-4), "relative to a thousandth of x, not to the unit"


def test_a_failed_call_is_mended_from_the_other_side() -> None:
    x, space = np.array([0.5, -0.3]), space_of(Box([-1.0, -1.0], [1.0, 1.0]), np.zeros(2), np.zeros(1))
    steps = derivatives.offsets(x, space, np.full(2, 1e-7), False)
    values = joint(derivatives.points(x, steps, space))
    values[1] = np.inf
    slopes = derivatives.quotients(joint(x), values, steps)
    missing = ~np.isfinite(slopes).all(axis=1)
    assert missing.tolist() == [False, True]
    other = derivatives.mirror_points(x, steps, missing, space)
    mended = derivatives.complete(slopes, missing, joint(x), joint(other), steps)
    np.testing.assert_allclose(mended, EXACT["inside"][1], atol=1e-5)
    lost = derivatives.complete(slopes, missing, joint(x), np.full((1, 2), np.inf), steps)
    np.testing.assert_array_equal(lost[1], 0.0)


def test_the_update_satisfies_the_secant_equation_and_stays_positive() -> None:
    generator = np.random.default_rng(0)
    root = generator.standard_normal((4, 4))
    true, hessian = root @ root.T + np.eye(4), np.eye(4)
    for first in (True, False, False):
        step = generator.standard_normal(4)
        hessian = derivatives.update_hessian(hessian, step, true @ step, first)
        np.testing.assert_allclose(hessian @ step, true @ step, atol=1e-9)
        assert np.linalg.eigvalsh(hessian).min() > 0.0


def test_negative_curvature_is_damped() -> None:
    hessian = derivatives.update_hessian(np.eye(2), np.array([1.0, 0.0]), np.array([-5.0, 0.0]), False)
    assert np.linalg.eigvalsh(hessian).min() == pytest.approx(0.2)
    assert derivatives.update_hessian(np.eye(1), np.array([1.0]), np.array([1e13]), False).size == 0


def test_slopes_are_alike_up_to_round_off() -> None:
    before = np.array([[1.0, 2.0], [0.0, 3e3], [1e-9, 1.0], [1.0, 1e-3]])
    after = before + [[1e-6, 0.0], [1e-9, 1e-5], [1e-7, 0.0], [0.0, 1e-4]]
    np.testing.assert_array_equal(derivatives.alike(before, after), [True, True, False, False])
