"""What is written on a plot, which has no legend, and ranges that references do not stretch."""

from __future__ import annotations

import numpy as np
from bokeh.models.annotations import Legend, Title

from zoviz import Run
from zoviz.problems import NonconvexQCQP, SpeedReducer, StochasticQP, WeldedBeam
from zoviz.runs.engine.trace import Snapshot
from zoviz.solvers import ZOCEG, ZOSPLM, ZOSQP, SmoothedALM
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.plots.board import Board
from zoviz.views.plots.catalogue.regret import Regret
from zoviz.views.plots.catalogue.variance import Variance
from zoviz.views.plots.line_data import out_of_range


def board_of(*runs: Run) -> Board:
    shown = ShownRuns()
    for run in runs:
        run.run()
        shown.put(run)
    board = Board(shown)
    board.refresh()
    return board


def words_on(board: Board, name: str) -> list[str]:
    """What is written beside the lines of a plot, from the lowest to the highest."""
    view = next(view for view in board.views if type(view).__name__ == name)
    return [] if view.labels is None else list(view.labels.source.data["text"])


def test_plots_have_no_legend_and_each_of_several_lines_is_named_at_its_end() -> None:
    board = board_of(Run(WeldedBeam(), ZOCEG(), replicas=1, iterations=3), Run(WeldedBeam(), ZOSQP(), iterations=3))
    figures = [view.figure for view in board.views if view.has_figure]
    assert len(figures) > 4 and not any(isinstance(one, Legend) for fig in figures for one in fig.references())
    components = ", ".join(words_on(board, "Duals")).split(", ")
    assert sorted(components) == [f"y{i}" for i in range(1, 8)], "those of the newest run, near ones in one label"
    assert words_on(board, "Violation") == [], "a single line needs none"


def notes_of(board: Board, name: str) -> str:
    view = next(view for view in board.views if type(view).__name__ == name)
    return next(one.text for one in view.figure.below if isinstance(one, Title))


def test_a_note_says_of_a_bound_that_it_is_far_off() -> None:
    board = board_of(Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=2, iterations=3))
    # The one of paper splm vanishes with the radius, which the variance does not.
    assert "bound splm (5) ↓" in notes_of(board, "Variance")
    near = Snapshot({"variance": np.array([[1.0], [9.0]]), "bound: b": np.array([[4.0], [4.0]])}, 2, 0)
    lines = [(near, one) for one in Variance().series(near.columns)]
    assert out_of_range(lines, True) == {}
    for value, where in ((1e-4, "↓"), (1e4, "↑"), (np.nan, "–")):
        near.columns["bound: b"][:] = value
        assert out_of_range(lines, True) == {"bound b": where}


def test_a_method_without_an_archive_has_a_line_that_says_so() -> None:
    """Without noise ZOSQP's models rest on differences: 0 points, which stand below a logarithmic axis."""
    board = board_of(Run(WeldedBeam(), ZOSQP(), replicas=1, iterations=5))
    archive = next(view for view in board.views if type(view).__name__ == "Archive")
    assert archive.figure.title.text.endswith("0: none")
    columns = {renderer.glyph.y for renderer in archive.renderers if hasattr(renderer.glyph, "y")}
    assert columns == {"archive", "starts", "archive.zero", "starts.zero"}


def test_the_hypergradient_is_measured_and_stays_in_sight() -> None:
    view = Regret()
    assert not any(line.muted for line in view.series({name: np.ones((1, 1)) for name in ("regret", "hypergradient")}))


def test_a_bound_that_is_far_off_does_not_stretch_the_axis() -> None:
    board = board_of(Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=2, iterations=3))
    variance = next(view for view in board.views if type(view).__name__ == "Variance")
    followed = {name for renderer in variance.figure.renderers for name in renderer.tags}
    drawn = {renderer.glyph.y for renderer in variance.renderers if hasattr(renderer.glyph, "y")}
    assert {"variance", "variance.low", "variance.high", "variance.zero"} <= followed
    assert not any("bound" in name for name in followed) and any("bound" in name for name in drawn), (followed, drawn)


def test_a_plot_whose_lines_have_no_value_leaves_the_page() -> None:
    solver = SmoothedALM()
    board = board_of(Run(StochasticQP(n=8), solver, replicas=1, iterations=3))
    (entry,) = board.runs_shown.runs.values()
    columns = entry.run.trace.snapshot().columns
    assert np.isnan(columns["variance"]).all() and np.isfinite(columns["objective"]).all()
    visible = {type(view).__name__ for view in board.visible_plots}
    assert "Variance" not in visible and {"Stationarity", "Violation"} <= visible


def test_another_axis_keeps_the_figures_and_other_scales_make_new_ones() -> None:
    """New figures take a browser a second, in which the page says that they are on their way."""
    board = board_of(Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=2, iterations=3))
    grid = board.__panel__()
    (entry,) = board.runs_shown.runs.values()
    before = [view.figure for view in board.views if view.has_figure]
    board.axis = "iteration"
    assert not grid.loading
    board.refresh()
    after = [view.figure for view in board.views if view.has_figure]
    assert all(old is new for old, new in zip(before, after, strict=True))
    assert {figure.xaxis[0].axis_label for figure in after} == {"iterations"}
    board.refresh()
    source = after[0].renderers[-1].data_source
    np.testing.assert_array_equal(source.data["x"], entry.run.trace["iteration"])
    board.log_x = True
    assert grid.loading
    board.refresh()
    assert not grid.loading and board.views[0].figure is not before[0]


def test_titles_say_that_the_best_is_below_the_optimum_and_that_there_is_no_variance() -> None:
    board = board_of(Run(SpeedReducer(), ZOCEG(), replicas=2, iterations=200))
    titles = {type(view).__name__: view.figure.title.text for view in board.views if view.has_figure}
    assert titles["Gap"].startswith("Objective gap   best: ") and titles["Gap"].endswith("below f*")
    assert "0: none" in titles["Variance"] or titles["Variance"].endswith("0 throughout")
