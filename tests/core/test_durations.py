"""Times in words."""

from __future__ import annotations

from zoviz.core.durations import duration


def test_a_time_has_two_digits_and_the_unit_that_suits_it() -> None:
    words = {
        0.0: "0 ms",
        0.0034: "3.4 ms",
        0.25: "250 ms",
        1.5: "1.5 s",
        9.96: "10 s",
        80.0: "80 s",
        119.0: "119 s",
        600.0: "10 minutes",
        7200.0: "2 hours",
        200_000.0: "2.3 days",
        float("nan"): "an unknown time",
        float("inf"): "an unknown time",
    }
    assert [duration(seconds) for seconds in words] == list(words.values())
