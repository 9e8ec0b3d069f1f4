"""A program as the problem on the page: what it prints is seen as text; a stored run is forked, changed, resumed."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from zoviz.problems import NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers import ZOSPLM

NASTY = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&lt;b&gt;"

MODULE = f"""
from zoviz.problems import Executable

words = {NASTY!r}
problem = Executable(["/bin/sh", "-c", 'read a; echo "$1" >&2; echo 1', "sh", words], bounds=[(-1.0, 1.0)] * 2, m=0)
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A stored run, for the server that the test starts, whose problem is a program."""
    (tmp_path / "loud.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    )
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    monkeypatch.setenv("ZOVIZ_STORE", url)
    run_store = Store(url)
    solver = ZOSPLM(primal_step=1e-3)
    run = Run(problem=NonconvexQCQP(n=4), solver=solver, replicas=2, iterations=40, label="begun so", store=run_store)
    run.run()
    run_store.annotate(run.id, tags=("first",), notes="to be forked")
    return run_store


def printed(lab: Any) -> Any:
    return lab.page.locator(".zoviz-printed")


def right_edge(cell: Any) -> float:
    """Where a cell ends; infinity while the table draws its rows anew, and the cell is on no place of the page."""
    box = cell.bounding_box()
    return math.inf if box is None else box["x"] + box["width"]


@pytest.mark.slow  # tests/views/controls/test_program_output.py has the output by itself
def test_a_program_prints_on_the_page_and_a_fork_waits_for_changes(store: Store, serve: Any, open_lab: Any) -> None:
    lab = open_lab(serve("--args", "loud:problem").url, viewport={"width": 1100, "height": 700})
    title = lab.page.title()
    lab.choose("Solver", "ZO-SPLM")  # which goes on where values never change
    lab.settle(Replicas="1")
    lab.unfold("Solver")
    lab.press("Start")
    lab.until(lambda: printed(lab).is_visible(), "what the program printed")
    lab.until(lambda: NASTY in printed(lab).locator("pre").all_inner_texts(), "its words, to the letter")
    assert "exit status 0" in printed(lab).locator(".how").first.inner_text()
    assert printed(lab).locator("div").count() and printed(lab).locator("script, img, b").count() == 0
    assert lab.page.title() == title, "nothing of it was run"
    lab.press("Stop")
    lab.end("stopped")

    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").nth(1).wait_for()
    assert printed(lab).is_hidden()
    for words in ("begun so", "first", "to be forked"):
        cell = lab.page.locator(".tabulator-cell", has_text=words)
        lab.until(lambda cell=cell: right_edge(cell) <= 1100, "seen without scrolling")
    lab.page.locator(".tabulator-row", has_text="begun so").locator("input[type=checkbox]").click()
    lab.until(lambda: lab.enabled("Fork"), "one run chosen")
    lab.type("at iteration", "25")
    lab.press("Fork")
    lab.end("paused")
    lab.until(lambda: "Forked at iteration 25: change parameters, then press Start." in lab.message(), "what to do")
    assert lab.iteration() == 25
    # The status comes before the rest of the page: what is typed into the old forms is lost.
    lab.until(lambda: printed(lab).is_hidden(), "this problem prints nothing")
    lab.until(lambda: lab.field("Primal step c").input_value() == "0.001", "the form is the run's")
    lab.type("Primal step c", "2e-3")
    lab.until(lambda: lab.field("Primal step c").input_value() == "0.002", "the value taken")
    lab.press("Start")
    lab.end("finished")
    fork = store.runs(text="begun so", sort="-created")[0]
    lab.until(lambda: store.load(fork.id).status == "finished", "it stored")
    assert [change[:1] + change[3:] for change in store.load(fork.id).journal] == [(25, "primal_step", 1e-3, 2e-3)]
    assert fork.parent == store.runs(text="begun so", sort="created")[0].id and lab.iteration() == 40
