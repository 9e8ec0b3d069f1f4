"""A paper's numbers on the plots: on the plot of their column, never in its range, with the newest run only."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.models import HSpan, VSpan
from bokeh.models import Line as LineGlyph
from bokeh.models.annotations import Title

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.columns import ITERATION, STATIONARITY, VIOLATION
from zoviz.runs.references import Reference
from zoviz.solvers import ZOSPLM
from zoviz.views.common.colours import PRINTED
from zoviz.views.plots.board import Board

LEVEL = Reference(STATIONARITY, "ε = 1", "Table 2", y=(1.0,))
COUNT = Reference(STATIONARITY, "496 iterations", "Table 2", x=(496.0,), axis=ITERATION)
POINTS = Reference(VIOLATION, "two levels", "Table 2", x=(5.0, 20.0), y=(1e9, 1e8), axis=ITERATION)


def finished(iterations: int = 30) -> Run:
    run = Run(problem=NonconvexQCQP(n=5), solver=ZOSPLM(), replicas=2, iterations=iterations)
    run.run()
    return run


@pytest.fixture
def board() -> Board:
    """A board with a run beside which a paper's numbers stand."""
    board = Board(axis=ITERATION)
    board.runs_shown.put(finished(), references=(LEVEL, COUNT, POINTS))
    board.refresh()
    return board


def figure(board: Board, name: str) -> Any:
    return next(view for view in board.views if type(view).__name__ == name).figure


def printed(board: Board, name: str) -> list[Any]:
    """The glyphs of a paper's numbers on a plot."""
    glyphs = [one.glyph for one in figure(board, name).renderers]
    return [one for one in glyphs if getattr(one, "line_color", None) == PRINTED]


def notes(board: Board, name: str) -> list[str]:
    return next(one for one in figure(board, name).below if isinstance(one, Title)).text.split(" · ")


def test_each_line_stands_on_the_plot_of_its_column(board: Board) -> None:
    assert [type(one) for one in printed(board, "Stationarity")] == [HSpan, VSpan]
    assert [type(one) for one in printed(board, "Violation")] == [LineGlyph]
    assert printed(board, "Gap") == printed(board, "Duals") == []


def test_notes_name_them_and_say_where_they_are(board: Board) -> None:
    last = notes(board, "Stationarity")[-2:]
    assert last[0].startswith("paper: ε = 1 (Table 2)") and last[1] == "paper: 496 iterations (Table 2) →"
    assert notes(board, "Violation")[-1] == "paper: two levels (Table 2) ↑"


def test_ranges_are_those_of_what_was_measured(board: Board) -> None:
    for name in ("Stationarity", "Violation"):
        ranged = [one for one in figure(board, name).renderers if one.tags]
        assert ranged and not any(getattr(one.glyph, "line_color", None) == PRINTED for one in ranged)


def test_another_axis_has_only_what_does_not_depend_on_it(board: Board) -> None:
    board.axis = "calls"
    board.refresh()
    assert [type(one) for one in printed(board, "Stationarity")] == [HSpan] and printed(board, "Violation") == []
    assert not any("496" in text for text in notes(board, "Stationarity"))
    board.axis = ITERATION
    board.refresh()
    assert len(printed(board, "Stationarity")) == 2


def test_they_go_with_another_run_and_come_back_when_it_goes(board: Board) -> None:
    other = board.runs_shown.put(finished(20))
    board.refresh()
    assert printed(board, "Stationarity") == [] and board.runs_shown.references == ()
    board.runs_shown.reveal(other.key, False)
    board.refresh()
    assert len(printed(board, "Stationarity")) == 2
    board.runs_shown.take_off("run1")
    board.refresh()
    assert printed(board, "Stationarity") == []


def test_new_scales_make_them_anew(board: Board) -> None:
    board.log_y = False
    board.refresh()
    assert [type(one) for one in printed(board, "Stationarity")] == [HSpan, VSpan]
    assert notes(board, "Violation")[-1].endswith("↑")
