"""Plots that only some kinds of task draw on, and marks of a stream's phases."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import (
    DistributedConsensus,
    FairClassification,
    LoadTracking,
    NetworkSlicing,
    NonconvexQCQP,
    QuadraticBilevel,
    StochasticQP,
)
from zoviz.problems.base import Problem
from zoviz.solvers import OGD, SOGD, ZOSOGD, ZOSPLM, ZOSQP, SampledALM, SmoothedALM, Solver
from zoviz.views.controls.picker import Picker
from zoviz.views.plots.board import Board
from zoviz.views.plots.catalogue.accuracy import Accuracy
from zoviz.views.plots.catalogue.gap import Gap
from zoviz.views.plots.catalogue.regret import Regret
from zoviz.views.plots.catalogue.tracking import Tracking
from zoviz.views.plots.catalogue.trust_region import Archive, TrustRegion
from zoviz.views.plots.event_marks import MOST_PHASES, phase_marks
from zoviz.views.plots.static import convergence, plot

USUAL = {"Gap", "Violation", "Variance", "Stationarity"}


@pytest.fixture(scope="module")
def bilevel() -> dict[str, Run]:
    problem = QuadraticBilevel(n=3, d=3, phase_length=10)
    runs = {cls.__name__: Run(problem=problem, solver=cls(), replicas=3, iterations=35) for cls in (SOGD, ZOSOGD, OGD)}
    for run in runs.values():
        run.run()
    return runs


def on_page(board: Board) -> set[str]:
    board.refresh()
    return {type(view).__name__ for view in board.visible_plots}


def test_a_plot_without_lines_is_not_on_the_page(bilevel: dict[str, Run]) -> None:
    board = Board()
    assert on_page(board) == USUAL
    first = board.runs_shown.put(bilevel["SOGD"])
    assert on_page(board) == {"Objective", "Regret", "Tracking"}
    second = board.runs_shown.put(bilevel["ZOSOGD"])
    assert on_page(board) == {"Objective", "Variance", "Regret", "Tracking"}
    constrained = Run(problem=LoadTracking(n=5), solver=ZOSPLM(), replicas=2, iterations=5)
    waiting = board.runs_shown.put(constrained)
    board.runs_shown.reveal(first.key, True)
    board.runs_shown.reveal(second.key, True)
    assert on_page(board) == {"Variance", "Regret", "Tracking"}, "it has not begun"
    constrained.run()
    assert on_page(board) == USUAL - {"Gap"} | {"RelativeGap", "Regret", "Tracking", "Duals"}
    for one in (first, second):
        board.runs_shown.reveal(one.key, False)
    assert on_page(board) == USUAL | {"Duals"}
    board.runs_shown.take_off(waiting.key)
    assert on_page(board) == USUAL, "runs that are hidden do not count"


def test_a_trust_region_method_shows_its_radii_its_archive_and_its_starts() -> None:
    board = Board()
    problem = NonconvexQCQP(n=3, noise="independent", noise_scale=1e-2)
    run = Run(problem=problem, solver=ZOSQP(), replicas=2, iterations=6)
    run.run()
    board.runs_shown.put(run)
    assert on_page(board) >= {"TrustRegion", "Archive"}
    columns = run.trace.snapshot().columns
    assert [line.column for line in TrustRegion().series(columns)] == ["trust_radius", "design_radius"]
    assert [line.column for line in Archive().series(columns)] == ["archive", "starts"]
    assert (columns["design_radius"] >= columns["trust_radius"]).all()
    assert (columns["archive"][-1] > 6).all() and (columns["starts"][-1] == 1.0).all()


def test_lines_are_those_that_a_method_has(bilevel: dict[str, Run]) -> None:
    columns = {name: run.trace.snapshot().columns for name, run in bilevel.items()}
    assert [line.column for line in Regret().series(columns["SOGD"])] == ["average_regret", "regret", "hypergradient"]
    assert [line.column for line in Tracking().series(columns["SOGD"])] == ["inner_error", "system_error"]
    assert [line.column for line in Tracking().series(columns["OGD"])] == ["inner_error"]
    assert Accuracy().series(columns["SOGD"]) == []
    named = Accuracy().series({"accuracy": np.ones((1, 1)), "test_accuracy": np.ones((1, 1)), "calls": np.ones((1, 1))})
    assert [(line.column, line.label) for line in named] == [("accuracy", "all"), ("test_accuracy", "test")]
    assert "violation" not in columns["SOGD"] and "best_objective" not in columns["SOGD"]
    assert (bilevel["SOGD"].result.violation == 0.0).all() and bilevel["SOGD"].result.success.all()


@pytest.mark.parametrize("axis", ["iteration", "calls", "seconds"])
def test_phases_are_marked_where_they_began(bilevel: dict[str, Run], axis: str) -> None:
    run = bilevel["SOGD"]
    marks = phase_marks(run, axis)
    column = run.trace[axis]
    expected = [column[t] if column.ndim == 1 else column[t].mean() for t in (10, 20, 30)]
    np.testing.assert_allclose(marks["x"], expected)
    assert all(f"phase {k}" in text for k, text in zip((2, 3, 4), marks["text"], strict=True))


def test_many_phases_are_thinned_and_another_problem_has_none(bilevel: dict[str, Run]) -> None:
    many = Run(problem=QuadraticBilevel(n=2, d=2, phase_length=1), solver=SOGD(), replicas=1, iterations=100)
    assert phase_marks(many, "iteration")["x"] == []
    many.run()
    at = phase_marks(many, "iteration")["x"]
    assert len(at) <= MOST_PHASES and at == [float(t) for t in range(1, 101, 3)]
    other = Run(problem=LoadTracking(n=3), solver=ZOSPLM(), replicas=1, iterations=3)
    other.run()
    assert phase_marks(other, "calls")["x"] == []


def test_runs_overlay_in_figures_that_stand_still(bilevel: dict[str, Run]) -> None:
    figure = convergence({name: bilevel[name] for name in ("SOGD", "OGD")}, column="average_regret")
    curves = [one for one in figure if type(one) is hv.Curve]
    np.testing.assert_allclose(
        curves[0].dimension_values("y")[-1], np.median(bilevel["SOGD"].trace["average_regret"][-1]), rtol=1e-6
    )
    assert len(curves) == 2 and len([one for one in figure if type(one) is hv.Scatter]) == 2
    assert len([one for one in plot(Tracking(), bilevel["SOGD"]) if type(one) is hv.Curve]) == 2


def test_solvers_of_other_forms_are_not_listed_as_refused() -> None:
    choice = Picker()
    choice.problem_name = QuadraticBilevel.title
    assert "SOGD" in choice.param.solver_name.objects and "ZO-SPLM" not in choice.param.solver_name.objects
    assert "ZO-SPLM" not in choice.refused.object
    choice.solver_name = "SOGD"
    choice.suggest()
    assert choice.complaint == ""
    choice.problem_name = LoadTracking.title
    assert "SOGD" not in choice.param.solver_name.objects and "bilevel" not in choice.refused.object


ROWS, EQUAL = {"violation", "stationarity", "normal_residual"}, {"consensus_error", "binary_distance"}


@pytest.mark.parametrize(
    ("problem", "solver", "offered"),
    [
        (
            StochasticQP(n=7, sampled_rows=True, measure_envelope=True),
            SampledALM(),
            {"near_stationarity", "dual_resets"},
        ),
        (DistributedConsensus(nodes=3, edge_probability=0.9), SampledALM(), {"consensus_error"}),
        (NetworkSlicing(), SmoothedALM(), {"binary_distance", "assignment_violation"}),
        (FairClassification(), SmoothedALM(), {"residual", "covariance", "parity_difference", "p_rule", "accuracy"}),
    ],
    ids=["sampled rows", "consensus", "slicing", "fair"],
)
def test_what_linear_problems_are_judged_by_is_drawn(problem: Problem, solver: Solver, offered: set[str]) -> None:
    run = Run(problem=problem, solver=solver, replicas=1, iterations=3)
    run.run()
    board = Board()
    board.runs_shown.put(run)
    on_page(board)
    columns = run.trace.snapshot().columns
    drawn = {line.column for view in board.visible_plots for line in view.series(columns)}
    assert offered | ROWS <= drawn and not (EQUAL - offered) & drawn


def test_a_best_that_is_below_the_optimum_is_said_to_be_there_by_the_tolerance() -> None:
    """Once its magnitude was drawn, which rises again: feasible within 1e-6 can be 1e-3 better than the optimum."""
    below = np.array([[0.1, 0.2], [-1.2e-3, -1.4e-3]])
    assert Gap().remark({"gap": below, "best_gap": below}) == "best: 1e-03 below f*"
    assert Gap().remark({"gap": below, "best_gap": below[:1]}) == "", "above"
    assert Gap().remark({"gap": below, "best_gap": np.array([[-1e-3, 1e-3]])}) == "", "one of two"
    assert Gap().remark({"gap": below, "best_gap": np.full((2, 2), np.nan)}) == ""
