"""Figures of a measure over replicas, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.views.compare.distributions import Distributions, Sample, shares_reached


def test_what_failed_never_counts() -> None:
    x, y = shares_reached(np.array([1e-1, 1e-3, 1e-3]), 4)
    np.testing.assert_allclose(x, [1e-3, 1e-1])
    np.testing.assert_allclose(y, [0.5, 0.75])


def test_each_replica_is_a_point_and_each_run_a_staircase() -> None:
    figures = Distributions("gap", True, ["a", "b"])
    figures.update([Sample("a", "#000000", np.array([1.0, 10.0, np.inf])), Sample("b", "#ffffff", np.full(3, np.inf))])
    points, steps = figures.points.data, figures.steps.data
    assert list(points["run"]) == ["a", "a"] and list(points["y"]) == [1.0, 10.0] and list(points["replica"]) == [0, 1]
    assert steps["ys"][0][-1] == pytest.approx(2 / 3) and steps["ys"][1][-1] == 0.0
    assert len(steps["xs"][0]) == len(steps["ys"][0])


@pytest.mark.parametrize("others", [[], [1e-9, 1e-2], [3.0], [1e6, 2e6]])
def test_zero_has_a_tick_below_a_break_on_both_figures_and_goes_with_its_replicas(others: list[float]) -> None:
    figures = Distributions("gap", True, ["a"])
    figures.update([Sample("a", "#000000", np.array([0.0, np.inf, *others]))])
    rows, columns, strip = figures.replicas, figures.shares, figures.strip
    assert strip is not None
    for axis, ends in ((rows.yaxis[0], rows.y_range), (columns.xaxis[0], columns.x_range)):
        assert axis.major_label_overrides == {strip.tick: "0"} and ends.start < strip.tick < strip.top < ends.end
    places = list(figures.points.data["y"])
    assert places == [strip.tick, *others] and all(strip.top < place <= rows.y_range.end for place in places[1:])
    figures.update([Sample("a", "#000000", np.array([1e-4, 1e-5, 1e-2]))])
    assert not rows.yaxis[0].major_label_overrides and rows.y_range.start < 1e-5 and figures.strip is None


def test_values_of_either_sign_stand_on_a_linear_axis() -> None:
    figures = Distributions("objective", False, ["a"])
    figures.update([Sample("a", "#000000", np.array([-3.0, 0.0, 7.0]))])
    assert list(figures.points.data["y"]) == [-3.0, 0.0, 7.0] and figures.strip is None
    assert figures.replicas.y_range.start < -3.0 and figures.replicas.y_range.end > 7.0
