"""Zeros on a logarithmic axis: a strip below a break, the same on the page, in print and in a notebook."""

from __future__ import annotations

import re

import holoviews as hv
import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.engine.trace import Snapshot
from zoviz.solvers import ZOCEG
from zoviz.views.common.log_axis import LANES, lane
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.board import Board
from zoviz.views.plots.line_data import LineData, Series, line_data, strip_for, with_strips
from zoviz.views.plots.paper_figure import PaperFigure
from zoviz.views.plots.static import convergence

LINE = Series("gap", "current", zeros=True)


def data_of(values: list[float], line: Series = LINE, number: int = 0) -> LineData:
    """What is drawn of a run of one replica with these values."""
    columns = {"iteration": np.arange(len(values), dtype=float), "gap": np.array(values, dtype=float)[:, None]}
    return line_data(Snapshot(columns, len(values), 0), [line], "iteration", "none", False, True, lane(number))


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 1e-3, 0.0, 1e-9, 0.0],
        [0.5, 0.0],
        [1e-300, 1e-20, 0.0],
        [3.0, 2.9, 0.0, 3.1],
        [1e9, 1e-9, 0.0],
        [1.0, -1e-7, 0.0],
    ],
)
def test_zeros_lie_below_a_break_below_all_else(values: list[float]) -> None:
    data = data_of(values)
    strip = strip_for([(data, [LINE])])
    assert strip is not None
    columns = with_strips(data, [LINE], {"gap": strip}).columns()
    above, zeros = columns["gap"], columns["gap.zero"]
    least, most = np.nanmin(np.where(above > 0, above, np.nan)), np.nanmax(above)
    zero = np.isfinite(zeros)
    assert zero[np.array(values) == 0.0].all()
    assert 0.0 < strip.bottom < np.nanmin(zeros) <= np.nanmax(zeros) < strip.top < least
    np.testing.assert_allclose(zeros[zero], strip.tick, rtol=1e-6)
    shares = np.log10([strip.bottom, strip.top, most])
    height = (shares[1] - shares[0]) / (shares[2] - shares[0])
    assert 0.1 < height < (0.3 if most > least else 0.9), "a strip that is seen, and leaves the room to the lines"


def test_there_is_no_strip_without_zeros_and_one_for_nothing_else() -> None:
    assert strip_for([(data_of([1.0, 0.5]), [LINE])]) is None
    assert strip_for([(data_of([np.nan, np.nan]), [LINE])]) is None
    assert strip_for([]) is None
    only = strip_for([(data_of([0.0, 0.0]), [LINE])])
    assert only is not None and only.empty and only.bottom < only.tick < only.top


def test_several_runs_have_lanes_of_their_own_and_the_strip_stays_while_lines_grow() -> None:
    assert len({lane(k) for k in range(8)}) == len(LANES) and lane(8) == lane(0)
    assert min(LANES) > 0.1 and max(LANES) < 0.9
    strips = {strip_for([(data_of([1.0, 0.0, least]), [LINE])]) for least in np.geomspace(1.1e-4, 1e-4, 20)}
    assert len(strips) <= 2, "not every new value moves it"
    both = [data_of([1.0, 0.0, 1e-6]), data_of([1e3, 0.0], number=1)]
    strip = strip_for([(one, [LINE]) for one in both])
    assert strip is not None and strip.top < 1e-6
    places = [np.nanmax(with_strips(one, [LINE], {"gap": strip}).columns()["gap.zero"]) for one in both]
    assert places[0] != places[1] and all(strip.bottom < place < strip.top for place in places)


def test_a_reference_below_the_break_is_not_drawn_among_the_zeros() -> None:
    bound = Series("gap", "bound", muted=True, zeros=True)
    far = data_of([1e-30, 1.0], bound)
    strip = strip_for([(data_of([1.0, 0.0]), [LINE]), (far, [bound])])
    assert strip is not None and strip.top > 1e-3
    np.testing.assert_array_equal(with_strips(far, [bound], {"gap": strip}).columns()["gap"], [np.nan, 1.0])


def feasible_at_times() -> Run:
    """A run whose violation is 0 after a few steps: the start (2, 2) violates x_1 + x_2 <= 1."""

    def simulate(x: Array) -> tuple[float, list[float]]:
        return float(np.square(x).sum()), [float(x.sum() - 1.0)]

    problem = BlackBox(simulate, bounds=[(-3.0, 3.0)] * 2, x0=[2.0, 2.0], joint=True, m=1, noise="deterministic")
    run = Run(problem, ZOCEG(), replicas=1, iterations=40, seed=0)
    run.run()
    assert (run.trace["violation"] == 0.0).any() and (run.trace["violation"] > 0.0).any()
    return run


@pytest.fixture(scope="module")
def run() -> Run:
    return feasible_at_times()


def view_of(board: Board, name: str) -> PlotView:
    return next(view for view in board.views if type(view).__name__ == name)


def test_the_page_has_a_strip_with_the_tick_0(run: Run) -> None:
    board = Board()
    entry = board.runs_shown.put(run)
    for _ in range(2):
        board.refresh()
    view = view_of(board, "Violation")
    axis, renderers, floor = view.figure.yaxis[0], view.figure.renderers, view.figure.y_range.tags
    (tick,) = axis.major_label_overrides
    assert axis.major_label_overrides[tick] == "0" and "0: feasible" in view.figure.title.text
    strip = axis.ticker.args["strip"]
    assert strip.data["bottom"] < strip.data["tick"] == [tick] and strip.data["tick"] < strip.data["top"]
    assert sum(one.data_source is strip for one in renderers) == 2, "its ground with the break, and the sign of it"
    assert floor == [strip], "the range reaches down to it"
    line = next(one for one in renderers if getattr(one.glyph, "y", "") == "violation.zero")
    np.testing.assert_allclose(np.nanmax(line.data_source.data["violation.zero"]), tick, rtol=1e-6)
    again = run.replay()
    again.run()
    other = board.runs_shown.put(again)
    for _ in range(2):
        board.refresh()
    drawn = [one for one in view.figure.renderers if getattr(one.glyph, "y", "") == "violation.zero"]
    assert len({float(np.nanmax(one.data_source.data["violation.zero"])) for one in drawn}) == 2
    for key in (entry.key, other.key):
        board.runs_shown.reveal(key, False)
    board.refresh()
    board.log_y = False
    board.refresh()
    assert not view_of(board, "Violation").figure.yaxis[0].major_label_overrides


@pytest.mark.parametrize("log_x", [False, True])
def test_print_has_a_strip_with_the_tick_0(run: Run, log_x: bool) -> None:
    pytest.importorskip("matplotlib")
    figure = PaperFigure(run, ["Violation"], log_x=log_x)
    labels = re.findall(r"<!-- (\S+) -->", figure.drawn("svg")["svg"].decode())
    assert labels.count("0") == 1, "no call is at 0"
    assert "Below the break: 0, feasible." in figure.caption
    plain = PaperFigure(run, ["Violation"], log_y=False)
    assert "break" not in plain.caption


def test_a_notebook_has_a_strip_with_the_tick_0(run: Run) -> None:
    figure = hv.render(convergence(run, column="violation"), backend="bokeh")
    axis = figure.yaxis[0]
    ((tick, label),) = axis.major_label_overrides.items()
    assert label == "0" and axis.ticker.args["strip"].data["tick"] == [tick]
    assert figure.y_range.start < tick
    linear = hv.render(convergence(run, column="violation", log_y=False), backend="bokeh")
    assert not linear.yaxis[0].major_label_overrides
