"""The drawer of the dashboard in a real browser: ledger, certificate, microscope; and the bands of a step's slider."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from helpers.dashboard_page import Lab

pytestmark = pytest.mark.slow

NOISY = """
import threading
import numpy as np
from zoviz.problems import BlackBox

generator, lock = np.random.default_rng(5), threading.Lock()

def simulate(x):
    with lock:
        noise = 1e-4 * generator.standard_normal(2)
    return (x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2 + noise[0], [x[0] ** 2 + x[1] ** 2 - 1.0 + noise[1]]

problem = BlackBox(simulate, bounds=[(-3.0, 3.0)] * 2, x0=[-1.5, -1.5], joint=True, m=1, noise="independent")
"""
"""A simulator with noise of its own; at its solution (2, 1) / sqrt(5) the multiplier is sqrt(5) - 1."""


def calls_for(lab: Lab, purpose: str) -> int:
    """The calls of a purpose, as its bar has them."""
    match = re.search(rf"{purpose}\s+([\d,]+) · ", lab.page.locator(".bars").inner_text())
    return int(match[1].replace(",", "")) if match else 0


def test_the_drawer_shows_where_calls_went_and_gives_the_run_a_radius(lab: Lab) -> None:
    lab.settle(Seconds="auto", Replicas="2")
    lab.unfold("Solver")
    lab.start()
    assert lab.page.locator(".bars").count() == 0, "it is closed at first"
    lab.press("Diagnosis")
    lab.until(
        lambda: lab.page.locator(".bars").count() == 1 and calls_for(lab, "directions") > 0, "the ledger is there"
    )
    before = calls_for(lab, "directions")
    lab.until(lambda: calls_for(lab, "directions") > before, "its bars grow")
    assert not lab.enabled("Certify this point"), "the run goes on"

    lab.press("Measure")
    use = lab.page.get_by_role("button", name=re.compile("^Use radius"))
    lab.until(lambda: use.count() and use.is_visible(), "the microscope has looked at the going run")
    radius = use.inner_text().split()[-1]
    assert len(lab.data("microscope", "radius")) == 13
    use.click()
    lab.until(lambda: lab.field("Smoothing radius r").input_value() == radius.lower(), "the form has the radius")
    lab.until(lambda: any("Smoothing radius r" in text for text in lab.data("marks", "text")), "the plots have a mark")

    lab.press("Pause")
    lab.end("paused")
    lab.until(lambda: lab.enabled("Certify this point"), "a paused run can be certified")
    lab.press("Certify this point")
    said = lab.page.get_by_text(re.compile(f"Certificate of iteration {lab.iteration():,}"))
    lab.until(lambda: said.count() == 1, "the certificate is in the drawer")
    lab.press("Measure")
    lab.until(lambda: lab.enabled("Measure"), "the microscope has looked at the paused run")
    lab.press("Stop")
    lab.end("stopped")


def test_a_step_beyond_the_stable_end_is_asked_about_once(lab: Lab) -> None:
    lab.settle(Seconds="auto", Replicas="2")
    lab.unfold("Solver")
    lab.start()
    slider = lab.page.locator(".logslider-primal_step")

    def ranges() -> str:
        return str(slider.evaluate("slider => slider.style.getPropertyValue('--zf-bands')"))

    lab.until(lambda: "unstable" in ranges(), "the slider has its ranges")
    lab.until(lab.page.get_by_text("unstable", exact=True).is_visible, "which are named")
    field, question = lab.field("Primal step c"), lab.page.get_by_role("button", name="Use 0.02", exact=True)
    before = field.input_value()
    lab.type("Primal step c", "0.02")
    lab.until(lambda: question.count() and question.is_visible(), "it is asked about")
    assert lab.data("marks", "text") == [], "nothing was sent"
    lab.page.get_by_role("button", name=re.compile("^Keep ")).click()
    lab.until(lambda: field.input_value() == before and not question.is_visible(), "the old one stays")
    lab.type("Primal step c", "0.02")
    lab.until(question.is_visible, "it is asked about again, as nothing was agreed to")
    lab.press("Pause")
    lab.end("paused")
    question.click()
    lab.until(lambda: len(lab.data("marks", "text")) == 1, "the change is marked")
    lab.type("Primal step c", "0.03")
    lab.until(lambda: any("0.03" in text for text in lab.data("marks", "text")), "the next is sent at once")
    assert not question.is_visible()
    lab.press("Stop")
    lab.end("stopped")


def test_a_noisy_simulator_of_ones_own_is_certified_with_an_interval(
    serve: Any, open_lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("ZOVIZ_STORE", f"sqlite:///{tmp_path / 'runs.db'}")
    lab = open_lab(serve("--args", "noisy:problem").url)
    lab.settle(Seconds="auto", Iterations="auto", Oracle_calls="600", Replicas="1")
    lab.press("Start")
    lab.end("finished")
    lab.press("Diagnosis")
    lab.until(lambda: lab.enabled("Certify this point"), "an ended run can be certified")
    lab.press("Certify this point")
    line = lab.page.get_by_text(re.compile("Certificate of iteration"))
    lab.until(lambda: line.count() == 1, "the certificate is in the drawer", 60)
    said = line.locator("..").inner_text()
    match = re.search(r"KKT residual ([\d.e+-]+) \((< )?[\d.e+-]+", said)
    assert match is not None and float(match[1]) < 0.5 and "resolution" in said, said
    card = lab.page.locator(".zoviz-best")
    lab.until(lambda: "another digit would take about" in card.inner_text(), "the card has it, too")
    shown = card.inner_text()
    assert re.search(r"f\* -?[\d.]+ \(-?[\d.]+ to -?[\d.]+\); possible gain nearby at most ", shown), shown
    assert re.search(
        r"active, P\(h <= 0\) [=<>] [\d.]+ %; a unit of this limit is worth [\d.]+ \([\d.]+ to [\d.]+\)", shown
    ), shown
