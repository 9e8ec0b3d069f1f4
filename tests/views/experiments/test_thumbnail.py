"""Small drawings of panels."""

from __future__ import annotations

import re

import numpy as np

from helpers.panels import FALLING
from zoviz.studies.experiment import Panel
from zoviz.views.common.colours import PALETTE, REFERENCE
from zoviz.views.experiments.thumbnail import HEIGHT, WIDTH, inks, placed, thumbnail


def points(svg: str) -> list[list[tuple[float, ...]]]:
    lines = re.findall(r"points='([^']*)'", svg)
    return [[tuple(float(one) for one in pair.split(",")) for pair in line.split()] for line in lines]


def test_lines_fill_the_box_on_the_axes_of_the_panel() -> None:
    ours, claimed = points(thumbnail(FALLING))
    assert ours == [(0, 0), (WIDTH / 2, HEIGHT / 2), (WIDTH, HEIGHT)], "straight on logarithmic axes"
    assert claimed == [(0, 0), (WIDTH, 0)]
    assert inks(FALLING) == [PALETTE[0], REFERENCE], "what is claimed is grey"
    assert inks(FALLING._replace(parts={})) == list(PALETTE[:2])


def test_what_has_no_place_on_a_logarithmic_axis_is_left_out() -> None:
    np.testing.assert_array_equal(placed([100.0, 0.0, -1.0], True), [2.0, np.nan, np.nan])
    gaps = Panel("", "", "", {"a": ([1.0, 2.0, 3.0], [1.0, None, 0.0])}, log_y=True)  # type: ignore[list-item]
    assert [len(line) for line in points(thumbnail(gaps))] == [1]
    nothing = Panel("", "", "", {"a": ([1.0], [0.0])}, log_y=True)
    assert points(thumbnail(nothing)) == [[]]
