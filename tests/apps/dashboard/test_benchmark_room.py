"""The room Benchmark in a real browser: begun, watched, its page closed, its server killed, and gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.dashboard_page import Lab
from zoviz.runs.store import Store
from zoviz.studies.cell import DONE

PROBLEMS = "LoadTracking:n=6 NonconvexQCQP:n=6 PressureVessel SpeedReducer WeldedBeam Spring Gramacy ConexQCQP:n=5"
SOLVERS = 3  # those that the form begins with: ZOSQP, ZO-SPLM, COBYLA
CELLS = SOLVERS * len(PROBLEMS.split())

pytestmark = pytest.mark.slow


def open_room(lab: Lab) -> None:
    lab.page.get_by_role("button", name="Benchmark", exact=True).click()
    lab.until(lambda: lab.page.get_by_role("button", name="Cost").count() == 1, "the room is open")


def press(lab: Lab, name: str) -> None:
    """Press a button of the room, not of the bar above it, which has others of these names."""
    lab.page.get_by_role("button", name=name, exact=True).last.click()


def wait_for(condition: Callable[[], object], what: str, seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.2)


def ended(store: Store) -> dict[str, float]:
    """The runs that have ended, with the time of their last sign of life."""
    return {one.id: one.updated for one in store.runs(study="b") if one.status in DONE}


def words(lab: Lab) -> list[str]:
    code = "const map = find('plot-Verdicts'); return map ? [...map.renderers[0].data_source.data.word] : []"
    return list(lab.js(code))


def test_a_study_outlives_its_page_and_its_server(
    serve: Any, open_lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    monkeypatch.setenv("ZOVIZ_STORE", url)
    store = Store(url)
    server = serve()
    lab = open_lab(server.url)
    open_room(lab)
    lab.page.get_by_label("Problems with parameters").fill(PROBLEMS)
    lab.page.get_by_label("Name").last.fill("b")
    lab.page.keyboard.press("Tab")
    press(lab, "Cost")
    lab.until(lambda: lab.page.get_by_text(f"{CELLS} runs are missing").count() == 1, "its cost is told", 120)
    assert store.count() == 0
    press(lab, "Start")
    lab.until(lambda: lab.page.get_by_text("runs have ended").count() == 1, "the map is there", 120)
    lab.until(lambda: 0 < sum(word == "not begun" for word in words(lab)) < CELLS, "it fills", 120)
    lab.page.close()
    before = len(ended(store))
    wait_for(lambda: len(ended(store)) > before, "its runs go on without the page")

    again = open_lab(server.url)
    open_room(again)
    again.until(lambda: len(words(again)) == CELLS, "another page shows it", 60)
    press(again, "Stop")
    wait_for(lambda: not store.study("b").active, "it stops")
    kept = ended(store)
    again.page.close()
    server.process.kill()
    server.process.wait()

    other = open_lab(serve().url)
    open_room(other)
    other.until(lambda: len(words(other)) == CELLS, "another server shows it", 60)
    press(other, "Start")
    other.until(lambda: other.page.get_by_text(f"{CELLS} of {CELLS}").count() == 1, "it is complete", 400)
    other.until(lambda: not {"not begun", "at work"} & set(words(other)), "all verdicts are there", 60)
    assert kept.items() <= ended(store).items(), "what had ended was not done again"
    assert store.count() == CELLS
    curves = other.js("return find('plot-Data-profile').renderers.map(r => r.data_source.data.solver).find(s => s)")
    assert list(curves) == ["ZOSQP", "ZOSPLM", "COBYLA"]
