"""ZOSQP and the portfolio on the page: a design, a CUTEst problem, and a noisy function of one's own.

From Start with pictures over a pause, steering, ``kill -9`` of the server and its resumption by another to Stop, or to
where noise hides what further steps would gain, and again by a replay, to the bit.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.dashboard_page import Lab, tick
from zoviz.runs.store import Store
from zoviz.runs.stored_run import StoredRun

pytestmark = pytest.mark.slow

MODULE = """
from zoviz.problems import BlackBox

def simulate(x):
    f = (x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2
    return f, [x[0] ** 2 + x[1] ** 2 - 1.0, x[0] - x[1]]

box = {"bounds": [(-3.0, 3.0)] * 2, "x0": [-1.5, -1.5], "joint": True, "m": 2}
problem = BlackBox(simulate, noise="independent", noise_scale=1e-3, **box)
"""
POINTS = "return Array.from(find('step-region-points')?.data?.x ?? []).length"
CALLS = 1_000_000
"""More than are made before the end, however fast the machine."""
OWN = "a function of one's own"
EACH = pytest.mark.parametrize("solver", ["ZOSQP", "Portfolio"])
EACH_PROBLEM = pytest.mark.parametrize("problem", ["Pressure vessel design", "CUTEst suite (S2MPJ)", OWN])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store of the servers that a test starts, which find a module with a noisy function."""
    (tmp_path / "noisy.py").write_text(MODULE, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.syspath_prepend(str(tmp_path))
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.setenv("ZOVIZ_STORE", url)
    return Store(url, trusted=["noisy:simulate"])


def begin(lab: Lab, problem: str, solver: str) -> None:
    """Choose both, start, and wait for lines and for the picture's points."""
    if problem != OWN:
        lab.choose("Problem", problem)
        lab.until(lambda: lab.status() == "ready" and lab.enabled("Start"), "the problem is there")
    lab.choose("Solver", solver)
    lab.settle(Seconds="auto", Iterations="auto", Oracle_calls=str(CALLS), Replicas="2")
    lab.press("Start")
    lab.until(lambda: len(lab.data("source-run1", "x")) > 1, "there are lines")
    lab.until(lambda: lab.js(POINTS) > 1, "the picture has points")


def steer(lab: Lab, solver: str) -> None:
    """Pause, change the radius and the share of restarts, see both marked, and go on."""
    lab.press("Pause")
    lab.end("paused")
    held = lab.iteration()
    lab.unfold("Solver")
    for count, (label, value) in enumerate([("Trust radius scale", "0.5"), ("Share of restarts", "0.4")], 1):
        lab.field(label).first.fill(value)
        lab.field(label).first.press("Enter")
        lab.until(lambda count=count: len(lab.data("marks", "text")) == count, f"{label} is marked")
    radius, share = lab.data("marks", "text")
    assert "Trust radius scale" in radius and "Share of restarts" in share
    lab.press("Start")
    lab.until(lambda: lab.iteration() > held + 3, "it goes on")


def assert_same(one: StoredRun, other: StoredRun) -> None:
    """Assert that iterates, counts and traces agree to the bit."""
    for name in ("x", "fun", "maxcv", "best_x", "best_fun", "calls"):
        np.testing.assert_array_equal(getattr(one.result, name), getattr(other.result, name), err_msg=name)
    left, right = one.trace.snapshot().columns, other.trace.snapshot().columns
    for name in left.keys() - {"seconds"}:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def take_up(lab: Lab, button: str) -> None:
    """Open the list of stored runs and press a button for the newest."""
    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").first.wait_for()
    tick(lab, button)
    lab.press(button)


@EACH_PROBLEM
@EACH
def test_steered_killed_resumed_stopped_and_replayed(
    store: Store, serve: Any, open_lab: Any, problem: str, solver: str
) -> None:
    server = serve("--args", "noisy:problem")
    lab = open_lab(server.url)
    begin(lab, problem, solver)
    steer(lab, solver)
    server.process.kill()
    server.process.wait()
    lab.page.close()
    lab = open_lab(serve("--args", "noisy:problem").url)
    (line,) = store.runs()
    assert line.status == "interrupted"
    take_up(lab, "Resume run")
    lab.until(lambda: lab.iteration() > line.iterations + 3, "the run goes on")
    if problem == OWN:  # it ends by itself at the noise floor
        lab.end(ending := "finished")
    else:
        lab.press("Stop")
        lab.end(ending := "stopped")
    take_up(lab, "Replay")
    lab.until(lambda: [one.status for one in store.runs()] == ["finished", ending], "the replay has ended", 300)
    replay, original = (store.load(one.id) for one in store.runs())
    assert original.result.nit > line.iterations + 3 and len(original.journal) == 2
    assert_same(original, replay)
