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


def test_a_failed_call_is_mended_from_the_other_side() -> None:
    x, space = np.array([0.5, -0.3]), space_of(Box([-1.0, -1.0], [1.0, 1.0]), np.zeros(2), np.zeros(1))
    steps = derivatives.offsets(x, space, np.full(2, 1e-7), False)
    values = joint(derivatives.points(x, steps, space))
    values[1] = np.inf
    slopes = derivatives.quotients(joint(x), values, steps)
    missing = ~np.isfinite(slopes).all(axis=1)
    assert missing.tolist() == [False, True]
    other = derivatives.mirrored(x, steps, missing, space)
    mended = derivatives.completed(slopes, missing, joint(x), joint(other), steps)
    np.testing.assert_allclose(mended, EXACT["inside"][1], atol=1e-5)
    lost = derivatives.completed(slopes, missing, joint(x), np.full((1, 2), np.inf), steps)
    np.testing.assert_array_equal(lost[1], 0.0)


def test_the_update_satisfies_the_secant_equation_and_stays_positive() -> None:
    generator = np.random.default_rng(0)
    root = generator.standard_normal((4, 4))
    true, hessian = root @ root.T + np.eye(4), np.eye(4)
    for first in (True, False, False):
        step = generator.standard_normal(4)
        hessian = derivatives.updated(hessian, step, true @ step, first)
        np.testing.assert_allclose(hessian @ step, true @ step, atol=1e-9)
        assert np.linalg.eigvalsh(hessian).min() > 0.0


def test_negative_curvature_is_damped() -> None:
    hessian = derivatives.updated(np.eye(2), np.array([1.0, 0.0]), np.array([-5.0, 0.0]), False)
    assert np.linalg.eigvalsh(hessian).min() == pytest.approx(0.2)
    assert derivatives.updated(np.eye(1), np.array([1.0]), np.array([1e13]), False).size == 0
