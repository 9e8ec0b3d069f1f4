"""Where calls fail: the wall between failed and good points by hand, and what it saves."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.failures import Failures

ONES = np.ones(2)


def values(*made: bool) -> Array:
    return np.array([[1.0] if one else [np.nan] for one in made])


def seen(points: list[list[float]], made: list[bool], differences: int = 50) -> Failures:
    """Failures after these calls, and so many differences that did not fail."""
    return Failures.none(2).add_differences(values(*[True] * differences)).add(np.array(points), values(*made))


def test_a_wall_stands_before_the_middle_of_the_gap() -> None:
    wall = seen([[1.0, 0.0]], [False]).wall(np.zeros(2), ONES, STANDARD)
    direction = wall[:2] / np.linalg.norm(wall[:2])
    np.testing.assert_allclose(direction, [-1.0, 0.0], atol=1e-6)
    # Half of the gap is 0.5, and a tenth of it may be gone.
    assert wall[2] / np.linalg.norm(wall[:2]) == pytest.approx(-0.05, abs=1e-5)


def test_the_plane_separates_failed_from_good_points_and_keeps_its_distance() -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-1.0, 1.0, (40, 2))
    made = points @ [2.0, 1.0] < 0.5
    failures = seen(points.tolist(), made.tolist())
    x = points[made][np.argmax(points[made] @ [2.0, 1.0])]
    wall = failures.wall(x, ONES, STANDARD)
    near = np.argsort(np.square(points - x).sum(axis=1))[:8]
    inside = points[near] @ wall[:2] >= wall[2]
    assert not inside[~made[near]].any()
    lengths = np.array([10.0, 0.1])
    scaled = seen((points * lengths).tolist(), made.tolist()).wall(x * lengths, lengths, STANDARD)
    np.testing.assert_allclose(scaled[:2] * lengths, wall[:2], rtol=1e-4)
    close = seen([[1e-5, 0.0]], [False]).wall(np.zeros(2), ONES, STANDARD)
    coarse, fine = STANDARD.wall_kept
    assert close[2] / np.linalg.norm(close[:2]) == pytest.approx(coarse - 5e-6, rel=1e-3), "away from it"
    close = seen([[1e-5, 0.0]], [False]).wall(np.zeros(2), ONES, STANDARD, fine=True)
    assert close[2] / np.linalg.norm(close[:2]) == pytest.approx(fine - 5e-6, rel=1e-3), "but not so far"


def test_a_point_is_beside_failed_ones_within_a_distance() -> None:
    failures = seen([[0.0, 0.1], [0.5, 0.0]], [False, True])
    assert failures.near(np.zeros(2), ONES, 0.2) and not failures.near(np.zeros(2), ONES, 0.05)
    assert failures.near(np.zeros(2), np.array([1.0, 10.0]), 0.05), "in units of each variable"
    assert not failures.add_differences(values(*[False, True] * 20)).near(np.zeros(2), ONES, 0.2), "by chance"


def test_failures_by_chance_tell_no_place() -> None:
    far = np.full(2, 3.0)
    by_place = seen([[1.0, 0.0], [0.5, 0.0]], [False, True])
    assert by_place.local and by_place.expects(far, ONES) and not by_place.expects(np.zeros(2), ONES)
    by_chance = by_place.add_differences(values(*[False, True] * 20))
    assert not by_chance.local and not by_chance.expects(far, ONES)
    assert not by_chance.wall(np.zeros(2), ONES, STANDARD).size
    assert not Failures.none(2).local and not seen([[1.0, 0.0]], [True]).wall(np.zeros(2), ONES, STANDARD).size


def failed_calls(seed: int) -> tuple[int, float]:
    """Failed calls and least f of a run towards a half-space in which calls fail."""
    target, normal, count, least = np.array([2.0, -1.0, 1.5]), np.array([0.8, -0.3, 0.5]), 0, np.inf

    def function(x: Array) -> float:
        nonlocal count, least
        if normal @ x > 1.0:
            count += 1
            return float("nan")
        f = float(np.square(x - target) @ [1.0, 3.0, 2.0])
        least = min(least, f)
        return f

    minimize(function, np.zeros(3), bounds=[(-4.0, 4.0)] * 3, method="ZOSQP", max_calls=300, stop="budget", seed=seed)
    return count, least


def test_a_run_goes_along_the_wall_and_few_of_its_calls_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    count, least = failed_calls(0)
    monkeypatch.setattr(Failures, "local", property(lambda _: False))
    count_blind, least_blind = failed_calls(0)
    target, normal, weights = np.array([2.0, -1.0, 1.5]), np.array([0.8, -0.3, 0.5]), np.array([1.0, 3.0, 2.0])
    best = (normal @ target - 1.0) ** 2 / (normal**2 / weights).sum()
    assert count < 0.5 * count_blind and least < least_blind
    assert best < least < 1.02 * best


def test_the_lowest_value_beside_points_without_one_is_approached_and_told() -> None:
    def half(x: Array) -> float:
        return float(np.square(x - [1.0, 2.0]).sum()) if x[0] >= 1.5 else float("nan")

    result = minimize(half, [5.0, 5.0])
    assert 0.0 <= result.fun - 0.25 < 3e-4 and result.nfev < 400
    assert "x lies beside points without a value, and lower values may lie between" in result.message
    inner = minimize(half, [5.0, 5.0], bounds=[(1.7, 6), (0, 6)])
    assert "beside points without a value" not in inner.message
