"""The roughness of functions that repeat to the bit: its level, and ZOSQP on such functions."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp import derivatives
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.situation import Space, space_of

TIMES = np.arange(STANDARD.line_calls + 1)[:, None] * STANDARD.line_spacing


def space() -> Space:
    return space_of(Box([-1.0, -1.0], [1.0, 1.0]), np.array([1.0, 0.3]), np.zeros(1))


def test_smooth_functions_have_the_roughness_of_round_off() -> None:
    smooth = np.hstack([np.exp(TIMES), 1e3 * np.sin(3.0 * TIMES + 1.0), TIMES**4, np.ones_like(TIMES)])
    assert (derivatives.noise_level(smooth) <= 1e-15 * np.array([1.0, 1e3, 1.0, 1.0])).all()


def test_a_kink_or_a_value_that_is_missing_on_the_line_tells_no_more_than_its_size() -> None:
    kink = np.abs(TIMES - 2.5 * STANDARD.line_spacing)
    holes = np.where(TIMES == 0.0, np.inf, TIMES)
    level = derivatives.noise_level(np.hstack([kink, holes]))
    assert level[0] <= STANDARD.line_spacing and level[1] == 0.0


@pytest.mark.parametrize("sd", [1e-10, 1e-3])
def test_the_level_of_noise_is_found_within_a_factor_of_three(sd: float) -> None:
    rough = np.exp(TIMES) + sd * np.random.default_rng(0).standard_normal((len(TIMES), 500))
    ratio = derivatives.noise_level(rough) / sd
    assert ((ratio > 1 / 3) & (ratio < 3)).mean() > 0.95


def test_lines_and_dithered_points_stay_near_and_in_the_box() -> None:
    corner, generator = np.array([1.0, -1.0]), np.random.default_rng(1)
    line = derivatives.line_points(corner, space(), generator, STANDARD.line_spacing)
    steps = np.diff(np.vstack([corner, line]), axis=0)
    assert (np.abs(line) <= 1.0).all() and (steps != 0.0).all()
    np.testing.assert_allclose(steps, np.tile(steps[0], (len(steps), 1)), rtol=1e-6)
    moved = derivatives.dithered(np.tile(corner, (50, 1)), space(), generator)
    assert (np.abs(moved) <= 1.0).all() and np.abs(moved - corner).max() <= STANDARD.line_spacing
    assert len(np.unique(moved, axis=0)) > 25


def rough_disc(x: Array) -> tuple[float, list[float]]:
    """min (x0 - 2)^2 + (x1 - 1)^2 in the unit disc with x0 <= x1, with errors of 1e-4 that depend on x alone."""
    generator = np.random.default_rng(zlib.crc32(np.asarray(x, dtype=float).tobytes()))
    f, *h = [(x[0] - 2) ** 2 + (x[1] - 1) ** 2, x[0] ** 2 + x[1] ** 2 - 1, x[0] - x[1]] + generator.normal(0, 1e-4, 3)
    return f, h


def test_a_rough_function_is_minimised_and_its_answer_is_a_value_that_it_gave() -> None:
    settings = {"bounds": [(-3.0, 3.0)] * 2, "joint": True, "max_calls": 300}
    result = minimize(rough_disc, [-1.5, -1.5], method="ZOSQP", **settings)
    best = (np.sqrt(0.5) - 2.0) ** 2 + (np.sqrt(0.5) - 1.0) ** 2
    assert abs(result.fun - best) < 2e-3 and result.feasible and "rough" in result.message
    assert result.fun == rough_disc(result.x)[0] and result.calls <= 300
    without = ZOSQP(constants={"roughness": np.inf})
    other = minimize(rough_disc, [-1.5, -1.5], method=without, **settings)
    assert other.fun - best > 0.1 or not other.feasible
