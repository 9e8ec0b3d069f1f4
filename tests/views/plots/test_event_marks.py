"""Marks of steering, in the words of the form."""

from __future__ import annotations

import pytest

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOBCEG, ZOSPLM
from zoviz.views.common.colours import PALETTE, ink_on
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.plots.board import Board
from zoviz.views.plots.event_marks import STEERING, event_marks, steering_marks
from zoviz.views.plots.line_data import AxisSpan


def test_a_mark_has_the_words_of_the_form() -> None:
    schedule = (Change(3, 0, 0.0, "estimator.batch_size", 20, 30),)
    run = Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=1, iterations=5, schedule=schedule)
    run.run()
    text = event_marks(run, "iteration")["text"]
    assert text[0].startswith("<b>Batch size k</b> 50 → 30<br>iteration 3")
    assert run.solver.label_of("primal_step") == "Primal step c"
    assert run.solver.label_of("estimator.gone") == "estimator.gone"


def test_a_mark_says_how_much_of_a_block_is_used_that_is_larger_than_the_problem() -> None:
    schedule = (Change(2, 0, 0.0, "estimator.block_size", 5, 1000),)
    run = Run(NonconvexQCQP(n=6), ZOBCEG(), replicas=1, iterations=6, schedule=schedule)
    run.run()
    (text,) = event_marks(run, "iteration")["text"]
    assert text.startswith("<b>Block size τ</b> 5 → 1000, of which 6 are used<br>")


def steered(*changes: Change) -> Run:
    run = Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=1, iterations=100, schedule=changes)
    run.run()
    return run


@pytest.mark.parametrize("log_x", [False, True])
def test_changes_are_numbered_in_their_runs_colours_and_labels_do_not_overlap(log_x: bool) -> None:
    first = steered(Change(10, 0, 0.0, "primal_step", None, 1e-3), Change(90, 0, 0.0, "estimator.batch_size", 50, 30))
    second = steered(Change(11, 0, 0.0, "dual_step", None, 2e-3))
    span = AxisSpan(1.0, 100.0, log_x)
    marks = steering_marks([(first, PALETTE[0]), (second, PALETTE[1])], "iteration", span)
    assert marks["x"] == [10.0, 90.0, 11.0] and marks["number"] == ["1", "2", "1"]
    assert marks["colour"] == [PALETTE[0], PALETTE[0], PALETTE[1]]
    assert marks["label"] == ["c → 0.001", "k → 30", "α → 0.002"]
    assert marks["y"][0] == marks["y"][1] > marks["y"][2], "the one beside it stands below it"
    assert marks["side"] == ["left", "right", "left"], "at the right edge a label stands before its number"


def test_of_many_changes_in_one_place_those_that_find_no_room_have_their_numbers_alone() -> None:
    run = steered(*(Change(10, 0, 0.0, name, None, 2e-3) for name in ("primal_step", "dual_step")))
    marks = steering_marks([(run, colour) for colour in PALETTE[:4]], "iteration", AxisSpan(0.0, 100.0, log=False))
    assert sorted({round(y, 3) for y in marks["y"]}) == [0.78, 0.865, 0.95]
    labelled = [label for label in marks["label"] if label]
    assert len(labelled) == 3 and len(marks["label"]) == 8


def test_a_board_marks_the_changes_of_all_visible_runs() -> None:
    shown = ShownRuns()
    for value in (1e-3, 2e-3):
        shown.put(steered(Change(10, 0, 0.0, "primal_step", None, value)))
    board = Board(shown, axis="iteration")
    board.refresh()
    (source,) = {one.data_source for one in board.views[0].figure.renderers if one.data_source.name == STEERING}
    assert source.data["colour"] == list(PALETTE[:2])
    shown.reveal("run1", False)
    board.refresh()
    assert source.data["colour"] == [PALETTE[1]]


@pytest.mark.parametrize("colour", PALETTE)
def test_a_number_is_readable_on_its_colour(colour: str) -> None:
    light = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in light)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    ink = 1.0 if ink_on(colour) == "#ffffff" else 0.0
    assert (max(ink, luminance) + 0.05) / (min(ink, luminance) + 0.05) >= 4.5
