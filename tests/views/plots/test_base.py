"""Legends that leave the plot its room, and ranges that references do not stretch."""

from __future__ import annotations

import numpy as np

from zoviz import Run
from zoviz.problems import NonconvexQCQP, StochasticQP, WeldedBeam
from zoviz.solvers import ZOCEG, ZOSPLM, SmoothedALM
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.plots.base import LONGEST, columns_of, shortened
from zoviz.views.plots.board import Board


def board_of(*runs: Run) -> Board:
    shown = ShownRuns()
    for run in runs:
        run.run()
        shown.put(run)
    board = Board(shown)
    board.refresh()
    return board


def test_many_components_of_one_column_have_one_entry() -> None:
    board = board_of(Run(WeldedBeam(), ZOCEG(), replicas=1, iterations=3))
    duals = next(view for view in board.views if type(view).__name__ == "Duals")
    legend = duals.figure.above[0]
    assert [item.label.value for item in legend.items] == ["y1 to y7"]
    assert len(legend.items[0].renderers) == 14, "a line and a band each: a click hides all"


def test_a_bound_that_is_far_off_does_not_stretch_the_axis() -> None:
    board = board_of(Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=2, iterations=3))
    variance = next(view for view in board.views if type(view).__name__ == "Variance")
    columns = {renderer.glyph.y for renderer in variance.figure.y_range.renderers if hasattr(renderer.glyph, "y")}
    drawn = {renderer.glyph.y for renderer in variance.renderers if hasattr(renderer.glyph, "y")}
    assert columns < drawn and not any("bound" in name for name in columns), (columns, drawn)


def test_long_names_are_shortened_in_the_middle_and_stand_below_each_other() -> None:
    names = [f"ZO-Adam, ZO-AdaMM (single-level, with a long title) #{i}" for i in (1, 2)]
    assert all(len(shortened(name)) == LONGEST for name in names) and len({shortened(name) for name in names}) == 2
    assert shortened("current") == "current"
    assert columns_of(names) == 1 and columns_of(["current", "best feasible"]) == 2 and columns_of([]) == 1
    assert np.all([columns_of(["a"] * count) <= count for count in range(1, 9)])


def test_a_plot_whose_lines_have_no_value_leaves_the_page() -> None:
    solver = SmoothedALM()
    board = board_of(Run(StochasticQP(n=8), solver, replicas=1, iterations=3))
    (entry,) = board.runs_shown.runs.values()
    columns = entry.run.trace.snapshot().columns
    assert np.isnan(columns["variance"]).all() and np.isfinite(columns["objective"]).all()
    visible = {type(view).__name__ for view in board.visible_plots}
    assert "Variance" not in visible and {"Stationarity", "Violation"} <= visible
