"""Words beside the ends of lines: only where the axis reaches, and clear of it."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.views.plots.line_data import Series
from zoviz.views.plots.line_labels import labels_of

FALLING, MEASURED, BOUND = np.geomspace(1e4, 1e-2, 60), Series("a", "measured"), Series("b", "bound", muted=True)


def words(values: Array, *, muted: Array) -> list[str]:
    labels, _ = labels_of([(MEASURED, values, "red"), (BOUND, muted, "grey")], log=True)
    return [one.words for one in labels]


def test_a_reference_beyond_the_axis_has_no_word() -> None:
    assert words(FALLING, muted=np.full(60, 10.0)) == ["measured", "bound"]
    assert words(FALLING, muted=np.full(60, 1e-5)) == ["measured"]


def test_a_word_stands_below_a_line_that_falls_but_not_on_the_axis() -> None:
    low, high = Series("a", "low"), Series("b", "high")
    (lowest, highest), span = labels_of([(low, FALLING, "red"), (high, 1e5 * FALLING, "red")], log=True)
    assert (lowest.words, lowest.below) == ("low", False) and span > 8.0
    assert lowest.height > 10.0 * FALLING[-1], "above all of the line that the word is as wide as"
    assert (highest.words, highest.below, round(highest.height, 6)) == ("high", True, 1e3)


def test_ends_that_are_near_have_one_label_and_one_line_alone_none() -> None:
    two = [(Series("a", "measured"), FALLING, "red"), (Series("b", "theory"), 1.1 * FALLING, "red")]
    assert [one.words for one in labels_of(two, log=True)[0]] == ["measured, theory"]
    assert labels_of(two[:1], log=True)[0] == []


def test_a_line_that_stops_early_has_no_word_at_a_height_that_is_past() -> None:
    stopped = np.where(np.arange(60) < 30, FALLING, np.nan)
    lines = [(Series("a", "current"), FALLING, "red"), (Series("b", "best feasible"), stopped, "red")]
    assert [one.words for one in labels_of(lines, log=True)[0]] == ["current"]


def test_words_that_stand_above_their_lines_are_clear_of_each_other() -> None:
    lines = [(Series("a", "measured"), FALLING, "red"), (BOUND, np.full(60, 1.0), "grey")]
    (low, high), span = labels_of(lines, log=True)
    assert np.log10(high.height / low.height) >= 0.089 * span
    upper = (Series("b", "theory"), 12.0 * FALLING, "red")
    (low, high), span = labels_of([lines[0], upper], log=True)
    assert (high.words, high.below) == ("theory", False)
    assert np.log10(high.height / low.height) >= 0.089 * span, "one that would stand below its line, too"


def test_a_word_stands_below_a_level_line_at_the_top_and_not_on_the_title() -> None:
    low, high = Series("a", "low"), Series("b", "high")
    level = np.append(np.geomspace(1.0, 100.0, 30), np.geomspace(100.0, 105.0, 30))
    (_, top), _ = labels_of([(low, np.ones(60), "red"), (high, level, "red")], log=True)
    assert (top.words, top.below) == ("high", True)
    (_, rising), _ = labels_of([(low, np.ones(60), "red"), (high, FALLING[::-1], "red")], log=True)
    assert not rising.below, "it would stand on the line"
