"""A plot on a logarithmic axis that has only zeros says so."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.runs.engine.trace import Snapshot
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.views.plots.base import ZERO
from zoviz.views.plots.board import Board
from zoviz.views.plots.line_data import Series, vanishes


def titles(board: Board) -> dict[str, str]:
    return {view.title: view.figure.title.text for view in board.views if view.has_figure}


def finished(solver: ZOCEG | ZOSPLM) -> Run:
    run = Run(problem=NonconvexQCQP(n=5), solver=solver, replicas=2, iterations=30)
    run.run()
    return run


def test_exact_differences_have_no_variance_and_the_plot_says_so() -> None:
    board = Board()
    board.runs_shown.put(finished(ZOCEG()))
    board.refresh()
    captions = titles(board)
    assert captions["Estimator variance"] == "Estimator variance   tr Cov ĝ" + ZERO
    assert ZERO not in captions["Objective gap"] and ZERO not in captions["Dual variables"]
    board.log_y = False
    board.refresh()
    assert ZERO not in "".join(titles(board).values())


def test_it_is_unsaid_once_there_is_something_to_draw() -> None:
    board = Board()
    exact = board.runs_shown.put(finished(ZOCEG()))
    board.refresh()
    board.runs_shown.put(finished(ZOSPLM()))
    board.refresh()
    assert ZERO not in titles(board)["Estimator variance"]
    board.runs_shown.reveal(exact.key, True)
    board.refresh()
    assert ZERO not in titles(board)["Estimator variance"]


def test_a_feasible_start_leaves_the_violation_at_zero() -> None:
    run = Run(problem=LoadTracking(n=5, curtailment=0.0), solver=ZOCEG(), replicas=2, iterations=3)
    run.run()
    violated = (np.asarray(run.trace["violation"]) > 0).any()
    board = Board()
    board.runs_shown.put(run)
    board.refresh()
    assert (ZERO in titles(board)["Constraint violation"]) != violated


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.0], True),
        ([np.nan, 0.0], True),
        ([1.0, 0.0], False),
        ([0.0, -1.0], False),
        ([np.nan, np.nan], False),
        ([], False),
    ],
)
def test_a_line_vanishes_where_it_is_zero_wherever_it_is_known(values: list[float], expected: bool) -> None:
    columns = {"gap": np.array(values)[:, None]}
    assert vanishes(Snapshot(columns, len(values), 0), Series("gap", "current")) is expected
    assert vanishes(Snapshot(columns, len(values), 0), Series("other", "current")) is False
