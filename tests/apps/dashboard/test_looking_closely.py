"""The dashboard in a real browser: what is read off a plot, the way back to a place of it, and what Start refuses."""

from __future__ import annotations

import math
import re

import pytest

from helpers.dashboard_page import Lab
from zoviz.views.controls.about_problem import equation
from zoviz.views.controls.picker import Picker

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
    # Of each line the name of the run, a value, and the band around it; all in one box.
    lab.page.get_by_text(re.compile(r"ZO-SPLM #1, current   [\d.e+-]+ \([\d.e+-]+ to [\d.e+-]+\)")).first.wait_for()
    assert lab.page.get_by_text("ZO-SPLM #1, current   ").count() == 1
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


def test_a_wrong_field_keeps_start_back(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="30", Replicas="2")
    lab.start()
    lab.end("finished")
    lab.type("Replicas", "1000000000")
    lab.press("Start")
    lab.until(lambda: "Replicas: Expected a whole number" in lab.message(), "the page says which field")
    assert lab.row("run2").count() == 0 and lab.status() == "finished"


def test_another_problem_has_the_plots_to_itself(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="30", Replicas="2")
    lab.start()
    lab.end("finished")
    lab.choose("Problem", "Load tracking (convex)")
    lab.until(lambda: lab.enabled("Start"), "the problem is there")
    lab.start("run2")
    lab.end("finished")
    first = lab.row("run1").get_by_role("textbox").input_value()
    lab.until(lambda: first not in " ".join(lab.drawn()), "values of two problems share no axis")
    lab.choose_of_run("run1", "Show")
    lab.until(lambda: lab.js("return !!find('plot-RelativeGap')"), "asked for, they share the relative gap")
    lab.until(lambda: len(lab.drawn("plot-RelativeGap")) == 2, "both are on it")
    assert all("·" in label for label in lab.drawn("plot-RelativeGap")), "each is named with its problem"


# What the legend of the slice names, and how many pieces its contours and the feasible boundary have.
SLICE = """
const plot = find("picture-QuadraticSlice"), legend = plot?.above.find(model => model.items);
const pieces = plot?.renderers.filter(r => r.glyph.type === "MultiLine").map(r => r.data_source.data.xs.length);
return [pieces ?? [], legend?.items.flatMap(item => item.label.value ?? r(item)) ?? []];
function r(item) { return item.renderers.flatMap(one => Array.from(one.data_source.data[item.label.field] ?? [])); }
"""


def test_the_slice_has_contours_a_boundary_and_a_legend(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="400", Replicas="2")
    lab.start()
    lab.end("finished")
    lab.until(lambda: lab.js(SLICE)[0] and min(lab.js(SLICE)[0]) > 0, "contours and boundary are drawn")
    assert {"start", "now", "optimum", "feasible inside"} <= set(lab.js(SLICE)[1])
    box = lab.page.locator(".bk-Figure").last.bounding_box()
    assert box["width"] > 200


# How many points the path on the slice has.
POINTS = """
const lines = find("picture-QuadraticSlice")?.renderers.filter(r => r.glyph.type === "Line") ?? [];
return Math.max(0, ...lines.map(r => r.data_source.data.x.length));
"""


def test_a_slider_goes_back_along_the_path(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="200", Replicas="2")
    lab.start()
    lab.end("finished")
    whole = lab.until(lambda: lab.js(POINTS) > 100 and lab.js(POINTS), "the path is drawn")
    slider = lab.page.get_by_role("slider", name="Path up to").locator("visible=true")
    slider.focus()
    slider.press("Home")
    lab.until(lambda: lab.js(POINTS) == 1, "the start alone")
    lab.page.get_by_text("iteration 0 of 200").wait_for()
    slider.press("End")
    lab.until(lambda: lab.js(POINTS) == whole, "the whole path again")
    assert whole > 100


LIMITS = """
const legend = find("picture-BeamDrawing")?.below.find(model => model.items);
return legend?.items.map(item => item.label.value) ?? [];
"""


def test_a_beam_is_drawn_with_the_constraints_at_their_limit(lab: Lab) -> None:
    lab.choose("Problem", "Welded beam design")
    lab.until(lambda: lab.enabled("Start"), "the problem is there")
    lab.settle(Seconds="auto", Oracle_calls="3000", Replicas="2")
    lab.start()
    lab.end("finished")
    expected = {"1 shear in weld", "2 bending stress", "3 weld ≤ beam", "7 buckling"}
    at_limit = lambda: {words.partition(":")[0] for words in lab.js(LIMITS) if words.endswith("at limit")}  # noqa: E731
    lab.until(lambda: at_limit() == expected, "the published active constraints are marked")
    assert len(lab.js(LIMITS)) == 7


# Formulas that KaTeX does not understand, with what it says of them.
TYPESET_ALL = """formulas => {
    const complaints = {}, options = {output: "mathml", displayMode: true, throwOnError: true};
    for (const [title, text] of Object.entries(formulas))
        try { katex.renderToString(text, options) } catch (error) { complaints[title] = error.message }
    return complaints;
}"""

# What reaches the browser of one run: its status, the buttons, and its lines.
ARRIVALS = """
window.arrivals = [];
const note = what => arrivals.push(what), status = find("status");
status.properties.tags.change.connect(() => note(/zoviz-chip[^>]*>([^<]*)</.exec(status.tags[0])[1]));
find("source-run1").properties.tags.change.connect(() => note("lines"));
find("source-run1").properties.data.change.connect(() => note("lines"));
for (const d of Bokeh.documents) for (const m of d._all_models.values())
    if (["Start", "Pause", "Stop"].includes(m.label))
        for (const one of [m.properties.disabled, m.properties.label]) one.change.connect(() => note(m.label));
"""


def test_buttons_come_with_the_status_and_before_the_lines_that_follow_it(lab: Lab) -> None:
    lab.settle(Seconds="auto")
    lab.start()
    lab.js(ARRIVALS)
    lab.until(lambda: "lines" in lab.js("return arrivals"), "lines come")
    lab.press("Stop")
    lab.end("stopped")
    lab.until(lambda: "lines" in lab.js("return arrivals.slice(arrivals.indexOf('stopped'))"), "the last lines come")
    arrivals = lab.js("return arrivals")
    lines = arrivals.index("lines", arrivals.index("stopped"))
    assert {"Start", "Stop"} <= set(arrivals[:lines]), arrivals


def test_another_axis_is_on_the_same_figures(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="60", Replicas="2")
    lab.start()
    lab.end("finished")
    figure = "return [find('plot-Gap').id, find('plot-Gap').below[0].axis_label]"
    (before, _), calls = lab.js(figure), max(lab.data("source-run1", "x"))
    lab.press("iterations")
    lab.until(lambda: lab.js(figure) == [before, "iterations"], "the axis has another name")
    lab.until(lambda: max(lab.data("source-run1", "x")) == 60 < calls, "the lines are against iterations")
    lab.until(lambda: lab.js("return find('plot-Gap').x_range.end") < 70, "the range follows")
    assert lab.js(figure) == [before, "iterations"]


def test_what_is_known_of_a_problem_has_its_formula(lab: Lab) -> None:
    lab.page.locator("summary").first.click()
    lab.page.locator(".zoviz-formula math").wait_for()
    lab.page.get_by_text("optimum -1.32").wait_for()
    formulas = {title: equation(problem) for title, problem in Picker().problems.items()}
    assert len([text for text in formulas.values() if text]) >= 20
    complaints = lab.page.evaluate(TYPESET_ALL, formulas)
    assert complaints == {}


def test_a_best_below_the_optimum_is_said_to_be_there_by_tolerance(lab: Lab) -> None:
    lab.choose("Problem", "Speed reducer design")
    lab.until(lambda: lab.enabled("Start"), "the problem is there")
    lab.choose("Solver", "ZOCEG")
    lab.settle(Seconds="auto", Iterations="250", Replicas="4")
    lab.start()
    lab.end("finished")
    title = "return find('plot-Gap').title.text"
    lab.until(lambda: lab.js(title).endswith("below f*"), "the title says so")
    best = [value for value in lab.data("source-run1", "best_gap") if value is not None and math.isfinite(value)]
    assert best and best == sorted(best, reverse=True), "its magnitude never rises"
