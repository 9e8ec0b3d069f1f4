"""How few Bokeh models the plots have: before a run, with its first lines, and with what these come to need."""

from __future__ import annotations

from collections import Counter

import pytest
from bokeh.models import GlyphRenderer, Range1d

from zoviz import Run
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.views.plots.board import Board


def ended(problem: object = None, **settings: int) -> Run:
    run = Run(problem or LoadTracking(n=5), ZOCEG(), replicas=2, **{"iterations": 5, **settings})
    run.run()
    return run


def models(board: Board) -> Counter[str]:
    """The models that the figures on the page have, by type."""
    figures = [view.figure for view in board.visible_plots]
    found = {model.id: type(model).__name__ for figure in figures for model in figure.references()}
    return Counter(found.values())


def test_plots_without_a_run_have_axes_and_nothing_else() -> None:
    board = Board()
    kinds = models(board)
    assert [type(view).__name__ for view in board.visible_plots] == ["Gap", "Violation", "Stationarity", "Variance"]
    assert kinds["GlyphRenderer"] == kinds["HoverTool"] == kinds["BoxZoomTool"] == 0
    assert kinds["Title"] == 2 * kinds["Grid"] == 8 and kinds["AllLabels"] == kinds["LogScale"] == 1
    assert sum(kinds.values()) <= 60, kinds
    assert board.views[0].figure.toolbar_location is None


def test_what_all_figures_can_share_is_there_once_whatever_runs_there_are() -> None:
    board = Board()
    for _ in range(2):
        board.runs_shown.put(ended())
        board.refresh()
    kinds = models(board)
    assert kinds["Selection"] == kinds["UnionRenderers"] == kinds["AllIndices"] == kinds["CrosshairTool"] == 1
    assert kinds["WheelZoomTool"] == kinds["CustomJSHover"] == 1
    assert kinds["HoverTool"] == kinds["BoxZoomTool"] == kinds["PanTool"] == len(board.visible_plots)
    assert kinds["CDSView"] == len({one.data_source.id for one in renderers(board)})


def renderers(board: Board) -> list[GlyphRenderer]:
    return [one for view in board.visible_plots for one in view.figure.renderers]


def drawn(board: Board, name: str) -> set[str]:
    """The columns that are drawn on a plot as lines or points."""
    view = next(view for view in board.views if type(view).__name__ == name)
    return {one.glyph.y for one in view.renderers if isinstance(getattr(one.glyph, "y", None), str)}


def test_zeros_are_drawn_once_there_are_some() -> None:
    board = Board()
    board.runs_shown.put(ended(NonconvexQCQP(n=4)))
    board.refresh()
    assert drawn(board, "Gap") == {"gap", "best_gap"}, "no point is alone, and none at the optimum"
    problem = BlackBox(
        lambda x: (float(x @ x), [abs(x[0]) - 1.0]), bounds=[(-3.0, 3.0)] * 2, x0=[2.0, 2.0], joint=True, m=1
    )
    other = Run(problem, ZOCEG(), replicas=1, iterations=40, seed=0)
    other.run()
    board.runs_shown.put(other)
    board.refresh()
    assert "violation.zero" in drawn(board, "Violation")


@pytest.mark.parametrize("kind", ["marks", "targets", "phases"])
def test_marks_of_a_kind_come_with_the_first_of_them(kind: str) -> None:
    board = Board()
    run = Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=1, iterations=6)
    board.runs_shown.put(run)
    run.run()
    board.refresh()
    of_kind = lambda: [one for one in renderers(board) if one.data_source.name == kind]  # noqa: E731
    assert of_kind() == []
    for view in board.visible_plots:
        view.show_marks(kind)
    assert len(of_kind()) == 2 * len(board.visible_plots) + (kind == "marks"), "line and head, once a label"


def test_ranges_are_left_to_the_browser() -> None:
    board = Board()
    figures = [view.figure for view in board.views if view.has_figure]
    (x_range,) = {figure.x_range for figure in figures}
    assert type(x_range) is Range1d and not x_range.syncable and x_range.tags == figures
    assert all(type(one.y_range) is Range1d and not one.y_range.syncable for one in figures)
    before = x_range.name
    board.axis = "iteration"
    board.refresh()
    assert x_range.name != before, "on another axis it follows the lines again"
    for figure in figures:
        assert {"change:renderers", "change:inner_height"} <= figure.js_property_callbacks.keys()
