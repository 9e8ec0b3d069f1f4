"""What a person may get wrong: each is explained where it happened, and nothing is lost."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

from helpers.dashboard_page import HANDLE, Lab
from helpers.serving import Server

LOCKED = "Locked during a run"

FAILS_LATER = """
calls = 0

def objective(x):
    global calls
    calls += 1
    if calls > 30_000:
        {end}
    return float(x @ x)

Dashboard(problem=BlackBox(objective, bounds=[(-1, 1)] * 4)).page().servable()
"""

ON_A_BALL = """
class OnABall(Problem):
    title = "Least squares on a ball"
    m, n = 0, 3

    @property
    def domain(self):
        return Ball(np.zeros(3), 2.0)

    def evaluate(self, x, xi=None):
        return Evaluation(np.square(x - 1.0).sum(axis=-1), np.zeros((*x.shape[:-1], 0)))

Dashboard(problem=OnABall()).page().servable()
"""


@pytest.mark.parametrize(
    "text", ["1e300", pytest.param("abc", marks=pytest.mark.slow), pytest.param("0", marks=pytest.mark.slow)]
)
def test_a_bad_number_is_explained_below_its_field_and_the_run_goes_on(lab: Lab, text: str) -> None:
    lab.settle(Seconds="none")
    lab.unfold("Solver")
    lab.start()
    for label, kind in (("Primal step c", "a number"), ("Batch size k", "a whole number")):
        lab.type(label, text)
        sentence = lab.page.get_by_text(re.compile(f"Expected {kind} .*, got '{text}': the value stays"))
        sentence.wait_for()
        field, below = lab.field(label).bounding_box(), sentence.bounding_box()
        assert 0 <= below["y"] - field["y"] - field["height"] < 40, "the sentence is below its field"
        assert lab.field(label).input_value() == text, "what was typed can be corrected"
    before = lab.iteration()
    lab.until(lambda: lab.iteration() > before, "the run goes on")
    assert lab.status() == "running" and lab.data("marks", "text") == []
    lab.type("Batch size k", "40")
    lab.until(lambda: len(lab.data("marks", "text")) == 1, "a good value is taken")
    lab.until(lambda: lab.page.get_by_text(f"got '{text}': the value stays").count() == 1, "the other stays explained")


@pytest.mark.slow  # it opens a page of its own
def test_an_infeasible_problem_says_so_before_the_start_and_at_it(lab: Lab) -> None:
    lab.choose("Problem", "Load tracking (convex)")
    lab.unfold("Problem")
    lab.type("Curtailment in kW", "1e6")
    lab.until(lambda: "Expected a curtailment of at most" in lab.message(), "the page says what is wrong")
    lab.press("Start")
    lab.until(lambda: lab.page.get_by_text("Expected a curtailment of at most").count() > 1, "a notification comes")
    assert lab.status() == "ready" and lab.row("run1").count() == 0
    lab.type("Curtailment in kW", "1000")
    lab.start()
    lab.until(lambda: "curtailment" not in lab.message(), "the complaint is gone")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        pytest.param("raise RuntimeError('the simulator has no licence')", "the simulator has no licence", id="raises"),
        pytest.param(
            "return float('nan')",
            "Expected finite values from the black box, got NaN or Inf",
            id="NaN",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_black_box_that_fails_ends_the_run_with_a_sentence(
    open_app: Callable[[str], Lab], end: str, sentence: str
) -> None:
    lab = open_app(FAILS_LATER.format(end=end))
    lab.choose("Solver", "ZO-SPLM")
    lab.settle(Oracle_calls="none", Seconds="60")
    lab.press("Start")
    lab.end("failed")
    lab.until(lambda: sentence in lab.message(), "the page says what happened")

    def values() -> list[float]:
        return [value for value in lab.data("source-run1", "objective") if math.isfinite(value)]

    lab.until(lambda: len(values()) > 5 and values()[-1] < values()[0], "the lines drawn so far stay")
    assert lab.enabled("Start") and "Objective" in lab.js("return find('plot-Objective').title.text")


@pytest.mark.slow  # tests/views/app/test_dashboard_light_page.py reads the same text without a browser
def test_a_solver_that_does_not_fit_is_named_with_its_reason(open_app: Callable[[str], Lab]) -> None:
    lab = open_app(ON_A_BALL)
    assert lab.page.get_by_role("combobox").first.input_value() == "Least squares on a ball (yours)"
    lab.page.get_by_text("Not offered here: ").click()
    lab.page.get_by_text("ZOBCEG moves single coordinates and needs a box as domain").wait_for()
    lab.page.get_by_role("combobox").nth(1).click()
    lab.page.locator("[role=option]:visible").first.wait_for()
    offered = lab.page.locator("[role=option]:visible").all_inner_texts()
    assert "ZO-SPLM" in offered and "ZOBCEG" not in offered
    lab.page.keyboard.press("Escape")
    lab.settle(Iterations="30", Seconds="none")
    lab.press("Start")
    lab.end("finished")


@pytest.mark.slow
def test_start_pressed_twice_gives_one_run_and_structural_widgets_say_why_they_are_disabled(lab: Lab) -> None:
    lab.settle(Seconds="none")
    lab.unfold("Solver")
    reason = lab.page.get_by_text(LOCKED)
    assert not any(one.is_visible() for one in reason.all())
    lab.page.get_by_role("button", name="Start", exact=True).dblclick()
    lab.until(lambda: len(lab.data("source-run1", "gap")) > 1, "the run has lines")
    for tab, fixed, free in (
        ("Solver", "Dual cap B", "Primal step c"),
        ("Problem", "Variables n", None),
        ("Run", "Replicas", None),
    ):
        lab.unfold(tab)
        lab.until(lambda fixed=fixed: lab.field(fixed).is_disabled(), f"{fixed} is disabled")
        lab.until(lambda: any(one.is_visible() for one in reason.all()), "the page says why")
        assert free is None or lab.field(free).is_enabled()
    assert lab.page.get_by_role("combobox").first.is_disabled()
    before = lab.iteration()
    lab.until(lambda: lab.iteration() > before, "the run goes on")
    lab.press("Stop")
    lab.until(lambda: lab.message().startswith("Stopped after"), "the page says how the run ended")
    assert lab.row("run1").count() == 1 and lab.row("run2").count() == 0
    lab.end("stopped")
    lab.until(lambda: lab.field("Replicas").is_enabled(), "the fields can be changed again")
    lab.until(lambda: not any(one.is_visible() for one in reason.all()), "the reason is gone")


@pytest.mark.slow  # test_lifecycle.py has two tabs, too
def test_two_tabs_do_not_disturb_each_other(server: Server, open_lab: Callable[..., Lab]) -> None:
    first, second = open_lab(server.url), open_lab(server.url)
    for lab in (first, second):
        lab.settle(Seconds="none")
        lab.unfold("Solver")
    first.start()
    first.page.locator(HANDLE).press("ArrowRight")
    first.until(lambda: len(first.data("marks", "text")) == 1, "the change is marked")
    assert (second.status(), second.iteration()) == ("ready", 0)
    assert second.data("marks", "text") == [] and second.field("Primal step c").input_value().startswith("auto")

    second.start()
    second.page.locator(HANDLE).press("ArrowLeft")
    second.until(lambda: len(second.data("marks", "text")) == 1, "the change is marked")
    second.press("Pause")
    second.end("paused")
    assert len(first.data("marks", "text")) == 1
    before = first.iteration()
    first.until(lambda: first.iteration() > before, "the first run goes on")
    first.press("Stop")
    first.end("stopped")
    assert second.status() == "paused"
