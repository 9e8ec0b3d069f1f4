"""The room in which the runs on the plots stand side by side, without a browser."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest

from zoviz import Run
from zoviz.benchmark.run_comparison import BEST_GAP, BEST_OBJECTIVE, FINAL_GAP
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOCEG
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.compare.page import ComparePage, measure_html, replicas_csv, table_csv


@pytest.fixture
def dashboard() -> Dashboard:
    """A page with three runs on its plots."""
    dashboard = Dashboard()
    for label, step, iterations in (("long", None, 300), ("short", 1e-3, 20), ("short", 1e-3, 21)):
        run = Run(LoadTracking(n=5), ZOCEG(primal_step=step), iterations=iterations, replicas=10, label=label)
        run.run()
        dashboard.controller.runs_shown.put(run)
    return dashboard


@pytest.fixture
def shown(dashboard: Dashboard) -> ShownRuns:
    """Its runs."""
    return dashboard.controller.runs_shown


@pytest.fixture
def page(dashboard: Dashboard) -> ComparePage:
    """Its room, opened."""
    dashboard.rooms.open = "compare"
    assert dashboard.compare is not None
    dashboard.compare.__panel__()
    return dashboard.compare


def test_runs_stand_side_by_side_with_what_differs(page: ComparePage) -> None:
    assert [one.name for one in page.runs] == ["long", "short (run2)", "short (run3)"], "names are told apart"
    text = page.table.object
    assert text.count("<tr>") == 4 and "primal_step = auto, iterations = 300" in text and "Gap at the end" in text
    assert "<b>long</b> is better than <b>short (run2)</b>" in page.differences.object
    assert page.differences.object.count("<div>") == 3


def test_objectives_that_differ_in_the_fifth_digit_are_told_apart(page: ComparePage) -> None:
    one = page.runs[0]
    one.measures[BEST_OBJECTIVE] = np.full(10, 5885.332773)
    assert measure_html(one, BEST_OBJECTIVE) == "5885.333"


def test_a_gap_below_zero_is_said_to_be_one(page: ComparePage) -> None:
    one = page.runs[0]._replace(below=3)
    one.measures[BEST_GAP] = np.zeros(10)
    assert measure_html(one, BEST_GAP) == "0<small class='words'>3 of 10 below f*, by tolerance</small>"
    assert measure_html(one._replace(below=0), BEST_GAP) == "0" and "below" not in measure_html(one, FINAL_GAP)


def test_another_measure_and_one_more_run_make_other_figures(page: ComparePage, shown: ShownRuns) -> None:
    first = page.figures
    page.measure = FINAL_GAP if page.measure != FINAL_GAP else "calls"
    second = page.figures
    assert second is not first and second is not None
    run = Run(LoadTracking(n=5), ZOCEG(), iterations=5, replicas=3)
    run.run()
    shown.put(run, "new")
    page.read()
    assert len(page.runs) == 4 and page.figures is not second
    third = page.figures
    page.read()
    assert page.figures is third


def test_runs_on_different_problems_share_no_axis(page: ComparePage, shown: ShownRuns) -> None:
    run = Run(LoadTracking(n=7), ZOCEG(), iterations=20, replicas=10)
    run.run()
    shown.put(run, "larger")
    page.read()
    assert page.figures is not None and page.param.problem.objects == [one.problem for one in page.runs[2:]]
    assert page.problem.endswith("(n = 5)"), "most runs are on it"
    page.problem = page.runs[3].problem
    assert page.problem.endswith("(n = 7)") and page.figures.steps.data["run"] == ["larger"]
    assert "No two runs share" in page.differences.object, "of other problems nothing is compared"
    page.problem = page.runs[0].problem
    assert page.problem.endswith("(n = 5)") and page.table.object.count("<tr>") == 5 and page.several.visible
    assert page.figures.steps.data["run"] == [one.name for one in page.runs[:3]]


def test_the_problem_with_most_runs_is_shown_until_another_is_chosen() -> None:
    dashboard = Dashboard()
    dashboard.rooms.open = "compare"
    page = dashboard.compare
    assert page is not None

    def shown_after(n: int) -> str:
        run = Run(LoadTracking(n=n), ZOCEG(), iterations=3, replicas=2)
        run.run()
        dashboard.controller.runs_shown.put(run)
        page.read()
        return page.problem[-7:]

    assert [shown_after(n) for n in (5, 6, 6, 5, 5)][1:] == ["(n = 6)", "(n = 6)", "(n = 6)", "(n = 5)"]
    page.problem = page.runs[1].problem
    assert shown_after(5) == "(n = 6)", "a choice stays"


def test_without_runs_the_room_says_what_to_do() -> None:
    dashboard = Dashboard()
    dashboard.rooms.open = "compare"
    page = dashboard.compare
    assert page is not None and not page.runs and page.hint.visible and not page.body.visible
    page.hint.objects[1].clicks += 1
    assert dashboard.controller.run is not None, "a first click"
    dashboard.controller.stop()


def test_table_and_replicas_are_files(page: ComparePage) -> None:
    lines = list(csv.reader(io.StringIO(table_csv(page.runs).decode())))
    assert [line[0] for line in lines] == ["run", "long", "short (run2)", "short (run3)"]
    assert lines[0][5] == "replicas" and {line[5] for line in lines[1:]} == {"10"}
    middle = lines[0].index(f"{FINAL_GAP}, median")
    assert float(lines[1][middle]) == page.runs[0].quartiles(FINAL_GAP).median
    every = list(csv.reader(io.StringIO(replicas_csv(page.runs).decode())))
    assert len(every) == 31 and float(every[3][every[0].index("calls")]) == page.runs[0].measures["calls"][2]


def test_calls_stand_beside_the_verdict(page: ComparePage) -> None:
    heads = re.findall("<th[^>]*>([^<]*)</th>", page.table.object)
    assert heads[:4] == ["Run", "What differs", "Verdict", "Calls"]
