"""The drawer of the dashboard in a real browser: ledger, certificate, microscope; and the bands of a step's slider."""

from __future__ import annotations

import re

import pytest

from helpers.dashboard_page import Lab

pytestmark = pytest.mark.slow


def calls_for(lab: Lab, purpose: str) -> int:
    """The calls of a purpose, as its bar has them."""
    match = re.search(rf"{purpose}\s+([\d,]+) · ", lab.page.locator(".bars").inner_text())
    return int(match[1].replace(",", "")) if match else 0


def test_the_drawer_shows_where_calls_went_and_gives_the_run_a_radius(lab: Lab) -> None:
    lab.settle(Seconds="auto", Replicas="2")
    lab.tab("Solver")
    lab.start()
    assert lab.page.locator(".bars").count() == 0, "it is closed at first"
    lab.page.get_by_label("Diagnosis").first.click()
    lab.until(
        lambda: lab.page.locator(".bars").count() == 1 and calls_for(lab, "directions") > 0, "the ledger is there"
    )
    before = calls_for(lab, "directions")
    lab.until(lambda: calls_for(lab, "directions") > before, "its bars grow")
    assert not lab.enabled("Certify this point"), "the run goes on"

    lab.press("Look")
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
    said = lab.page.get_by_text(re.compile(f"Certificate of iteration {lab.resting_iteration():,}"))
    lab.until(lambda: said.count() == 1, "the certificate is under the status")
    lab.press("Look")
    lab.until(lambda: lab.enabled("Look"), "the microscope has looked at the paused run")
    lab.press("Stop")
    lab.end("stopped")


def test_a_step_beyond_the_stable_end_is_asked_about_once(lab: Lab) -> None:
    lab.settle(Seconds="auto", Replicas="2")
    lab.tab("Solver")
    lab.start()
    rail = lab.page.locator(".logslider-primal_step .MuiSlider-rail")

    def background() -> str:
        return str(rail.evaluate("rail => getComputedStyle(rail).backgroundImage"))

    lab.until(lambda: "rgb(179, 38, 30)" in background(), "the rail has a red band")
    field, question = lab.field("Primal step c"), lab.page.get_by_role("button", name="Set it")
    before = field.input_value()
    lab.type("Primal step c", "0.02")
    lab.until(lambda: question.count() and question.is_visible(), "it is asked about")
    assert lab.data("marks", "text") == [], "nothing was sent"
    lab.press("Keep the old")
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
