"""The controls of the plots: axes that some run has, and what they set."""

from __future__ import annotations

import pytest

from zoviz import Run
from zoviz.problems import NonconvexQCQP, Problem, StochasticQP
from zoviz.runs.engine.columns import CALLS, ITERATION, SAMPLES, SECONDS, ZETA_SAMPLES
from zoviz.solvers import ZOSPLM, Solver
from zoviz.solvers.linear.smoothed_alm import SmoothedALM
from zoviz.views.plots.board import Board


@pytest.mark.parametrize(
    ("problem", "solver", "samples"),
    [(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), []), (StochasticQP(n=8), SmoothedALM(), [SAMPLES])],
)
def test_samples_are_an_axis_of_runs_with_noise_only(problem: Problem, solver: Solver, samples: list[str]) -> None:
    board = Board()
    axes = board.controls().objects[0]
    assert list(axes.options.values()) == [CALLS, ITERATION, SECONDS]
    run = Run(problem, solver, replicas=1, iterations=3)
    run.run()
    board.runs_shown.put(run)
    board.refresh()
    assert [axis for axis in axes.options.values() if axis == SAMPLES] == samples
    board.axis = ZETA_SAMPLES
    board.refresh()
    assert ZETA_SAMPLES in axes.options.values() and axes.value == ZETA_SAMPLES, "what is chosen is offered"


def test_the_widgets_and_the_board_follow_each_other() -> None:
    board = Board()
    axes, band, log_x, log_y = board.controls().objects
    axes.value, band.value, log_x.value, log_y.value = SECONDS, "range", True, False
    assert (board.axis, board.band, board.log_x, board.log_y) == (SECONDS, "range", True, False)
    board.param.update(axis=CALLS, band="quartiles", log_x=False, log_y=True)
    assert (axes.value, band.value, log_x.value, log_y.value) == (CALLS, "quartiles", False, True)
