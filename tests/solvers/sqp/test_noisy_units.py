"""The units of the noisy arm: constraints are about as noisy as f, whatever units they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp.constants import STANDARD

OPTIMUM = np.log(20.0) / 4.0


class Chain:
    """f = -x_1 under exp(2 x_1) <= x_2 and x_2^2 <= x_3, noise of sd 1e-3: in its box the first grows to exp(100)."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, x: Array) -> tuple[float, Array]:
        h = np.array([np.exp(2.0 * x[0]) - x[1], x[1] ** 2 - x[2]])
        return -x[0] + 2e-3 * self._rng.standard_normal(), h + 1e-3 * self._rng.standard_normal(2)


def gap(seed: int, **constants: float) -> float:
    result = minimize(
        Chain(seed), [0.0, 1.1, 2.0], bounds=[(0, 50), (0, 50), (0, 20)], joint=True, method=ZOSQP(constants=constants),
        max_calls=1000, seed=seed,
    )  # fmt: skip
    return OPTIMUM - float(result.x[0])


def test_a_constraint_that_explodes_far_away_is_seen_near_the_start() -> None:
    assert abs(gap(3)) < 0.05
    assert gap(3, unlike=np.inf) > 0.5


def course(factor: float) -> Any:
    """A run on a circle whose constraint comes in other units, its noise too."""

    def both(x: Array) -> tuple[float, float]:
        return float(x[0] + x[1]), factor * float(x @ x - 1.0)

    box = BlackBox(
        both, bounds=[(-2, 2)] * 2, x0=[0.5, 0.3], m=1, joint=True, scaled=False,
        noise="independent", noise_scale=1e-2, noise_constraint_scale=1e-2 * factor,
    )  # fmt: skip
    run = Run(box, ZOSQP(), replicas=2, seed=3, calls=300, iterations=10**6)
    run.run()
    return run


def test_a_course_does_not_depend_on_the_units_of_a_constraint_that_are_far_off() -> None:
    one, other, more = course(2.0**20), course(2.0**30), 2.0**10
    np.testing.assert_allclose(other.state.x, one.state.x, atol=1e-6)
    np.testing.assert_allclose(other.state.y * more, one.state.y, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(other.state.value.h, more * one.state.value.h, rtol=1e-3)
    assert one.result.x.sum(axis=-1) == pytest.approx(-np.sqrt(2.0), abs=0.05)


def test_an_archive_in_other_units_has_the_same_calls() -> None:
    generator = np.random.default_rng(0)
    points, values, sizes = np.repeat(np.eye(2), 3, axis=0), generator.standard_normal((6, 2)), np.array([1.0, 50.0])
    whole, _ = archives.add(archives.empty(2, values[0], STANDARD), points, values)
    other, _ = archives.add(archives.with_sizes(archives.empty(2, values[0], STANDARD), sizes), points, values / sizes)
    scaled = archives.with_sizes(whole, sizes)
    for one, two in ((scaled.means, other.means), (scaled.squares, other.squares), (scaled.noise, other.noise)):
        np.testing.assert_allclose(one, two)
    np.testing.assert_allclose(np.broadcast_to(scaled.largest, 2), other.largest)
