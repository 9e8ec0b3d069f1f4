"""The dashboard's plots in a real browser: axes that follow the lines, or a person who moves them, and tools."""

from __future__ import annotations

import re

import pytest

from helpers.dashboard_page import Lab

pytestmark = pytest.mark.slow  # tests/views/plots has the figures without a browser

# Ends of the axes of a plot, in the axis's own numbers: x, then y.
ENDS = "const {x_range, y_range} = find(a); return [x_range.start, x_range.end, y_range.start, y_range.end]"
# Whether a plot's ranges hold all that it draws of runs.
HOLDS = """
const plot = find(a), log = plot.y_scale.type === "LogScale";
const within = (range, values, positive) => values.every(
    v => !isFinite(v) || (positive && v <= 0) || (range.start < v && v < range.end));
return plot.renderers.filter(one => one.tags.length).every(({tags, data_source: {data}}) =>
    within(plot.x_range, Array.from(data.x)) &&
    tags.every(name => within(plot.y_range, Array.from(data[name] ?? []), log)));
"""


def middle(lab: Lab) -> tuple[float, float]:
    box = lab.page.locator(".bk-Figure").first.bounding_box()
    return box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]


def drag(lab: Lab, dx: float, dy: float) -> None:
    x, y = middle(lab)
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + dx, y + dy, steps=4)
    lab.page.mouse.up()


def tool(lab: Lab, words: str) -> object:
    return lab.page.get_by_role("button", name=re.compile(f"^{words}: "))


def test_axes_follow_the_lines_until_a_person_moves_them_and_again_after_a_reset(lab: Lab) -> None:
    lab.settle(Seconds="auto", Oracle_calls="auto", Replicas="2")
    lab.start()
    lab.until(lambda: lab.js(HOLDS, "plot-Gap") and lab.js(HOLDS, "plot-Violation"), "both hold their lines")
    drag(lab, 40, 20)
    moved = lab.until(lambda: not lab.js(HOLDS, "plot-Gap") and lab.js(ENDS, "plot-Gap"), "it is moved")
    rows = lab.iteration()
    lab.until(lambda: lab.iteration() > rows + 20, "the run goes on")
    assert lab.js(ENDS, "plot-Gap") == moved, "it stays where the person has it"
    assert lab.js(ENDS, "plot-Violation")[:2] == moved[:2], "all plots have the same x"
    lab.press("Stop")
    lab.end("stopped")
    lab.page.wait_for_timeout(1000)
    assert lab.js(ENDS, "plot-Gap") == moved, "nor does the end of the run move it"
    lab.page.mouse.move(*middle(lab))
    tool(lab, "Reset axes").click()
    lab.until(lambda: lab.js(HOLDS, "plot-Gap") and lab.js(HOLDS, "plot-Violation"), "they follow again")

    tool(lab, "Zoom by a box").click()
    assert tool(lab, "Zoom by a box").get_attribute("aria-pressed") == "true"
    whole = lab.js(ENDS, "plot-Gap")
    drag(lab, 60, 40)
    lab.until(lambda: lab.js(ENDS, "plot-Gap")[1] - lab.js(ENDS, "plot-Gap")[0] < 0.5 * (whole[1] - whole[0]), "a box")
    lab.press("iterations")
    last = lab.iteration()
    lab.until(lambda: last < lab.js(ENDS, "plot-Gap")[1] < 1.1 * last + 1, "another axis has all of the lines")
    before = lab.js(ENDS, "plot-Gap")
    lab.page.mouse.move(*middle(lab))
    lab.page.mouse.wheel(0, 200)
    lab.page.mouse.wheel(0, -200)
    lab.page.wait_for_timeout(300)
    assert lab.js(ENDS, "plot-Gap") == before, "the wheel is the page's"
    lab.page.mouse.move(*middle(lab))
    lab.page.keyboard.down("Control")
    lab.page.mouse.wheel(0, -200)
    lab.page.keyboard.up("Control")
    lab.until(lambda: lab.js(ENDS, "plot-Gap")[1] < before[1], "with its key it zooms")


def test_axes_of_a_hidden_room_follow_too(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="400", Replicas="2")
    lab.start()
    lab.page.get_by_role("tab", name="Compare").click()
    lab.until(lambda: max(lab.data("source-run1", "x"), default=0) > 0 and lab.js(HOLDS, "plot-Violation"), "hidden")
    lab.page.get_by_role("tab", name="Run", exact=True).click()
    lab.end("finished")
    lab.until(lambda: len(lab.data("source-run1", "x")) > 100, "all of it is drawn")
    assert lab.js(HOLDS, "plot-Gap") and lab.js(HOLDS, "plot-Violation")


def test_the_tools_of_each_plot_are_reached_by_keys(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="60", Replicas="2")
    lab.start()
    lab.end("finished")
    press = lab.page.keyboard.press
    tool(lab, "Zoom by a box").focus()
    names = [lab.page.evaluate(ACTIVE)]
    for _ in range(4):
        press("Tab")
        names.append(lab.page.evaluate(ACTIVE))
    words = ("Zoom by a box", "Reset axes", "Full screen", "Save as picture", "Next plot")
    assert names == [f"{word}: Objective gap" for word in words]
    press("Enter")
    assert lab.page.evaluate(ACTIVE) == "Next plot: Constraint violation"
    press("Shift+Tab")
    press("Shift+Tab")
    press("Enter")
    full = "return document.fullscreenElement !== null"
    lab.until(lambda: lab.js(full), "a plot fills the screen")
    assert lab.js("return find('plot-Violation').height") > 500
    press("f")
    lab.until(lambda: not lab.js(full), "and is back in its place")
    tool(lab, "Save as picture").focus()
    with lab.page.expect_download() as coming:
        press("Enter")
    assert coming.value.suggested_filename == "plot-Violation.png"


# What the element that has the focus is called.
ACTIVE = """() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element?.getAttribute("aria-label");
}"""
