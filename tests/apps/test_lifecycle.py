"""A closed tab ends its run's thread, and the server forgets the page."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from helpers.waiting import until

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
def test_a_closed_tab_ends_its_run(serve, open_lab, tmp_path, flags) -> None:
    report = tmp_path / "report.json"
    server = serve(*flags, "--args", str(report), app=PROBE)
    staying, leaving = open_lab(server.url), open_lab(server.url)
    for lab in (staying, leaving):
        lab.settle(Seconds="none")
        lab.start()
    assert workers(report) == 2
    closed = time.monotonic()
    leaving.page.close()
    while workers(report) > 1 and time.monotonic() - closed < 120:
        time.sleep(0.1)
    elapsed = time.monotonic() - closed
    print(f"the thread ended {elapsed:.1f} s after its tab was closed")
    assert workers(report) == 1 and staying.status() == "running", "the other tab's run goes on"
    until(lambda: fact(report, "pages") == 1, pause=0.2)
