"""Words beside the ends of lines: only where the axis reaches, and clear of all lines and of each other."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.views.plots.line_data import Series
from zoviz.views.plots.line_labels import LETTER, Layout, LineLabels, Path
from zoviz.views.plots.packed_source import Sources

FALLING = np.geomspace(1e4, 1e-2, 60)
HALF_WORD = 0.044


def path(label: str, values: Array, until: float = 1.0, colour: str = "red", muted: bool = False) -> Path:
    ends = (float(np.nanmin(values)), float(np.nanmax(values)))
    return Path(Series(label, label, muted=muted), colour, np.linspace(0.0, until, values.size), values, ends)


def words(layout: Layout) -> list[str]:
    return [one.words for one in layout.labels]


def assert_clear(layout: Layout, *paths: Path) -> None:
    """No word may lie on a line or on another word."""
    assert layout.labels
    for one in layout.labels:
        middle, begin = np.log10(one.height), one.place - LETTER * len(one.words)
        for line in paths:
            values = np.log10(line.values)
            along = np.linspace(begin, one.place, 200)
            between = np.interp(along, line.places, values, left=np.nan, right=np.nan)
            assert not (np.abs(between - middle) < HALF_WORD * layout.span).any(), (one, line.series.label)
    heights = [np.log10(one.height) for one in layout.labels]
    assert (np.diff(heights) > 2.0 * HALF_WORD * layout.span).all()


def test_a_reference_beyond_the_axis_has_no_word() -> None:
    line = path("measured", FALLING)
    seen, unseen = (path("bound", np.full(60, at), colour="grey", muted=True) for at in (10.0, 1e-5))
    assert words(Layout([line, seen], [], log=True)) == ["measured", "bound"]
    assert words(Layout([line, unseen], [], log=True)) == ["measured"]


@pytest.mark.parametrize("label", ["now", "measured", "measured, theory (r to 0)", "an even longer name of one line"])
@pytest.mark.parametrize("end", [0.3, 1.0])
def test_no_word_lies_on_a_line_whatever_its_length_and_wherever_the_line_ends(label: str, end: float) -> None:
    noisy = FALLING * np.exp(np.random.default_rng(0).normal(0.0, 0.3, 60))
    lines = [path(label, noisy, end), path("upper", 1e6 * FALLING, end)]
    assert_clear(Layout(lines, [], log=True), *lines)


def test_no_word_lies_on_a_line_of_another_run() -> None:
    lines = [path("low", FALLING), path("high", 1e5 * FALLING)]
    alone = Layout(lines, [], log=True)
    beneath = path("", np.full(60, alone.labels[1].height), colour="blue")
    both = Layout(lines, [beneath], log=True)
    assert_clear(both, *lines, beneath)
    assert both.labels[1].height != alone.labels[1].height


def test_words_stand_where_their_line_ends_and_within_the_frame() -> None:
    lines = [path("low", FALLING, 0.5), path("high", 1e5 * FALLING, 0.5)]
    layout = Layout(lines, [], log=True)
    assert [one.place for one in layout.labels] == pytest.approx([0.5 + 4 * LETTER, 0.5 + 5 * LETTER]), "after the end"
    assert layout.labels[1].height == pytest.approx(1e3), "and beside it"
    late = [path("low", FALLING, 0.99), path("high", 1e5 * FALLING, 0.99)]
    assert [one.place for one in Layout(late, [], log=True).labels] == [1.0, 1.0]


def test_ends_that_are_near_have_one_label_and_one_line_alone_none() -> None:
    two = [path("measured", FALLING), path("theory", 1.1 * FALLING)]
    assert words(Layout(two, [], log=True)) == ["measured, theory"]
    assert words(Layout(two[:1], [], log=True)) == []


def test_a_line_that_stops_early_has_no_word_at_a_height_that_is_past() -> None:
    stopped = np.where(np.arange(60) < 30, FALLING, np.nan)
    assert words(Layout([path("current", FALLING), path("best", stopped)], [], log=True)) == ["current"]


def test_a_word_stays_within_the_axis() -> None:
    level = np.append(np.geomspace(1.0, 100.0, 30), np.geomspace(100.0, 105.0, 30))
    top = Layout([path("low", np.ones(60)), path("high", level)], [], log=True).labels[1]
    assert top.words == "high" and top.height < 105.0


def test_a_word_is_nearer_to_its_own_line_than_to_another() -> None:
    falls = [path(label, top * FALLING**0.5) for label, top in (("theory (r to 0)", 1.0), ("measured", 3.0))]
    lines = [*falls, path("bound", np.full(60, 3.0), colour="grey", muted=True)]
    layout, nearest = Layout(lines, [], log=True), list[int]()
    for label in layout.labels:
        along = np.linspace(label.place - LETTER * len(label.words), label.place)
        away = [np.abs(np.interp(along, one.places, np.log10(one.values)) - np.log10(label.height)) for one in lines]
        nearest.append(int(np.argmin([one.min() for one in away])))
    assert nearest == [0, 1, 2]


def test_words_are_as_high_as_the_whole_axis_makes_them() -> None:
    lines = [path("low", np.full(60, 1.0)), path("high", np.full(60, 1.3))]
    wide = [one._replace(reach=(0.1, 10.0)) for one in lines]
    for drawn, floor in ((lines, None), (wide, None), (wide, 1e-2)):
        layout = Layout(drawn, [], log=True, floor=floor)
        assert_clear(layout, *drawn)
    assert layout.span == pytest.approx(3.0), "with the band, and the strip of zeros"


def test_a_word_stays_where_it_is_while_there_is_room() -> None:
    lines = [path("low", FALLING), path("high", 1e5 * FALLING)]
    first = Layout(lines, [], log=True)
    moved = [one._replace(values=np.append(one.values[1:], 1.1 * one.values[-1])) for one in lines]
    again = Layout(moved, [], log=True, before=first.offsets)
    assert again.offsets == first.offsets != Layout(moved, [], log=True).offsets


def test_a_word_that_had_to_stand_far_from_its_line_comes_back() -> None:
    lines = [path("low", FALLING), path("high", 1e5 * FALLING)]
    fresh = Layout(lines, [], log=True).offsets
    far = {words: offset + np.copysign(0.2, offset) for words, offset in fresh.items()}
    assert Layout(lines, [], log=True, before=far).offsets == fresh


def test_a_word_begins_at_its_line_and_at_the_right_edge_ends_there() -> None:
    labels = LineLabels(Sources())
    labels.show([path("low", FALLING, 0.5), path("high", 1e5 * FALLING, 0.5)], [], log=True)
    assert labels.source.data["x"] == pytest.approx([0.5, 0.5]) and labels.source.data["side"] == ["left", "left"]
    labels.show([path("low", FALLING), path("high", 1e5 * FALLING)], [], log=True)
    assert labels.source.data["x"] == [1.0, 1.0] and labels.source.data["side"] == ["right", "right"]
