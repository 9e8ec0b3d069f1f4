"""How far a model reaches: one length for each variable, and one radius for all."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.certainty.calls import Calls
from zoviz.certainty.lengths import ALIKE, CURVED, MOST_RADIUS, lengths_of, longest, radius_of, unknown
from zoviz.core.types import Array

X, UNIT, SD = np.array([0.3, -0.2, 0.1]), np.ones(3), 0.01


def called(bend: list[float], random: np.random.Generator, points: int = 80, cubic: float = 0.0) -> Calls:
    """Return calls of f = slopes + curvatures ``bend``, and a linear row, twice at each of some points."""
    x = np.repeat(X + random.uniform(-1.0, 1.0, (points, 3)), 2, axis=0)
    d = x - X
    f = d @ [0.3, -0.5, 0.2] + 0.5 * np.square(d) @ bend + cubic * d[:, 0] ** 3
    y = np.stack([f, d @ [1.0, 1.0, 0.0] - 0.1], axis=1)
    return Calls(x, y + SD * random.standard_normal(y.shape))


def test_the_radius_is_that_of_enough_points_or_a_larger_one_without_misfit() -> None:
    random = np.random.default_rng(0)
    x, unit = X[:2], UNIT[:2]
    near, far = x + 1e-3 * random.uniform(-1, 1, (40, 2)), x + random.uniform(-1, 1, (60, 2))
    points = np.concatenate([near, far])
    noise = 0.01 * random.standard_normal((100, 1))
    smooth, rough = x[0] + points[:, :1] ** 2 + noise, np.sin(40.0 * points[:, :1]) + noise
    assert radius_of(Calls(near, noise[:40]), x, unit, 48) < 2e-3, "nothing is known of farther away"
    assert radius_of(Calls(points, smooth), x, unit, 48) == MOST_RADIUS
    assert radius_of(Calls(points, rough), x, unit, 48) < 0.1


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_lengths_are_those_of_one_radius_where_curvatures_are_alike(size: float) -> None:
    calls = called([size, 1.5 * size, 1.2 * size], np.random.default_rng(1))
    assert (lengths_of(calls, X, UNIT, 64) == MOST_RADIUS).all()


def test_a_stiff_variable_alone_is_shortened() -> None:
    calls = called([2.0, 3e3, 1.0], np.random.default_rng(2))
    length = lengths_of(calls, X, UNIT, 64)
    assert (length[[0, 2]] == MOST_RADIUS).all()
    curved = 3e3 * length[1] ** 2 / SD  # in the noise: about as in the others, or little
    assert CURVED / 4.0 < curved < 4.0 * max(CURVED, ALIKE * MOST_RADIUS**2 / SD)


def test_a_stiff_constraint_shortens_if_it_is_worth_something() -> None:
    calls = called([2.0, 2.0, 1.0], np.random.default_rng(3), points=200)
    bent = 3e3 * np.square(calls.x[:, 2] - X[2])
    active = Calls(calls.x, calls.y + np.stack([0.0 * bent, bent], axis=1))
    f = SD * np.random.default_rng(4).standard_normal(len(bent)) + np.square(calls.x - X).sum(axis=1)
    idle = Calls(calls.x, np.stack([f, active.y[:, 1]], axis=1))
    most = MOST_RADIUS * UNIT
    assert longest(active, X, most, ALIKE)[2] < 0.1 * MOST_RADIUS < longest(idle, X, most, ALIKE)[2]


def test_exact_and_missing_calls_shorten_nothing() -> None:
    calls = called([2.0, 3e3, 1.0], np.random.default_rng(5))
    once = Calls(calls.x[::2], calls.y[::2])
    nothing = Calls(np.zeros((0, 3)), np.zeros((0, 2)))
    most = MOST_RADIUS * UNIT
    assert (longest(once, X, most, ALIKE) == most).all(), "no repeated calls tell the noise"
    assert (lengths_of(nothing, X, UNIT, 64) == most).all()


def test_unknown_entries_of_a_hessian_are_counted() -> None:
    def told(x: Array) -> float:
        return unknown(Calls(x, np.zeros((len(x), 1))), X, UNIT)

    random = np.random.default_rng(6)
    axes = X + np.concatenate([0.5 * np.eye(3), -0.5 * np.eye(3), np.zeros((1, 3))])
    assert told(np.zeros((0, 3))) == pytest.approx(6.0)
    assert told(axes) == pytest.approx(3.0, abs=0.1), "the diagonal is known"
    assert told(X + random.uniform(-1, 1, (60, 3))) < 0.01
