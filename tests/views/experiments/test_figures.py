"""Figures whose curves are picked by a click near them, or on their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.events import LegendItemClick, Tap

from helpers.panels import FALLING
from zoviz.studies.experiment import Panel
from zoviz.views.experiments.figures import PanelFigure, distance, experiment_figures


@pytest.fixture
def picked() -> list[tuple[int, str]]:
    """What is picked."""
    return []


@pytest.fixture
def drawn(picked: list[tuple[int, str]]) -> PanelFigure:
    """A figure of two curves."""
    return PanelFigure(FALLING, 3, lambda number, name: picked.append((number, name)))


def test_the_nearest_curve_is_picked_on_the_axes_of_the_figure(drawn: PanelFigure) -> None:
    assert drawn.line_near(10.0, 0.1) == drawn.line_near(30.0, 0.033) == "ours"
    assert drawn.line_near(30.0, 0.95) == "claimed"
    assert drawn.line_near(2.0, 0.011) is None and drawn.line_near(-1.0, 1.0) is None


def test_a_click_near_a_curve_or_on_its_name_picks_it(drawn: PanelFigure, picked: list[tuple[int, str]]) -> None:
    figure: Any = drawn.figure
    drawn.tapped(Tap(figure, x=10.0, y=0.1))
    drawn.tapped(Tap(figure, x=2.0, y=0.011))
    legend = figure.legend[0]
    drawn.listed(LegendItemClick(legend, item=legend.items[-1]))
    assert picked == [(3, "ours"), (3, "claimed")]


def test_a_distance_is_to_the_line_between_points() -> None:
    line = np.array([[0.0, 0.0], [np.nan, 0.5], [1.0, 0.0]])
    assert distance(line, np.array([0.5, 0.2])) == pytest.approx(0.2), "a gap is bridged"
    assert distance(line, np.array([2.0, 0.0])) == pytest.approx(1.0)
    assert distance(line[:1], np.array([0.0, 3.0])) == pytest.approx(3.0)
    assert distance(line[1:2], np.zeros(2)) == distance(line, np.array([np.nan, 0.0])) == np.inf


def test_what_has_no_place_on_a_logarithmic_axis_is_a_gap() -> None:
    lines = {"error": ([0.0, 1.0, 2.0, 3.0], [1.0, 1e-4, 1e-6, 0.0]), "none": ([1.0, 2.0], [None, 0.0])}
    panel = Panel("Errors", "round", "error", lines, log_x=True, log_y=True)  # type: ignore[arg-type]
    ((figure, *_),) = experiment_figures([panel]).children
    first = figure.renderers[0].data_source.data["y"]
    assert np.isfinite(first).tolist() == [True, True, True, False]
