"""The certainty as an object: its words, its prices, and what is known of values that repeat."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from zoviz.certainty.certainty import Certainty, Direction, exact, text_of
from zoviz.certainty.stationarity import Activity, Interval


def noisy() -> Certainty:
    """Return a certainty by hand."""
    unit = np.array([2.0, 0.5])
    return Certainty(
        x=np.array([1.0, 2.0]),
        f_x=Interval(3.25, 3.2, 3.3),
        f_star=Interval(3.21, 3.1, 3.32),
        gain=Interval(0.04, 0.0, 0.09),
        h_x=(Interval(-0.01, -0.03, 0.01), Interval(-2.0, -2.1, -1.9)),
        p_feasible=np.array([0.84, 1.0]),
        activity=(Activity.ACTIVE, Activity.INACTIVE),
        multipliers=(Interval(1.5, 1.2, 1.8), Interval(0.0, 0.0, 0.0)),
        x_star=(Interval(1.0, 0.9, 1.1), Interval(2.0, -1.0, 5.0)),
        directions=(
            Direction(np.array([2.0, 0.1]), 0.02, False, unit),
            Direction(np.array([-0.2, 0.5]), 1.0, True, unit),
        ),
        noise=np.array([0.1, 0.1, 0.1]),
        calls=48,
    )


def test_the_sentence_says_all_in_plain_words() -> None:
    made = noisy()
    assert made.sentence == (
        "f(x) 3.25 (3.20 to 3.30); f* 3.21 (3.10 to 3.32); possible gain nearby at most 0.09; active: h1; "
        "inactive: h2; P(h1 <= 0) = 84 %, the least; not determined: x2; another digit would take about 4,800 calls."
    )
    assert dataclasses.replace(made, note="few calls").sentence.endswith("; few calls.")


def test_errors_fall_with_the_root_of_the_calls_so_that_a_digit_takes_a_hundred_times_as_many() -> None:
    made = noisy()
    assert made.next_digit + made.calls == 100 * made.calls
    repeats = dataclasses.replace(made, noise=np.zeros(3))
    assert repeats.next_digit == 0 and "digit" not in repeats.sentence


def test_directions_that_are_not_determined_are_named_by_their_largest_variables_in_their_own_units() -> None:
    assert noisy().flat == ((1,),)
    both = Direction(np.array([2.0, 0.4]), 1.0, True, np.array([2.0, 0.5]))
    assert both.largest == (0, 1)


def test_it_prints_a_short_table() -> None:
    lines = str(noisy()).splitlines()
    assert lines[1].split() == ["f*", "3.21", "(3.10", "to", "3.32)"]
    assert lines[4].split() == [
        *("h1", "-0.010", "(-0.030", "to", "0.010)", "active,", "P(h", "<=", "0)", "=", "84", "%"),
        *("1.50", "(1.20", "to", "1.80)"),
    ]
    assert repr(noisy()) == noisy().sentence == lines[-1]


def test_of_values_that_repeat_rows_at_zero_with_a_multiplier_are_active() -> None:
    made = exact(np.zeros(2), 1.5, np.array([0.0, 1e-9, -0.3]), np.array([2.0, 0.0, 0.0]))
    assert made.activity == (Activity.ACTIVE, Activity.UNDECIDED, Activity.INACTIVE)
    assert made.f_x == Interval(1.5, 1.5, 1.5) and np.isnan(made.f_star.value) and not made.noisy
    assert made.multipliers[0].value == 2.0 and made.multipliers[2] == Interval(0.0, 0.0, 0.0)
    assert made.p_feasible.tolist() == [1.0, 1.0, 1.0] and "do not determine f*" in made.sentence


def test_a_row_below_zero_to_which_a_method_gives_a_multiplier_is_undecided() -> None:
    made = exact(np.zeros(2), 1.5, np.array([-0.01, -0.3]), np.array([0.8, 1e-9]))
    assert made.activity == (Activity.UNDECIDED, Activity.INACTIVE) and made.multipliers[0].value == 0.8


def test_without_rows_there_is_no_word_on_them() -> None:
    made = exact(np.zeros(1), 0.0, np.zeros(0), np.zeros(0))
    assert made.activity == () and "active" not in made.sentence and "row" not in str(made)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(1.0, 1.0, 1.0), "1"),
        (Interval(12.3456, 12.3, 12.4), "12.35 (12.30 to 12.40)"),
        (Interval(1.5e7, 1.4e7, 1.6e7), "1.50e+07 (1.40e+07 to 1.60e+07)"),
        (Interval(np.nan, 0.0, np.inf), "cannot tell"),
        (Interval(np.nan, -np.inf, np.inf), "cannot tell"),
        (Interval(2.0, -np.inf, np.inf), "2 (no interval)"),
        (Interval(2.0, 0.0, np.inf), "2 (no upper end)"),
    ],
)
def test_figures_have_the_digits_that_their_interval_leaves(interval: Interval, text: str) -> None:
    assert text_of(interval) == text


def test_it_prints_the_names_of_variables_and_constraints() -> None:
    lines = noisy().listed(("force", "gap"), ("stress", "cost")).splitlines()
    assert [line.split()[0] for line in lines[4:8]] == ["stress", "cost", "force", "gap"]
