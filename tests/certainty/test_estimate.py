"""The certainty of noisy answers: intervals that hold the truth, in any units, and what is left of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz.certainty import local_model
from zoviz.certainty.calls import Calls
from zoviz.certainty.certainty import Certainty
from zoviz.certainty.estimate import certainty, design
from zoviz.certainty.stationarity import Activity, Interval
from zoviz.core.sets import Box
from zoviz.core.types import Array

BOX, SD = Box(np.full(2, -1.0), np.full(2, 1.0)), 0.01
OPTIMUM, LOWEST, WORTH = np.array([0.6, 0.4]), 0.32, 0.8
"""Of (x1 - 1)^2 + (x2 - 0.8)^2 with x1 + x2 <= 1 beside a slack row."""


def bowl(x: Array) -> Array:
    return np.array([(x[0] - 1.0) ** 2 + (x[1] - 0.8) ** 2, x[0] + x[1] - 1.0, x[0] - 0.9])


def made(
    function: Callable[[Array], Array] = bowl,
    x: Array = OPTIMUM,
    box: Box = BOX,
    calls: int | None = None,
    sd: float = SD,
    seed: int = 0,
    earlier: int = 60,
    spoil: Callable[[Array], Array] = lambda y: y,
) -> Certainty:
    """Return the certainty at x, after as many earlier calls around it."""
    random = np.random.default_rng(seed)

    def called(points: Array) -> Calls:
        y = np.array([function(point) for point in points]).reshape(len(points), -1)
        return Calls(points, y + sd * random.standard_normal(y.shape))

    n = int(box.variable.sum())
    before = called(box.embed(x[box.variable] + 0.6 * random.uniform(-1.0, 1.0, (earlier, n))))
    plan = design(x, box, calls, random, before)
    fresh = called(plan.points)
    return certainty(before, Calls(fresh.x, spoil(fresh.y)), x, box, plan)


def inside(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def test_intervals_of_a_quadratic_hold_its_known_minimum_multiplier_and_place() -> None:
    hits = []
    for seed in range(20):
        one = made(seed=seed)
        assert one.activity == (Activity.ACTIVE, Activity.INACTIVE) and one.multipliers[1] == Interval(0.0, 0.0, 0.0)
        hits.append([inside(one.f_star, LOWEST), inside(one.f_x, LOWEST), inside(one.multipliers[0], WORTH)])
        hits[-1] += [inside(got, x) for got, x in zip(one.x_star, OPTIMUM, strict=True)]
        assert one.gain.low == 0.0 and one.calls == 48 and 30 < one.archive <= 60 and one.p_feasible[1] == 1.0
        assert 0.2 * SD < one.f_star.high - one.f_star.low < 3.0 * SD
    assert np.mean(hits, axis=0).min() >= 0.85, np.mean(hits, axis=0)


def test_without_noise_everything_is_told_to_many_digits() -> None:
    one = made(sd=0.0)
    assert one.f_star.value == pytest.approx(LOWEST, abs=1e-6) and one.multipliers[0].value == pytest.approx(
        WORTH, abs=1e-4
    )
    assert one.x_star[0].value == pytest.approx(0.6, abs=1e-4) and one.next_digit == 0


def test_it_is_the_same_in_other_units() -> None:
    size = np.array([1e-3, 0.25])

    def scaled(z: Array) -> Array:
        return bowl(z / size) * np.array([1e4, 0.01, 50.0]) + np.array([7.0, 0.0, 0.0])

    def noise_of(seed: int) -> Certainty:
        random = np.random.default_rng(seed)
        points = OPTIMUM + 0.6 * random.uniform(-1.0, 1.0, (60, 2))
        noise = SD * random.standard_normal((60 + 48, 3))
        before = Calls(points, np.array([bowl(x) for x in points]) + noise[:60])
        plan = design(OPTIMUM, BOX, None, random, before)
        plain.append(
            certainty(
                before, Calls(plan.points, np.array([bowl(x) for x in plan.points]) + noise[60:]), OPTIMUM, BOX, plan
            )
        )
        own = Calls(points * size, np.array([scaled(z) for z in points * size]) + noise[:60] * [1e4, 0.01, 50.0])
        box = Box(BOX.lower * size, BOX.upper * size)
        same = plan._replace(
            points=plan.points * size, centre=plan.centre * size, reach=plan.reach * size, length=plan.length * size
        )
        y = np.array([scaled(z) for z in same.points]) + noise[60:] * [1e4, 0.01, 50.0]
        return certainty(own, Calls(same.points, y), OPTIMUM * size, box, same)

    plain: list[Certainty] = []
    other = noise_of(5)
    one = plain[0]
    assert np.array(other.f_star) == pytest.approx(np.array(one.f_star) * 1e4 + 7.0, rel=1e-6)
    assert np.array(other.multipliers[0]) == pytest.approx(np.array(one.multipliers[0]) * 1e6, rel=1e-6)
    assert np.array(other.x_star[1]) == pytest.approx(np.array(one.x_star[1]) * 0.25, rel=1e-6)
    assert other.p_feasible == pytest.approx(one.p_feasible, rel=1e-6) and other.activity == one.activity


def test_a_point_far_from_a_minimum_is_told_so() -> None:
    one = made(lambda x: np.array([x[0]]), x=np.zeros(2))
    assert "not near a minimum" in one.note and one.f_star.low == -np.inf and one.gain.high == np.inf
    assert one.gain.low > 0.0 and one.activity == ()


def test_models_without_a_feasible_point_leave_f_star_open() -> None:
    one = made(lambda x: np.array([x @ x, 3.0 + x[0]]), x=np.zeros(2))
    assert "no feasible point nearby" in one.note and np.isnan(one.f_star.value)
    assert one.activity == (Activity.UNDECIDED,) and one.p_feasible[0] == pytest.approx(0.0, abs=1e-9)
    assert inside(one.h_x[0], 3.0)


def test_an_equality_is_one_row_whose_multiplier_has_a_sign() -> None:
    def function(x: Array) -> Array:
        e = 0.6 - x[0] + 0.0 * x[1]
        return np.array([x @ x, e, -e])

    random = np.random.default_rng(1)
    x = np.array([0.6, 0.0])

    def called(points: Array) -> Calls:
        y = np.array([function(point) for point in points])
        y[:, 0] += SD * random.standard_normal(len(y))
        noise = SD * random.standard_normal(len(y))
        y[:, 1] += noise
        y[:, 2] = -y[:, 1]
        return Calls(points, y)

    before = called(x + 0.6 * random.uniform(-1.0, 1.0, (60, 2)))
    plan = design(x, BOX, None, random, before)
    one = certainty(before, called(plan.points), x, BOX, plan)
    assert one.activity == (Activity.ACTIVE, Activity.ACTIVE) and one.p_feasible.sum() == pytest.approx(1.0)
    assert inside(one.multipliers[0], 1.2) and one.multipliers[1] == Interval(0.0, 0.0, 0.0)
    assert one.h_x[1] == Interval(-one.h_x[0].value, -one.h_x[0].high, -one.h_x[0].low)


def test_a_direction_that_nothing_depends_on_is_flat() -> None:
    one = made(lambda x: np.array([(x[0] - 0.2) ** 2]), x=np.array([0.2, 0.0]))
    assert one.flat == ((1,),) and "not determined: x2" in one.sentence
    assert one.x_star[1].high - one.x_star[1].low > 5.0 * (one.x_star[0].high - one.x_star[0].low)


def test_one_variable_and_a_fixed_one_beside_it() -> None:
    box = Box(np.array([-2.0, 1.0]), np.array([2.0, 1.0]))
    one = made(lambda x: np.array([(x[0] - 0.2) ** 2 + x[1]]), x=np.array([0.2, 1.0]), box=box)
    assert inside(one.f_star, 1.0) and one.x_star[1] == Interval(1.0, 1.0, 1.0) and one.calls == 32
    assert len(one.directions) == 1 and one.directions[0].step[1] == 0.0


def test_where_bounds_fix_all_variables_x_is_called_again_and_again() -> None:
    fixed = Box(OPTIMUM, OPTIMUM)
    one = made(box=fixed, calls=16)
    assert np.isnan(one.f_star.value) and one.calls == 16 and one.activity[1] is Activity.INACTIVE
    assert inside(one.f_x, LOWEST) and 0.3 * SD < one.f_x.high - one.f_x.low < 2.0 * SD


def test_the_interval_of_calls_at_x_alone_is_students() -> None:
    values = np.array([[1.0, -1.0], [2.0, -1.5], [4.0, -0.5]])
    fixed = Box(np.zeros(1), np.zeros(1))
    plan = design(np.zeros(1), fixed, 3, np.random.default_rng(0))
    one = certainty(Calls(np.zeros((0, 1)), np.zeros((0, 2))), Calls(plan.points, values), np.zeros(1), fixed, plan)
    half = 4.302652729911275 * np.sqrt(7.0 / 9.0)  # t of 2 degrees of freedom at 97.5 %
    assert one.f_x == pytest.approx((7.0 / 3.0, 7.0 / 3.0 - half, 7.0 / 3.0 + half), abs=1e-9)
    assert one.h_x[0].value == -1.0 and 0.0 < 1.0 - one.p_feasible[0] < 0.1


def test_a_few_failures_among_fresh_calls_are_left_out() -> None:
    def some(y: Array) -> Array:
        y = y.copy()
        y[::6] = np.nan
        return y

    one = made(spoil=some)
    assert inside(one.f_star, LOWEST) and one.calls == 48 and one.activity[0] is Activity.ACTIVE


def test_fresh_calls_without_values_tell_nothing() -> None:
    one = made(spoil=lambda y: np.full_like(y, np.nan))
    assert np.isnan(one.f_x.value) and np.isnan(one.f_star.value) and one.activity[0] is Activity.UNDECIDED
    assert "too few calls" in one.note and one.sentence


@pytest.mark.parametrize("calls", [3, 12, 48])
def test_too_few_calls_for_slopes_go_to_x_alone(calls: int) -> None:
    plan = design(OPTIMUM, BOX, calls, np.random.default_rng(0))
    assert len(plan.points) == calls and bool(len(plan.axes)) == (calls >= 12)


def test_without_earlier_calls_several_bases_of_axes_tell_the_curvature() -> None:
    random = np.random.default_rng(0)
    plan = design(OPTIMUM, BOX, 120, random, bases=2)
    y = np.array([bowl(x) for x in plan.points]) + SD * random.standard_normal((120, 3))
    one = certainty(Calls(np.zeros((0, 2)), np.zeros((0, 3))), Calls(plan.points, y), OPTIMUM, BOX, plan)
    assert inside(one.f_star, LOWEST) and inside(one.multipliers[0], WORTH) and one.archive == 0


def test_a_corner_of_the_box_holds_every_variable() -> None:
    one = made(lambda x: np.array([x.sum()]), x=BOX.lower)
    assert inside(one.f_star, -2.0) and one.directions == () and one.x_star[0] == Interval(-1.0, -1.0, -1.0)


def test_a_gain_beyond_all_that_the_calls_show_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def stiff(x: Array) -> Array:
        return np.array([1e4 * x[0] ** 2 + (x[1:] ** 2).sum()])

    # So far from x, one basis of axes and 14 earlier calls do not tell how the stiff variable bends with the others.
    monkeypatch.setattr(local_model, "lengths_of", lambda *_: np.full(6, 0.5))
    box, x = Box(np.full(6, -1.0), np.full(6, 1.0)), np.zeros(6)
    one = made(stiff, x, box, calls=40, earlier=14)
    assert not one.tells_minimum and one.note == "the calls nearby do not determine f*" and "f* " not in one.nearby
    assert inside(one.f_x, 0.0) and np.isinf(one.gain.high), "what the calls at x tell is not lost"
    assert all((place.low, place.high) == (-1.0, 1.0) for place in one.x_star), "the minimum may be anywhere"
    assert made(stiff, x, box, calls=40, earlier=200).tells_minimum
