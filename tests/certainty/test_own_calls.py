"""The certainty of answers whose values repeat: f* and multipliers by calls nearby, whatever the method knows."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import BlackBox, minimize
from zoviz.certainty.calls import Calls
from zoviz.certainty.own_calls import NEAREST, RADIUS, nearby, needed, repeating
from zoviz.certainty.own_calls import around as around_answer
from zoviz.certainty.stationarity import Activity
from zoviz.core.sets import Box
from zoviz.core.types import Array

BOX = Box(np.full(2, -2.0), np.full(2, 2.0))


def function(x: Array) -> tuple[float, Array]:
    """(x1 - 1)^2 + (x2 - 0.8)^2 with x1 + x2 <= 1 beside a slack row: f* = 0.32, y1 = 0.8."""
    return float((x[0] - 1.0) ** 2 + (x[1] - 0.8) ** 2), np.array([x[0] + x[1] - 1.0, x[0] - 0.9])


def around(x: Array, spread: Array) -> Calls:
    points = x + spread * np.random.default_rng(0).standard_normal((40, 2))
    return Calls(points, np.array([np.append(*function(one)) for one in points]))


@pytest.mark.parametrize("method", ["ZOSQP", "ZOSPLM", "COBYLA", "ALSPG"])
def test_every_methods_answer_has_them(method: str) -> None:
    problem = BlackBox(function, joint=True, m=2, bounds=[(-2, 2)] * 2, x0=[0.0, 0.0])
    result = minimize(problem, method=method, max_calls=600, seed=1)
    sure, calls = result.certainty, result.calls
    assert sure.tells_minimum and calls <= 600
    assert (
        sure.f_star.value == pytest.approx(0.32, abs=1e-5) and sure.f_star.low - 1e-6 <= 0.32 <= sure.f_star.high + 1e-6
    )
    assert sure.multipliers[0].value == pytest.approx(0.8, abs=0.02) and sure.multipliers[1].high == 0.0
    assert sure.activity == (Activity.ACTIVE, Activity.INACTIVE)


def test_calls_that_lie_on_a_line_tell_nothing_and_the_methods_multipliers_stay() -> None:
    x = np.array([0.6, 0.4])
    assert nearby(around(x, np.array([0.1, 0.0])), x, BOX) is None
    assert nearby(around(x, np.array([0.1, 0.1])).among(np.arange(40) < 5), x, BOX) is None, "too few"
    sure = repeating([], x, np.append(*function(x)), np.array([0.8, 0.0]), BOX, 1e-6)
    assert not sure.tells_minimum and "do not determine f*" in sure.sentence and sure.multipliers[0].value == 0.8


@pytest.mark.parametrize("spread", [0.01, 50.0])
def test_where_f_falls_as_far_as_the_calls_reach_or_they_lie_far_away_nothing_is_told(spread: float) -> None:
    x = np.array([-1.5, -1.5])
    near = nearby(around(x, np.full(2, spread)), x, BOX)
    sure = repeating([one for one in (near,) if one], x, np.append(*function(x)), np.full(2, np.nan), BOX, 1e-6)
    assert not sure.tells_minimum and "do not determine f*" in sure.note


def test_without_bounds_and_after_far_restarts_no_wrong_minimum_is_claimed() -> None:
    result = minimize(lambda x: x @ x, [2.0, 1.0], constraints=lambda x: 1 - x[0])
    sure = result.certainty
    assert not sure.tells_minimum or sure.f_star.low - 1e-6 <= 1.0 <= sure.f_star.high + 1e-6


def test_f_of_a_feasible_answer_is_the_upper_end_of_f_star() -> None:
    x = np.array([1e-6, 0.0])
    points = 0.1 * np.random.default_rng(0).standard_normal((40, 2))
    outputs = np.stack([np.cosh(points).sum(axis=1), np.full(40, -1.0)], axis=1)
    near = nearby(Calls(points, outputs), x, BOX)
    here = np.array([np.cosh(x).sum(), -1.0])
    sure = repeating([near], x, here, np.zeros(1), BOX, 1e-6)
    assert sure.f_star.low <= 2.0 <= sure.f_star.high == here[0]
    outside = repeating([near], x, here + [0.0, 1.0 + 1e-9], np.zeros(1), BOX, 1e-6)
    assert outside.f_star.high > here[0], "that of a point that violates, if within the tolerance, is none"


@pytest.mark.parametrize("x", [[0.1, -0.2], [-2.0, 2.0], [1.999, 0.0]])
def test_points_around_an_answer_are_in_the_bounds_and_in_all_directions(x: list[float]) -> None:
    points = around_answer(np.array(x), BOX, np.random.default_rng(0))
    steps = points - x
    assert len(points) == needed(BOX) == 11 and (points >= -2.0).all() and (points <= 2.0).all()
    distance = np.abs(steps / np.maximum(1.0, np.abs(x))).max(axis=1)
    assert distance.max() <= RADIUS and distance.min() >= NEAREST * RADIUS and len(np.unique(distance)) == 11
    assert np.linalg.svd(steps / np.linalg.norm(steps, axis=1)[:, None], compute_uv=False)[-1] > 0.5


@pytest.mark.parametrize("n", [1, 2, 3])
def test_curved_functions_are_told_well_by_calls_around_a_point_nearly_at_the_minimum(n: int) -> None:
    box, right = Box(np.full(n, -3.0), np.full(n, 3.0)), []
    for seed in range(8):
        random = np.random.default_rng([n, seed])
        rate = random.uniform(0.5, 2.0, n)  # of exp(a x) - a x, which is least at 0
        x = 1e-6 * random.standard_normal(n)
        points = np.concatenate([x[None], around_answer(x, box, random)])
        outputs = (np.exp(points * rate) - points * rate).sum(axis=1, keepdims=True)
        sure = repeating([Calls(points[1:], outputs[1:])], x, outputs[0], np.zeros(0), box, 1e-6)
        assert sure.f_star.low <= n + 1e-9 and sure.f_star.high == outputs[0, 0] and sure.f_star.low > n - 1e-5
        right += [one.low <= 0.0 <= one.high and one.high - one.low < 0.02 for one in sure.x_star]
    assert np.mean(right) >= 0.9


def test_where_a_row_holds_what_its_limit_is_worth_is_known_to_five_digits() -> None:
    x = np.array([0.6, 0.4]) + 1e-7
    points = around_answer(x, BOX, np.random.default_rng(3))
    calls = Calls(points, np.array([np.append(*function(one)) for one in points]))
    sure = repeating([calls], x, np.append(*function(x)), np.full(2, np.nan), BOX, 1e-6)
    worth = sure.multipliers[0]  # f and the row fall a thousand times faster than they curve there
    assert worth.low <= 0.8 <= worth.high and worth.high - worth.low < 1e-5 and sure.multipliers[1].high == 0.0
