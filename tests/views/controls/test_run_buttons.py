"""The status bar: a verdict is shown at the second update after what it says has come to be so, or before."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.diagnosis.verdict import Word, verdict_of
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.common import run_controller
from zoviz.views.controls import run_buttons


def late_words(looks: int = 240, changed: int = 120) -> tuple[set[str], int]:
    """Return the words shown of a run whose step is made far too long, and how many of them are two updates late."""
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM())
    run = Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=3, iterations=looks)
    shown: list[str] = []
    true: list[str] = []

    def look() -> None:
        if run.progress.iteration == changed:
            run.set({"primal_step": 3.0})
        if page.controller.run is None:
            page.controller.watch_run(run)
        page.controller.refresh()
        page.status_bar.update()
        said = re.search(r"zoviz-verdict'[^>]*>(\w+)<", page.status_bar.counters.tags[1])
        shown.append(said[1] if said else "")
        true.append(str(verdict_of(run).word))

    run.run(observer=look)
    words = zip(shown[1:], pairwise(true), strict=True)
    return set(shown), sum(one not in pair for one, pair in words)


def test_a_verdict_is_shown_within_two_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    words, late = late_words()
    assert words >= {Word.EARLY, Word.CONVERGING, Word.DIVERGING} and late == 0
    monkeypatch.setattr(run_controller, "JUDGED_EVERY", 6)
    assert late_words()[1] > 0, "judged more rarely it comes later"


def test_calls_per_second_are_told_from_the_first_look_on() -> None:
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM())
    run = Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=3, iterations=3)
    shown: list[str] = []

    def look() -> None:
        page.controller.watch_run(run)
        page.status_bar.update()
        shown.extend(re.findall(r"<b>([\d,]+)</b> calls/s", page.status_bar.counters.tags[0]))

    run.run(observer=look)
    assert len(shown) >= 3 and "0" not in shown


def test_who_is_busy_is_told_of_several_workers_and_of_one_nothing() -> None:
    shown: dict[int, list[str]] = {}
    for workers in (1, 2):
        page = Dashboard(NonconvexQCQP(n=4), ZOSPLM())
        problem = BlackBox(np.sum, bounds=[(0, 1)] * 2, m=0, workers=ThreadPoolExecutor(1) if workers > 1 else None)
        run = Run(problem, ZOSPLM(primal_step=0.1), replicas=1, iterations=3)
        seen = shown[workers] = []

        def look(page: Dashboard = page, run: Run = run, seen: list[str] = seen) -> None:
            page.controller.watch_run(run)
            page.status_bar.update()
            seen.append(page.status_bar.counters.tags[0])

        run.run(observer=look)
        page.diagnosis.ledger.update(run)
        assert ("Calls by worker" in page.diagnosis.ledger.pane.object) == (workers > 1)
    assert all("calls submitted" in text and "worker" in text for text in shown[2]), "the table is its title"
    assert shown[1] and not any("worker" in text for text in shown[1])


def test_the_second_click_of_a_double_click_is_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_buttons, "DOUBLE_CLICK", 60.0)
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM())
    page.form.settings.param.update(iterations=None, seconds=60.0, replicas=1)
    for _ in range(2):
        page.buttons.buttons["start"].clicks += 1
    assert page.controller.status == "running" and len(page.controller.runs_shown.runs) == 1
    page.controller.stop()
    until(lambda: page.refresh() or not page.controller.active)


def test_one_button_starts_pauses_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_buttons, "DOUBLE_CLICK", 0.0)
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM())
    page.form.settings.param.update(iterations=None, seconds=60.0, replicas=1)
    button = page.buttons.buttons["start"]
    assert set(page.buttons.buttons) == {"start", "step", "stop", "undo"} and button.label == "Start"
    button.clicks += 1
    assert button.label == "Pause" and not button.disabled
    button.clicks += 1
    until(lambda: page.refresh() or page.controller.status == "paused")
    assert button.label == "Start" and not button.disabled
    button.clicks += 1
    until(lambda: page.refresh() or page.controller.status == "running")
    page.controller.stop()
    until(lambda: page.refresh() or not page.controller.active)
    assert button.label == "Start" and not button.disabled


def test_undo_gives_a_value_that_a_rule_had_chosen_back_to_the_rule() -> None:
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM())
    page.form.settings.param.update(iterations=None, seconds=60.0, replicas=1)
    page.controller.start()
    run = page.controller.run
    assert run is not None
    until(lambda: run.progress.iteration > 2)
    chosen = run.parameters["primal_step"]
    page.controller.steer({"primal_step": 0.5 * chosen})
    until(lambda: page.refresh() or page.controller.undoable)
    page.controller.undo()
    until(lambda: page.refresh() or run.parameters["primal_step"] == chosen)
    assert run.solver.primal_step is None, "auto again, not the number that it stands for"
    page.controller.stop()
    run.wait()
