"""Runs on the plots: those of other problems are hidden, and each keeps a colour of its own."""

from __future__ import annotations

import pytest

from zoviz import Run
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOCEG, ZOSPLM, Solver
from zoviz.views.common.colours import PALETTE
from zoviz.views.common.shown_runs import ShownRuns, problem_identity
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


def test_a_run_keeps_its_colour_whatever_comes_and_goes(first: Run) -> None:
    runs = ShownRuns()
    entries = [runs.put(first) for _ in range(3)]
    assert [one.colour for one in entries] == list(PALETTE[:3])
    runs.take_off(entries[1].key)
    later = [runs.put(first) for _ in range(6)]
    assert later[0].colour == PALETTE[3], "not that of the run before, which a person still has in mind"
    assert len({one.colour for one in runs.runs.values()}) == len(PALETTE), "the eighth takes the one that is free"
    assert [runs.runs[one.key].colour for one in entries[::2]] == [PALETTE[0], PALETTE[2]]
    assert runs.put(first).colour in PALETTE, "and a ninth one shares"


def test_the_lines_of_runs_are_solid(first: Run) -> None:
    board = Board()
    for _ in range(2):
        board.runs_shown.put(first)
    board.refresh()
    lines = [one.glyph for view in board.views for one in view.renderers if hasattr(one.glyph, "line_dash")]
    assert len(lines) > 10 and all(list(glyph.line_dash) == [] for glyph in lines)


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
    names = " ".join(one.name for one in gaps["RelativeGap"].renderers if one.name)
    assert "Nonconvex QCQP" in names and "Load tracking" in names


def test_pictures_are_of_the_newest_visible_run() -> None:
    runs = ShownRuns()
    assert runs.pictured == (None, "")
    entries = [runs.put(ended(seed=seed)) for seed in (0, 1)]
    assert runs.pictured == (entries[1].run, entries[1].name)
    runs.reveal(entries[1].key, False)
    assert runs.pictured == (entries[0].run, entries[0].name), "never of a hidden one"
    runs.take_off(entries[0].key)
    assert runs.pictured == (None, "")


def test_a_run_has_its_number_again_with_name_and_colour(first: Run) -> None:
    runs = ShownRuns()
    third, first_one = runs.put(first, number=3), runs.put(first, number=1)
    assert (third.name, third.colour, third.number) == ("ZO-SPLM #3", PALETTE[2], 3)
    assert (first_one.key, first_one.colour) == ("run1", PALETTE[0])
    assert runs.put(first).number == 4, "the next goes on from the highest"
    assert runs.put(first, number=3).key == "run5" and len(runs.runs) == 4, "one that is taken is not taken twice"
