"""Figures of a measure over replicas, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.views.compare.distributions import Distributions, Sample, shares_reached
from zoviz.views.compare.value_axis import value_axis


def test_what_failed_never_counts() -> None:
    values = np.array([0.0, 1e-3, np.inf, 1e-1])
    axis = value_axis(values, True)
    x, y = shares_reached(values, axis)
    np.testing.assert_allclose(x, [axis.zero, -3.0, -1.0])
    np.testing.assert_allclose(y, [0.25, 0.5, 0.75])


def test_each_replica_is_a_point_and_each_run_a_staircase() -> None:
    figures = Distributions("gap", True, ["a", "b"])
    figures.update([Sample("a", "#000000", np.array([1.0, 10.0, np.inf])), Sample("b", "#ffffff", np.full(3, np.inf))])
    points, steps = figures.points.data, figures.steps.data
    assert list(points["run"]) == ["a", "a"] and list(points["y"]) == [0.0, 1.0] and list(points["replica"]) == [0, 1]
    assert steps["ys"][0][-1] == pytest.approx(2 / 3) and steps["ys"][1][-1] == 0.0
    assert len(steps["xs"][0]) == len(steps["ys"][0])


def test_zero_has_a_tick_below_a_break_on_both_figures_and_goes_with_its_replicas() -> None:
    figures = Distributions("gap", True, ["a"])
    figures.update([Sample("a", "#000000", np.array([0.0, 1e-5, 1e-2]))])
    rows, columns = figures.replicas, figures.shares
    for axis, ends in ((rows.yaxis[0], rows.y_range), (columns.xaxis[0], columns.x_range)):
        labels = axis.major_label_overrides
        assert labels[axis.ticker.ticks[0]] == "0" and ends.start < axis.ticker.ticks[0] < -5.0
        assert "1e-16" not in labels.values()
    assert min(figures.points.data["y"]) == figures.axis.zero
    figures.update([Sample("a", "#000000", np.array([1e-4, 1e-5, 1e-2]))])
    assert "0" not in figures.replicas.yaxis[0].major_label_overrides.values()
