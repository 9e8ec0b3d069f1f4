"""The curves of profiles: their corners by hand, and which runs a click means."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.benchmark.profiles import profile_of, staircase
from zoviz.views.benchmark.profile_plots import ProfilePlot

COST = np.array([[[1.0], [4.0]], [[2.0], [np.inf]]])  # A solves P at 1 and Q at 2, B P at 4 alone


@pytest.fixture
def picked() -> list[tuple[str, list[tuple[str, int]]]]:
    return []


@pytest.fixture
def plot(picked: list[tuple[str, list[tuple[str, int]]]]) -> ProfilePlot:
    plot = ProfilePlot("data", lambda what, runs: picked.append((what, runs)))
    plot.update(profile_of(("A", "B"), ("P", "Q"), COST))
    return plot


def test_corners_by_hand() -> None:
    x, y = staircase(np.array([1.0, 2.0]), np.array([0.5, 1.0]), 0.1, 9.0)
    np.testing.assert_array_equal(x, [0.1, 1.0, 1.0, 2.0, 2.0, 9.0])
    np.testing.assert_array_equal(y, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0])


def test_curves_and_bands(plot: ProfilePlot) -> None:
    assert plot.lines.data["solver"] == ["A", "B"] and plot.lines.data["ys"][1][-1] == 0.5
    assert not plot.bands.data["xs"]
    plot.update_bands()
    upper = plot.bands.data["ys"][0][60:]
    assert len(plot.bands.data["xs"]) == 2 and upper.max() == 1.0
    plot.update(None)
    assert not plot.lines.data["xs"] and not plot.bands.data["xs"]


@pytest.mark.parametrize(
    "place, step",
    [((1.9, 0.5), ("A", 2.0)), ((1.1, 0.5), ("A", 1.0)), ((4.5, 0.5), ("B", 4.0)), ((0.0, 0.5), None)],
)
def test_a_click_means_the_step_next_to_it(
    plot: ProfilePlot, place: tuple[float, float], step: tuple[str, float] | None
) -> None:
    assert plot.step_near(*place) == step


def test_a_click_leads_to_the_runs(plot: ProfilePlot, picked: list[tuple[str, list[tuple[str, int]]]]) -> None:
    from bokeh.events import Tap

    plot.tapped(Tap(plot.figure, x=1.9, y=0.52))
    assert picked == [("A at 2", [("Q", 0)])]
