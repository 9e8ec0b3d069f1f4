"""Ticks of an axis of values: few, plain, different from each other, and 0 below a break."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.views.compare.value_axis import value_axis

CASES = {
    "many decades": ([1e-12, 1e-3, 10.0], True),
    "two decades": ([1e-5, 2e-3], True),
    "less than a decade": ([27.51, 27.53], True),
    "one decade": ([2.0, 19.0], True),
    "nearly one value": ([1.7248523, 1.7248524], True),
    "one value": ([27.52, 27.52], True),
    "signed": ([-3.0, 7.0], False),
    "signed, close together": ([-1.26714, -1.26711], False),
    "large": ([1.0e6, 4.4e6], True),
    "small": ([3e-7, 5e-7], True),
}


@pytest.mark.parametrize("case", CASES)
def test_ticks_are_few_and_told_from_each_other(case: str) -> None:
    values, logarithmic = np.array(CASES[case][0]), CASES[case][1]
    axis = value_axis(values, logarithmic)
    words = list(axis.ticks.values())
    assert 1 <= len(words) <= 7 and len(set(words)) == len(words), words
    assert all(axis.ends[0] <= at <= axis.ends[1] for at in [*axis.ticks, *axis.places(values)])
    assert all(len(word) <= 10 for word in words), words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1e-12, 1e-3], ["10⁻¹¹", "10⁻⁹", "10⁻⁷", "10⁻⁵", "10⁻³"]),
        ([27.51, 27.53], ["27.510", "27.515", "27.520", "27.525", "27.530"]),
        ([0.0, 0.0], ["0"]),
    ],
)
def test_ticks_by_hand(values: list[float], words: list[str]) -> None:
    axis = value_axis(np.array(values), True)
    assert [word for word in axis.ticks.values()] == words


@pytest.mark.parametrize("others", [[], [1e-9, 1e-2], [3.0], [1e6, 2e6]])
def test_zero_stands_below_all_others_and_a_break(others: list[float]) -> None:
    axis = value_axis(np.array([0.0, np.inf, *others]), True)
    at = axis.places(np.array([0.0, *others]))
    assert axis.ticks[axis.zero] == "0" and at[0] == axis.zero and axis.ends[0] < axis.zero < axis.gap
    assert all(place > axis.gap for place in [*at[1:], *list(axis.ticks)[1:]])


def test_without_zeros_there_is_no_break() -> None:
    assert np.isnan(value_axis(np.array([1.0, 2.0]), True).gap) and np.isnan(
        value_axis(np.array([0.0, -2.0]), False).gap
    )
    assert value_axis(np.array([np.inf]), True).ticks == {}
