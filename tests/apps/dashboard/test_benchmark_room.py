"""The room Benchmark in a real browser: begun, watched, its page closed, its server killed, and gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.dashboard_page import Lab
from zoviz.problems.cutest.suite import Suite
from zoviz.runs.store import Store
from zoviz.studies.cell import DONE

OWN = "LoadTracking:n=6 NonconvexQCQP:n=6 PressureVessel SpeedReducer WeldedBeam Spring Gramacy ConexQCQP:n=5".split()
SOLVERS = ["ZOSQP", "ZOSPLM", "COBYLA"]  # those that the form begins with


class Size(NamedTuple):
    """How large a study is: published problems beside ours, solvers beside the form's, and its budget."""

    published: int
    more_solvers: tuple[str, ...]
    sweeps: int

    @property
    def problems(self) -> list[str]:
        """Ours, and as many of the collection, evenly from its alphabet; more constraints take a second a call."""
        entries = [one.name for one in Suite.names(2, 6, min_m=1, max_m=50, kinds="ln")]
        places = np.linspace(0, len(entries) - 1, self.published).round().astype(int)
        return [*OWN, *(f"Suite:problem_name={entries[place]}" for place in places)]


SIZES = [
    pytest.param(Size(0, (), 100), id="8 problems, 3 solvers"),
    pytest.param(Size(42, ("ZOCEG", "SLSQP", "ALSPG"), 20), id="50 problems, 6 solvers"),
]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def open_room(lab: Lab) -> None:
    lab.enter("Benchmark")
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


@pytest.mark.parametrize("size", SIZES)
def test_a_study_outlives_its_page_and_its_server(
    serve: Any, open_lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: Size
) -> None:
    problems, solvers = size.problems, [*SOLVERS, *size.more_solvers]
    cells = len(problems) * len(solvers)
    url = f"sqlite:///{tmp_path}/runs.db"
    monkeypatch.setenv("ZOVIZ_STORE", url)
    store = Store(url)
    server = serve()
    lab = open_lab(server.url)
    open_room(lab)
    lab.page.get_by_role("textbox", name="Problems with parameters", exact=True).fill(" ".join(problems))
    lab.page.get_by_role("textbox", name="Solvers with parameters", exact=True).fill(" ".join(size.more_solvers))
    budget = lab.page.get_by_role("textbox", name="Budget / (n + 1)", exact=True)
    budget.press("Control+a")  # else what is filled in comes before what is there
    budget.press_sequentially(str(size.sweeps))
    assert float(budget.input_value()) == size.sweeps
    lab.page.get_by_role("textbox", name="Name", exact=True).last.fill("b")
    lab.page.keyboard.press("Tab")
    press(lab, "Cost")
    lab.until(lambda: lab.page.get_by_text(f"{cells} runs to do").count() == 1, "its cost is told", 300)
    assert store.count() == 0
    press(lab, "Start study")
    lab.until(lambda: lab.page.get_by_text("runs have ended").count() == 1, "the map is there", 120)
    lab.until(lambda: 0 < sum(word == "waiting" for word in words(lab)) < cells, "it fills", 120)
    lab.page.close()
    before = len(ended(store))
    wait_for(lambda: len(ended(store)) > before, "its runs go on without the page")

    again = open_lab(server.url)
    open_room(again)
    again.until(lambda: len(words(again)) == cells, "another page shows it", 60)
    press(again, "Stop study")
    wait_for(lambda: not store.study("b").active, "it stops")
    kept = ended(store)
    again.page.close()
    server.process.kill()
    server.process.wait()

    other = open_lab(serve().url)
    open_room(other)
    other.until(lambda: len(words(other)) == cells, "another server shows it", 60)
    press(other, "Start study")
    other.until(lambda: other.page.get_by_text(f"{cells} of {cells}").count() == 1, "it is complete", 1200)
    other.until(lambda: not {"waiting", "running"} & set(words(other)), "all verdicts are there", 120)
    assert kept.items() <= ended(store).items(), "what had ended was not done again"
    assert store.count() == cells
    curves = other.js("return find('plot-data').renderers.map(r => r.data_source.data.solver).find(s => s)")
    assert list(curves) == solvers
