"""Figures of a measure over replicas, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.views.compare.distributions import Distributions, Sample, drawn, shares_reached, violin


def test_zeros_stand_below_all_others_and_what_failed_never_counts() -> None:
    values = np.array([0.0, 1e-3, np.inf, 1e-1])
    np.testing.assert_allclose(drawn(values, True), [-4.0, -3.0, -1.0])
    x, y = shares_reached(values, True)
    np.testing.assert_allclose(x, [-4.0, -3.0, -1.0])
    np.testing.assert_allclose(y, [0.25, 0.5, 0.75])
    np.testing.assert_array_equal(drawn(np.array([-1.0, 2.0]), False), [-1.0, 2.0])


def test_a_violin_is_symmetric_and_as_wide_as_its_density() -> None:
    x, y = violin(np.array([0.0, 1.0, 2.0]))
    half = x.size // 2
    np.testing.assert_allclose(x[:half], -x[half:][::-1])
    np.testing.assert_allclose(y[:half], y[half:][::-1])
    assert np.abs(x).max() == pytest.approx(0.38) and abs(y[int(np.argmin(x))] - 1.0) < 0.05


def test_each_replica_is_a_point_and_each_run_a_staircase() -> None:
    figures = Distributions("gap", True, ["a", "b"])
    figures.update([Sample("a", "#000000", np.array([1.0, 10.0, np.inf])), Sample("b", "#ffffff", np.full(3, np.inf))])
    points, steps = figures.points.data, figures.steps.data
    assert list(points["run"]) == ["a", "a"] and list(points["y"]) == [0.0, 1.0] and list(points["replica"]) == [0, 1]
    assert steps["ys"][0][-1] == pytest.approx(2 / 3) and steps["ys"][1][-1] == 0.0
    assert len(steps["xs"][0]) == len(steps["ys"][0])
