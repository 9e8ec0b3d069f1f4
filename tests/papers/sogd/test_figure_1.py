"""Fig. 1 of paper sogd, small: a window hides regret, and a larger part of it where the stream is rapid."""

from __future__ import annotations

from zoviz.papers.sogd.figure_1 import STREAMS, courses, entry, misleads


def test_a_window_hides_more_of_the_regret_of_the_rapid_stream() -> None:
    table = {one: {name: entry(run) for name, run in courses(one, 120, 3).items()} for one in STREAMS}
    for own in table.values():
        assert all(figures.ratio > 1.0 for figures in own.values())
    assert all(in_size for in_size, _ in misleads(table["smooth"], table["rapid"]).values())
