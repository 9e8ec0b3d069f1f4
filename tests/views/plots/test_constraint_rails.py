"""The strips of constraints: what is violated, active and slack over the course, and which runs have them."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.problems import BlackBox, StochasticQP, WeldedBeam
from zoviz.solvers import ZOSPLM, ZOSQP
from zoviz.views.plots.board import Board
from zoviz.views.plots.constraint_rails import COLUMNS, STRIP, ConstraintRails, classes, image


def test_slack_active_and_violated() -> None:
    h = np.array([[-1.0, 100.0, 0.0], [-1e-5, 1.0, 1e-14], [0.0, 1e-3, -1.0], [np.nan, -50.0, -1e-4]])
    expected = [[0, 2, 1], [1, 2, 1], [1, 2, 0], [np.nan, 0, 1]]
    np.testing.assert_array_equal(classes(h), expected)
    assert classes(h, tolerance=2.0)[:, 1].tolist() == [2, 1, 1, 0]


def test_every_constraint_has_a_row_and_the_course_its_width() -> None:
    strips = image(np.array([0.0, 1.0, 100.0]), np.array([[1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]))
    assert strips.shape == (2, COLUMNS)
    assert (strips[0] > 1).sum() == 3 and (strips[1] > 1).sum() == 1, "violated at first; at the end only"


def test_a_run_has_strips_of_the_constraints_along_its_path() -> None:
    rails = ConstraintRails(Board())
    run = Run(WeldedBeam(), ZOSQP(), replicas=1, iterations=12, seed=3)
    run.run()
    until(lambda: rails.update(run) or rails.visible)
    (strips,) = rails.image.data["value"]
    assert run.units is not None, "the path is as the solver sees it"
    path = run.units.point(run.path.snapshot().columns["x"])
    last = classes(WeldedBeam().evaluate(path).h, run.tolerances)[-1]
    np.testing.assert_array_equal(strips[:, -1], last)
    assert bool((last > 1).any()) == bool(run.trace["violation"][-1, 0] > run.tolerances.max())
    calls = run.trace["calls"].max(axis=1)
    assert rails.image.data["x"] == [calls[0]] and rails.image.data["w"] == [calls[-1] - calls[0]]
    rails.update(run, "mine")
    (figure,) = (pane.object for pane in rails.__panel__())
    assert figure.title.text == "mine: blue active, amber violated"
    assert figure.height < 7 * STRIP + 80, "no barcode of a few constraints"
    rails.update(None)
    assert not rails.visible


@pytest.mark.parametrize("log_x", [False, True])
def test_strips_stand_on_the_axis_of_the_plots(log_x: bool) -> None:
    run = Run(WeldedBeam(), ZOSQP(), replicas=1, iterations=12, seed=3)
    run.run()
    board = Board()
    board.runs_shown.put(run)
    rails = ConstraintRails(board)
    until(lambda: rails.update(run) or rails.visible)
    board.param.update(log_x=log_x, axis="iteration")
    board.refresh()
    rails.update(run)
    (figure,) = (pane.object for pane in rails.__panel__())
    assert figure.x_range is board.views[0].figure.x_range, "they are moved together"
    assert type(figure.x_scale) is type(board.views[0].figure.x_scale)
    assert rails.image.data["x"][0] + rails.image.data["w"][0] == 12.0


@pytest.mark.parametrize("problem", [BlackBox(), StochasticQP()])
def test_nothing_is_evaluated_that_costs_calls_or_has_no_inequalities(problem: object) -> None:
    rails = ConstraintRails(Board())
    run = Run(problem, ZOSPLM(primal_step=1e-5), replicas=1, iterations=2)
    rails.update(run)
    assert not rails.visible
