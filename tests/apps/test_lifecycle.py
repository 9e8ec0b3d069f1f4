"""A closed tab ends its run's thread, and the server forgets the page; a run that outlives it is taken up elsewhere."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from helpers.dashboard_page import open_list, tick
from helpers.waiting import until
from zoviz.runs.store import Store

PROBE = Path(__file__).with_name("probe_app.py")


def workers(report: Path) -> int:
    return fact(report, "workers")


def fact(report: Path, name: str) -> int:
    return json.loads(report.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("--unused-session-lifetime", "2000", "--check-unused-sessions", "1000"), id="lifetime flags"),
        pytest.param((), id="bare panel serve", marks=pytest.mark.slow),
    ],
)
def test_a_closed_tab_ends_its_run_but_for_one_that_outlives_its_page(
    serve: Any, open_lab: Any, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ZOVIZ_STORE", store.url)
    report = tmp_path / "report.json"
    server = serve(*flags, "--args", str(report), "kept", app=PROBE)
    staying, leaving = open_lab(server.url), open_lab(server.url)
    for lab in (staying, leaving):
        lab.settle(Seconds="none")
        lab.enter("Run")  # the room, which has the switch
        if lab is staying:
            lab.page.get_by_label("Keep running when the page is closed").click()
        lab.start()
    assert workers(report) == 2
    closed = time.monotonic()
    leaving.page.close()
    until(lambda: workers(report) == 1, pause=0.1)
    print(f"the thread ended {time.monotonic() - closed:.1f} s after its tab was closed")
    assert staying.status() == "running", "the other tab's run goes on"
    until(lambda: fact(report, "pages") == 1, pause=0.2)
    staying.page.close()
    until(lambda: fact(report, "left") == 2, pause=0.2)
    assert workers(report) == 1 and [run.status for run in store.runs()] == ["interrupted", "running"]
    other = open_lab(server.url)
    open_list(other)
    tick(other, line=1)
    other.press("Resume run")
    other.until(lambda: other.status() == "running", "the run taken up")
    before = other.iteration()
    other.until(lambda: other.iteration() > before, "it goes on")
    other.press("Stop")
    other.until(lambda: other.status() == "stopped", "its end")
