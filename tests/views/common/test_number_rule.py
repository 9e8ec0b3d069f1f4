"""Numbers as text: short, exact, and refused with a sentence where they are none."""

from __future__ import annotations

import math

import pytest

from zoviz.views.common.number_rule import NumberRule, format_number, short_number


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "auto"), (50, "50"), (10000.0, "10000"), (1e-5, "1e-5"), (0.0012345, "0.0012345"), (0.1 + 0.2, None)]
    + [(-2.5e-7, "-2.5e-7"), (1e12, "1e12"), (0.0, "0"), (2**60, str(2**60)), (math.pi * 1e-9, None)],
)
def test_text_is_short_and_reads_back_exactly(value, text):
    assert text is None or format_number(value) == text
    assert NumberRule(integer=isinstance(value, int), optional=True).read(format_number(value)) == value


@pytest.mark.parametrize(
    ("value", "text"), [(0.0347722949758092, "0.0348"), (3.894e-4, "3.89e-4"), (12345, "12345"), (1e-5, "1e-5")]
)
def test_a_short_number_has_three_digits(value, text):
    assert short_number(value) == text


@pytest.mark.parametrize("text", ["1e3", " 1_000 ", "1000", "1000.0", "+1000"])
def test_a_whole_number_may_be_written_in_many_ways(text):
    value = NumberRule(1, 4096, integer=True).read(text)
    assert value == 1000 and isinstance(value, int)


@pytest.mark.parametrize("text", ["abc", "", "nan", "inf", "-inf", "0", "4097", "1.5", "1e400", "1e40", "0x10", "auto"])
def test_a_bad_whole_number_is_refused(text):
    with pytest.raises(ValueError, match=r"^Expected a whole number from 1 to 4096, got"):
        NumberRule(1, 4096, integer=True).read(text)


@pytest.mark.parametrize("text", ["", "auto", "None", "AUTO", "auto · 0.0291", "as before"])
def test_none_has_several_names_where_it_is_a_value(text):
    assert NumberRule(1, 10, optional=True, blank="as before").read(text) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (NumberRule(), "a number"),
        (NumberRule(low=0), "a number of at least 0"),
        (NumberRule(high=1e-5), "a number of at most 1e-5"),
        (NumberRule(0, 1, (False, True)), "a number above 0 and of at most 1"),
        (NumberRule(0, 1, (True, False)), "a number of at least 0 and below 1"),
        (NumberRule(1, None, integer=True, optional=True), "a whole number of at least 1 or 'auto'"),
    ],
)
def test_the_rule_in_words(rule, words):
    assert rule.expected() == words


@pytest.mark.parametrize(("sent", "value"), [(0.2, 1), (7.6, 8), (10**300, 4096), (-5, 1), (64.0, 64)])
def test_the_place_of_a_handle_is_the_nearest_number_within_the_bounds(sent, value):
    nearest = NumberRule(1, 4096, integer=True).nearest(sent)
    assert nearest == value and isinstance(nearest, int)


@pytest.mark.parametrize(
    "sent",
    [math.nan, math.inf, -math.inf, 10**400, 10**5000, "7", None, True, [7], {"value": 7}],
    ids=lambda sent: type(sent).__name__,
)
def test_what_is_no_place_of_a_handle_is_refused(sent):
    for rule in (NumberRule(1, 4096, integer=True), NumberRule(1e-12, 1e9)):
        with pytest.raises(ValueError, match=r"^Expected a .*number from"):
            rule.nearest(sent)
