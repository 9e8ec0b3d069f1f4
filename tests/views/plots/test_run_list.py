"""The list of the runs on the plots: what each row says, and what a browser may ask of it."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.event_loop import result_of
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.runs.engine.steering import Change
from zoviz.runs.run import Run
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.views.common.run_controller import RunController
from zoviz.views.controls.run_form import RunForm
from zoviz.views.plots.run_list import LONGEST_NAME, RunList

HOSTILE = "<img src=x onerror=alert(1)>"


def ended(problem: Problem | None = None, seed: int = 0) -> Run:
    run = Run(problem or NonconvexQCQP(n=4), ZOSPLM(primal_step=1e-3), replicas=3, iterations=8, seed=seed)
    run.run()
    return run


class Page(NamedTuple):
    """The list of a page, and what it is of."""

    controller: RunController
    run_list: RunList


@pytest.fixture
def page() -> Page:
    controller = RunController(RunForm())
    page = Page(controller, RunList(controller))
    controller.runs_shown.put(ended())
    page.run_list.update()
    return page


def only(page: Page) -> dict[str, Any]:
    (row,) = page.run_list.rows
    return row


def test_a_row_says_what_plots_and_verdict_say(page: Page) -> None:
    (entry,) = page.controller.runs_shown.runs.values()
    row, last = only(page), entry.run.trace.snapshot().columns
    assert row["gap"] == f"{np.median(np.abs(last['gap'][-1])):.3g}"
    assert row["violation"] == f"{np.median(last['violation'][-1]):.3g}"
    assert row["calls"] == f"{last['calls'].max():,.0f}" and row["seconds"].endswith(" s")
    verdict = page.controller.verdict(entry.run)
    assert verdict is not None and row["verdict"] == str(verdict.word) and row["colour"] == entry.colour
    assert not row["remark"] and row["visible"] and not row["current"]


def test_runs_of_several_problems_are_named_with_theirs_and_changes_are_counted(page: Page) -> None:
    steered = Run(
        LoadTracking(n=4), ZOCEG(), replicas=2, iterations=30, schedule=[Change(10, 0, 0.0, "primal_step", None, 1e-3)]
    )
    steered.run()
    page.controller.runs_shown.put(steered)
    page.run_list.update()
    assert [row["remark"] for row in page.run_list.rows] == ["Nonconvex QCQP", "1 change · Load tracking (convex)"]
    assert [row["visible"] for row in page.run_list.rows] == [False, True]


def test_a_run_is_renamed_hidden_and_removed(page: Page) -> None:
    page.run_list.act("rename", "run1", "  mine ")
    assert only(page)["name"] == "mine"
    page.run_list.act("rename", "run1", "")
    assert only(page)["name"] == "mine", "a run has a name"
    page.run_list.act("rename", "run1", "x" * 500)
    assert only(page)["name"] == "x" * LONGEST_NAME
    page.run_list.act("reveal", "run1", False)
    assert not only(page)["visible"] and not page.controller.runs_shown.runs["run1"].visible
    page.run_list.act("remove", "run1")
    assert page.run_list.rows == [] and not page.controller.runs_shown.runs


def test_files_are_named_after_run_problem_and_solver(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, str] = {}
    monkeypatch.setattr(page.run_list, "send_file", sent.__setitem__)
    page.controller.runs_shown.rename("run1", "a/b: é ü")
    for act in ("csv", "script"):
        page.run_list.act(act, "run1")
    assert list(sent) == ["zoviz_a-b_NonconvexQCQP_ZOSPLM.csv", "zoviz_a-b_NonconvexQCQP_ZOSPLM.py"]
    table, program = sent.values()
    assert table.startswith("iteration,") and "ZOSPLM(" in program


def test_a_report_is_sent_once_a_thread_has_made_it(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, str] = {}

    async def on_the_page() -> None:
        page.run_list.act("report", "run1")
        while not sent:
            await asyncio.sleep(0.05)

    monkeypatch.setattr(page.run_list, "send_file", sent.__setitem__)
    result_of(on_the_page())
    ((name, text),) = sent.items()
    assert name.endswith("NonconvexQCQP_ZOSPLM.html") and page.controller.runs_shown.runs["run1"].run.id in text


@pytest.mark.parametrize(
    "message",
    [None, 7, "csv", {}, {"act": "remove"}, {"act": "remove", "key": ["run1"]}, {"act": "rename", "key": "run1"}]
    + [{"act": "reveal", "key": "run1", "value": "no"}, {"act": "shell", "key": "run1"}, {"act": "csv", "key": "run9"}]
    + [{"act": {}, "key": "run1", "value": 1}],
)
def test_what_else_a_browser_may_send_is_left_alone(page: Page, message: object) -> None:
    before = page.run_list.rows
    page.run_list.hear(message)
    assert page.run_list.rows == before


def test_a_look_at_rows_that_are_up_to_date_sends_nothing(page: Page) -> None:
    sent: list[object] = []
    page.run_list.param.watch(sent.append, "rows")
    page.run_list.update()
    assert sent == []
    page.controller.runs_shown.rename("run1", HOSTILE)
    page.run_list.update()
    assert len(sent) == 1 and only(page)["name"] == HOSTILE, "which the browser writes as text"
