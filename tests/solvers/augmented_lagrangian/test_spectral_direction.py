"""Directions against their formulas written out."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.solvers.augmented_lagrangian.spectral_direction import spectral_direction

FREE = np.full(4, -np.inf), np.full(4, np.inf)
MATRIX = np.diag([1.0, 3.0, 10.0, 40.0])


def course(steps: int) -> tuple[np.ndarray, np.ndarray]:
    points = np.random.default_rng(1).standard_normal((steps, 4))
    return points, points @ MATRIX


def test_without_a_memory_it_is_barzilai_and_borweins_step() -> None:
    points, gradients = course(3)
    s, r = points[-1] - points[-2], gradients[-1] - gradients[-2]
    move = spectral_direction(points, gradients, *FREE, first=1.0, reach=1e9, memory=0)
    np.testing.assert_allclose(move, -(s @ s) / (s @ r) * gradients[-1])


def test_with_a_memory_it_is_the_bfgs_matrix() -> None:
    points, gradients = course(4)
    steps, changes = np.diff(points, axis=0), np.diff(gradients, axis=0)
    inverse = np.eye(4) * (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, r in zip(steps, changes, strict=True):
        factor = np.eye(4) - np.outer(s, r) / (s @ r)
        inverse = factor @ inverse @ factor.T + np.outer(s, s) / (s @ r)
    move = spectral_direction(points, gradients, *FREE, first=1.0, reach=1e9, memory=10)
    np.testing.assert_allclose(move, -inverse @ gradients[-1], rtol=1e-10)


def test_the_first_one_has_the_given_length_and_the_reach_is_kept() -> None:
    points, gradients = course(1)
    move = spectral_direction(points, gradients, *FREE, first=0.01, reach=1e9, memory=10)
    np.testing.assert_allclose(move, -0.01 * gradients[0])
    move = spectral_direction(points, gradients, *FREE, first=0.01, reach=1e-3, memory=10)
    assert np.abs(move).max() == pytest.approx(1e-3)


def test_a_bound_holds_its_variable_and_the_step_stays_inside() -> None:
    points, gradients = course(3)
    lower, upper = points[-1] - 0.1, points[-1] + 0.1
    held = 2
    lower[held if gradients[-1][held] > 0 else 0] = points[-1][held if gradients[-1][held] > 0 else 0]
    upper[held if gradients[-1][held] < 0 else 0] = points[-1][held if gradients[-1][held] < 0 else 0]
    move = spectral_direction(points, gradients, lower, upper, first=1.0, reach=1e9, memory=10)
    assert move[held] == 0.0 and gradients[-1] @ move < 0
    assert ((points[-1] + move >= lower) & (points[-1] + move <= upper)).all()


def test_at_a_stationary_point_nothing_moves() -> None:
    move = spectral_direction(np.zeros((1, 4)), np.zeros((1, 4)), *FREE, first=1.0, reach=1.0, memory=3)
    np.testing.assert_array_equal(move, 0.0)
