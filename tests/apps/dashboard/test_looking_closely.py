"""The dashboard in a real browser: what is read off a plot, the way back to a place of it, and what Start refuses."""

from __future__ import annotations

import re

import pytest

from helpers.dashboard_page import Lab

pytestmark = pytest.mark.slow  # each of it is tested without a browser, too

RANGES = "return ['Gap', 'Violation', 'Stationarity'].map(n => find('plot-' + n).x_range.id)"
CROSSLINES = """
const lines = [];
for (const d of Bokeh.documents) for (const m of d._all_models.values())
    try { if (m.type === "CrosshairTool") lines.push(m.overlay.id) } catch {}
return lines;
"""


def test_values_are_read_and_a_place_is_gone_back_to(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="400", Replicas="4")
    lab.start()
    lab.end("finished")
    lab.until(lambda: len(lab.data("source-run1", "gap")) > 100, "all rows are drawn")
    box = lab.page.locator(".bk-Figure").first.bounding_box()
    middle = box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"]
    lab.page.mouse.move(*middle)
    # Name of the run, a value, and the band around it.
    lab.page.get_by_text("ZO-SPLM #1").and_(lab.page.locator("b")).first.wait_for()
    lab.page.get_by_text(re.compile(r"[\d.e+-]+ \([\d.e+-]+ to [\d.e+-]+\)")).first.wait_for()
    assert len(set(lab.js(RANGES))) == 1, "a zoom along x is that of all plots"
    assert len(set(lab.js(CROSSLINES))) == 1, "one line goes through all plots"

    lab.page.mouse.dblclick(*middle)
    back = lab.page.get_by_role("button", name=re.compile(r"Go back to iteration \d+"))
    back.wait_for()
    place = int(re.search(r"iteration (\d+)", back.inner_text())[1])
    assert 0 < place < 400
    back.click()
    lab.until(lambda: lab.row("run2").count() == 1, "there is a run beside the first")
    lab.end("paused")
    lab.until(lambda: lab.iteration() == place, "it waits at the place")
    assert f"Forked at iteration {place}" in lab.message()
    lab.press("Stop")


def test_a_wrong_field_keeps_start_back_and_another_problem_has_the_plots_to_itself(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="30", Replicas="2")
    lab.start()
    lab.end("finished")
    lab.type("Replicas", "1000000000")
    lab.press("Start")
    lab.until(lambda: "Replicas: Expected a whole number" in lab.message(), "the page says which field")
    assert lab.row("run2").count() == 0 and lab.status() == "finished"
    lab.type("Replicas", "2")
    lab.choose("Problem", "Load tracking (convex)")
    lab.until(lambda: lab.enabled("Start"), "the problem is there")
    lab.start("run2")
    lab.end("finished")
    first = lab.row("run1").get_by_role("textbox").input_value()
    lab.until(lambda: first not in " ".join(lab.legend()), "values of two problems share no axis")
    lab.row("run1").get_by_role("switch").click()
    lab.until(lambda: lab.js("return !!find('plot-RelativeGap')"), "asked for, they share the relative gap")
    lab.until(
        lambda: all("·" in label for label in lab.legend("plot-RelativeGap")) and lab.legend("plot-RelativeGap"),
        "where each is named with its problem",
    )
