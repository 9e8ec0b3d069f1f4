"""Runs on the plots: those of other problems are hidden, each has a dash, and one that lies on another is told of."""

from __future__ import annotations

import pytest

from zoviz import Run
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOCEG, ZOSPLM, Solver
from zoviz.views.common.shown_runs import DASHES, ShownRuns, problem_identity
from zoviz.views.plots.board import Board


def ended(problem: Problem | None = None, solver: Solver | None = None, seed: int = 0) -> Run:
    run = Run(problem or NonconvexQCQP(n=4), solver or ZOSPLM(primal_step=1e-3), replicas=2, iterations=8, seed=seed)
    run.run()
    return run


@pytest.fixture(scope="module")
def first() -> Run:
    return ended()


def test_a_run_of_another_problem_hides_the_runs_before_it_until_it_is_asked_for(first: Run) -> None:
    runs = ShownRuns()
    old, also = runs.put(first), runs.put(ended(seed=1))
    new = runs.put(ended(LoadTracking(n=4), ZOCEG()))
    assert [entry.visible for entry in runs.runs.values()] == [False, False, True] and runs.problems == 1
    runs.reveal(also.key, True)
    assert runs.problems == 2 and not runs.runs[old.key].visible and runs.runs[new.key].visible


def test_problems_are_one_where_class_and_parameters_are() -> None:
    assert problem_identity(NonconvexQCQP(n=4)) == problem_identity(NonconvexQCQP(n=4))
    assert problem_identity(NonconvexQCQP(n=4)) != problem_identity(NonconvexQCQP(n=4, seed=3))


def test_runs_differ_in_colour_and_dash_and_a_free_dash_is_used_again(first: Run) -> None:
    runs = ShownRuns()
    entries = [runs.put(first) for _ in range(3)]
    assert len({one.colour for one in entries}) == 3 and [one.dash for one in entries] == list(DASHES[:3])
    runs.take_off(entries[1].key)
    assert runs.put(first).dash == DASHES[1]


def test_a_replay_says_that_it_lies_on_its_original(first: Run) -> None:
    replay = first.replay()
    replay.run()
    runs = ShownRuns()
    entries = [runs.put(run) for run in (first, replay, ended(seed=1))]
    covered = [runs.lies_on(entry) for entry in entries]
    assert covered[0] is None and covered[2] is None and covered[1] is not None and covered[1].key == entries[0].key
    board = Board(runs)
    for _ in range(3):
        board.refresh()
    legend = next(model for model in board.views[0].figure.above if hasattr(model, "items"))
    labels = [item.label.value for item in legend.items]
    assert f"{entries[1].name} (lies on {entries[0].name})" in labels and entries[0].name in labels
    dashes = {
        str(glyph.line_dash) for glyph in (r.glyph for r in board.views[0].renderers) if hasattr(glyph, "line_dash")
    }
    assert len(dashes) >= 3, "and both are seen"


def test_different_problems_share_the_relative_gap_and_are_named(first: Run) -> None:
    board = Board()
    old = board.runs_shown.put(first)
    board.runs_shown.put(ended(LoadTracking(n=4), ZOCEG()))
    board.refresh()
    gaps = {type(view).__name__: view for view in board.views}
    assert gaps["Gap"] in board.visible_plots and gaps["RelativeGap"] not in board.visible_plots
    board.runs_shown.reveal(old.key, True)
    board.refresh()
    assert gaps["RelativeGap"] in board.visible_plots and gaps["Gap"] not in board.visible_plots
    legend = next(model for model in gaps["RelativeGap"].figure.above if hasattr(model, "items"))
    labels = " ".join(item.label.value for item in legend.items)
    assert "Nonconvex QCQP" in labels and "Load tracking" in labels
