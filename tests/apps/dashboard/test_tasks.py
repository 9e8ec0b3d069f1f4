"""What a person comes for, counted in clicks: each task by visible controls alone, with no manual."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.dashboard_page import Lab

pytestmark = pytest.mark.slow

OWN = """
from zoviz.problems import BlackBox


def cost(x):
    return (x[0] - 1.0) ** 2 + (x[1] - 2.0) ** 2


problem = BlackBox(cost, [lambda x: x[0] + x[1] - 2.0], bounds=[(-5.0, 5.0)] * 2, x0=[0.0, 0.0])
"""


class Clicks:
    """Clicks by accessible role and name, counted; a value that is typed and set by Enter is one, too."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.count = lab, 0

    def __call__(self, role: Any, name: str) -> None:
        self.lab.page.get_by_role(role, name=name, exact=True).first.click(timeout=1000 * self.lab.patience)
        self.count += 1

    def type(self, label: str, text: str) -> None:
        self.lab.type(label, text)
        self.count += 1


@pytest.fixture
def own_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Any) -> str:
    """The address of a page that serves a problem of somebody's own."""
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("ZOVIZ_STORE", f"sqlite:///{tmp_path / 'runs.db'}")
    return str(serve("--args", "mine:problem").url)


def test_the_best_design_of_my_function_is_in_the_clipboard(own_page: str, open_lab: Callable[..., Lab]) -> None:
    lab = open_lab(own_page, permissions=["clipboard-read", "clipboard-write"])
    clicks = Clicks(lab)
    clicks("button", "Start")
    lab.until(lambda: lab.enabled("Copy"), "there is a design")
    lab.end("finished")
    lab.page.wait_for_timeout(2000)
    clicks("button", "Copy")
    design = json.loads(lab.page.evaluate("navigator.clipboard.readText()"))
    assert design["feasible"] and list(design["x"].values()) == pytest.approx([0.5, 1.5], abs=1e-3)
    assert clicks.count <= 4


def test_a_step_is_steered_into_trouble_and_taken_back(lab: Lab) -> None:
    lab.settle(Seconds="auto", Replicas="2")
    clicks = Clicks(lab)
    clicks("button", "Start")
    lab.until(lambda: lab.iteration() > 50, "the run goes on")
    clicks.type("Primal step c", "0.9")
    back = "Back to before the last change"
    agreed = lab.page.get_by_role("button", name="Use 0.9", exact=True)
    lab.until(lambda: agreed.count() or lab.enabled(back) or lab.status() == "diverged", "it is set, or asked about")
    if agreed.count():
        agreed.click()
        clicks.count += 1
    lab.until(lambda: lab.enabled(back), "the way back is offered")
    clicks("button", back)
    lab.end("paused")
    assert lab.page.get_by_label("Primal step c", exact=True).input_value() != "0.9"
    print(f"{clicks.count} clicks")
    assert clicks.count <= 4


def test_two_solvers_are_compared_on_a_noisy_problem_and_drawn_for_print(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="100", Replicas="6")
    clicks = Clicks(lab)
    lab.unfold("Problem")
    clicks.count += 1
    clicks("combobox", "Noise of the values")
    clicks("option", "independent")
    for solver in ("ZO-SPLM", "ZO-ALM (linearised)"):
        clicks("combobox", "Solver")
        clicks("option", solver)
        clicks("button", "Start")
        lab.end("finished")
    with lab.page.expect_download(timeout=120_000) as coming:
        clicks("button", "Figure for print")
    assert coming.value.suggested_filename.endswith(".zip")
    clicks("tab", "Compare")
    lab.until(lambda: lab.page.get_by_text("pairs").count(), "the runs are compared")
    print(f"{clicks.count} clicks")


def test_a_link_of_a_colleague_shows_the_same(lab: Lab, open_lab: Callable[..., Lab]) -> None:
    lab.choose("Problem", "Welded beam design")
    lab.choose("Solver", "ZOSQP")
    lab.page.get_by_role("checkbox", name="Log x").click()
    lab.until(lambda: "Welded" in lab.page.url and "log_x" in lab.page.url, "the address says so")
    other = open_lab(lab.page.url)
    shown = [other.page.get_by_role("combobox", name=name, exact=True).input_value() for name in ("Problem", "Solver")]
    assert shown == ["Welded beam design", "ZOSQP"] and other.page.get_by_role("checkbox", name="Log x").is_checked()


def test_why_a_run_is_stuck_is_said_at_once_and_in_full_after_a_click(lab: Lab) -> None:
    lab.settle(Seconds="auto", Replicas="2")
    lab.type("Primal step c", "1e-9")
    clicks = Clicks(lab)
    clicks("button", "Start")
    verdict = lab.page.locator(".zoviz-verdict")
    lab.until(lambda: verdict.count() and verdict.inner_text() in ("stalled", "converging"), "a verdict is given")
    print(lab.page.locator(".zoviz-said").inner_text())
    clicks("button", "Diagnosis")
    lab.until(lambda: lab.page.locator(".bars").is_visible(), "the drawer has the ledger")
    assert clicks.count == 2
