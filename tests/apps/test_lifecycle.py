"""A closed tab ends its run's thread, and the server forgets the page; a run that outlives it is taken up elsewhere."""

from __future__ import annotations

import json
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
    "flags, probe",
    [
        pytest.param(("--check-unused-sessions", "200"), ("fleeting",), id="as soon as it has left"),
        pytest.param((), (), id="bare panel serve", marks=pytest.mark.slow),
    ],
)
def test_a_closed_tab_ends_its_run_but_for_one_that_outlives_its_page(
    serve: Any,
    open_lab: Any,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    flags: tuple[str, ...],
    probe: tuple[str, ...],
) -> None:
    monkeypatch.setenv("ZOVIZ_STORE", store.url)
    report = tmp_path / "report.json"
    server = serve(*flags, "--args", str(report), "kept", *probe, app=PROBE)
    staying, leaving = open_lab(server.url), open_lab(server.url)
    for lab in (staying, leaving):
        lab.settle(Seconds="none")
        lab.enter("Run")  # the room, which has the switch
        if lab is staying:
            lab.page.get_by_label("Keep running when the page is closed").click()
        lab.start()
    until(lambda: workers(report) == 2, pause=0.1)
    leaving.page.close()
    until(lambda: workers(report) == 1, pause=0.1)
    assert staying.status() == "running", "the other tab's run goes on"
    until(lambda: fact(report, "pages") == 1, pause=0.2)
    staying.page.close()
    until(lambda: fact(report, "left") == 2, pause=0.2)
    until(lambda: [run.status for run in store.runs()] == ["interrupted", "running"], pause=0.1)
    assert workers(report) == 1
    other = open_lab(server.url)
    open_list(other)
    tick(other, line=1)
    other.press("Resume run")
    other.until(lambda: other.status() == "running", "the run taken up")
    before = other.iteration()
    other.until(lambda: other.iteration() > before, "it goes on")
    other.press("Stop")
    other.until(lambda: other.status() == "stopped", "its end")
