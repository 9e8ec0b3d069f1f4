"""The dashboard in a real browser: its buttons, the slider of the step size, other problems and solvers."""

from __future__ import annotations

import math
import re

import pytest

from helpers.dashboard_page import HANDLE, Lab
from zoviz.views.common.drags import DRAG

# When the key went down and when the mark came, both by the browser's clock.
WATCH = """
window.pressed = []; window.marked = [];
window.addEventListener("keydown", () => pressed.push(performance.now()), true);
setInterval(() => {
    const marks = find("marks")?.data.x.length ?? 0;  // which come with the first of them
    while (marked.length < marks) marked.push(performance.now());
}, 5);
"""

# Where the newest mark's head is on the page, in pixels.
HEAD = """
const plot = find("plot-Gap"), marks = find("marks"), view = Bokeh.index.get_by_id(plot.id) ?? a;
const walk = views => { for (const v of views) { if (v.model === plot) return v;
    const found = walk([...v.children?.() ?? [], ...v.child_views ?? []]); if (found) return found } };
const found = walk([...Bokeh.index.roots]);
const box = found.canvas_view.el.getBoundingClientRect(), i = marks.data.x.length - 1;
return [box.x + found.frame.x_scale.compute(marks.data.x[i]),
        box.y + found.frame.bbox.top + (1 - marks.data.y[i]) * found.frame.bbox.height];
"""


FIGURES = 6
"""Plots and pictures of the run that the form begins with."""


def visible_figures(lab: Lab) -> list[list[float]]:
    """Left, top, right and bottom of each."""
    boxes = lab.page.locator(".bk-Figure").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"
    )
    return [box for box in boxes if box[2] > box[0] and box[3] > box[1]]


def overlaps(lab: Lab) -> list[tuple[int, int]]:
    """Pairs of figures that cover parts of each other."""
    visible = visible_figures(lab)
    return [
        (i, j)
        for j, b in enumerate(visible)
        for i, a in enumerate(visible[:j])
        if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1
    ]


def finite(values: list[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def seconds(lab: Lab) -> float:
    """Seconds that the run has computed, of the line of counters."""
    match = re.search(r"([\d.]+) s\b", lab.line())
    return float(match[1]) if match else 0.0


def goes_on_and_stops(lab: Lab, held: int) -> None:
    """Continue a run that is held at this iteration, then stop it."""
    lab.press("Start")
    lab.until(lambda: lab.iteration() > held, "the run goes on")
    lab.end("running")
    lab.press("Stop")
    lab.end("stopped")
    assert lab.message().startswith(f"Stopped after {lab.iteration()} iterations."), "all of one moment"
    lab.until(lambda: lab.enabled("Start"), "Start is enabled")
    assert len(lab.data("source-run1", "gap")) > 1  # the lines stay


# How many style sheets are written when the page is laid out again with nothing changed.
STYLES_WRITTEN = """
const text = Object.getOwnPropertyDescriptor(Node.prototype, "textContent");
let written = 0;
Object.defineProperty(Node.prototype, "textContent", {...text, set(value) {
    written += this instanceof HTMLStyleElement;
    text.set.call(this, value);
}});
let root = Bokeh.index.find_one(find("plot-Gap"));
while (root.is_managed) root = root.parent;
root.update_layout();
Object.defineProperty(Node.prototype, "textContent", text);
return written;
"""


@pytest.mark.slow
def test_a_layout_writes_the_style_sheets_that_it_changes(lab: Lab) -> None:
    lab.settle(Iterations="40")
    lab.start()
    lab.end("finished")
    lab.complete()  # a plot that comes late lays the page out as well
    assert lab.js(STYLES_WRITTEN) == 0


def test_start_draws_and_the_buttons_do_what_they_say(lab: Lab) -> None:
    assert lab.status() == "ready" and [lab.enabled(b) for b in ("Start", "Pause", "Stop")] == [True, False, False]
    lab.settle(Seconds="none")  # else it may end before a slow machine has pressed Pause
    lab.start()
    lab.until(lambda: len(visible_figures(lab)) >= FIGURES, "all plots and the picture are in sight")
    lab.until(lambda: overlaps(lab) == [], "each has a place of its own")
    first = lab.columns("source-run1", "x", "gap")
    lab.until(lambda: max(lab.data("source-run1", "x")) > 1.2 * max(first[0]), "the lines grow")
    x, gap = lab.columns("source-run1", "x", "gap")
    print(f"lines: {len(first[0])} points to {first[0][-1]:g} calls, then {len(x)} points to {x[-1]:g} calls")
    assert len(x) == len(gap) <= 301 and x == sorted(x)
    lab.until(lambda: (now := finite(lab.data("source-run1", "gap")))[-1] < now[0], "the gap falls")
    lab.end("running")
    lab.until(lambda: not lab.enabled("Start"), "Start is disabled")

    lab.press("Pause")
    lab.end("paused")
    held = lab.iteration()
    assert held > 0
    for count in (1, 2):
        lab.press("Step")
        lab.until(lambda count=count: lab.iteration() == held + count, "one more step is taken")
        lab.end("paused")
    assert lab.iteration() == held + 2, "two steps in all: it was paused between them"
    goes_on_and_stops(lab, held + 2)

    lab.remove()
    lab.end("ready")
    lab.until(lambda: lab.row("run1").count() == 0, "the run is off the shelf")
    lab.until(lambda: lab.iteration() == 0 and not lab.enabled("Stop"), "the counters are back")

    lab.press("Step")  # which begins a run
    lab.end("paused")
    lab.until(lambda: lab.iteration() == 1, "one step is taken")
    lab.press("Stop")
    lab.end("stopped")
    assert lab.iteration() == 1


@pytest.mark.slow  # test_bad_input.py steers by a field every time
def test_the_step_size_slider_steers_the_run(lab: Lab) -> None:
    lab.settle(Seconds="auto")
    lab.unfold("Solver")
    lab.start()
    lab.js(WATCH)
    handle, field = lab.page.locator(HANDLE), lab.field("Primal step c")
    lab.until(lambda: handle.is_visible(), "the slider is there")
    for move in range(3):
        handle.press("ArrowLeft")
        lab.until(lambda move=move: len(lab.data("marks", "text")) == move + 1, "the change is marked")
        lab.until(lambda move=move: lab.js("return marked.length") > move, "the mark is drawn")
        lab.page.wait_for_timeout(370)  # not a multiple of the page's period
        apart = seconds(lab) + DRAG + 0.2  # by less, it would be the same drag
        lab.until(lambda apart=apart: seconds(lab) > apart, "the next change is a drag of its own")
    times = [marked - pressed for pressed, marked in zip(*lab.js("return [pressed, marked]"), strict=True)]
    print("from the key to the mark:", ", ".join(f"{time:.0f} ms" for time in times))
    assert min(times) > 0

    texts = [re.sub("<.*?>", " ", text) for text in lab.data("marks", "text")]
    pairs = [re.search(r"Primal step c\s+(\S+) → (\S+)", text).groups() for text in texts]
    values = [float(pairs[0][0]), *(float(new) for _, new in pairs)]
    assert values == sorted(set(values), reverse=True) and [float(old) for old, _ in pairs] == values[:-1]
    assert math.isclose(float(field.input_value()), values[-1], rel_tol=1e-2)
    assert all(0 < x <= max(lab.data("source-run1", "x")) for x in lab.data("marks", "x"))

    lab.press("Pause")
    lab.end("paused")
    lab.page.wait_for_timeout(500)
    lab.page.mouse.move(*lab.js(HEAD))
    event_line = lab.page.get_by_text(f"{pairs[-1][0]} → {pairs[-1][1]}")
    event_line.first.wait_for()
    lab.press("Stop")


@pytest.mark.slow
def test_other_problems_and_solvers_converge_from_the_page(lab: Lab) -> None:
    lab.settle(Seconds="2", Replicas="5")
    lab.choose("Problem", "Load tracking (convex)")
    lab.until(lambda: lab.status() == "ready", "the page is ready")
    for key, solver in (("run1", "ZOCEG"), ("run2", "ZOBCEG")):
        lab.choose("Solver", solver)
        lab.page.wait_for_timeout(300)
        lab.start(key)
        lab.end("finished")
        gap = finite(lab.data(f"source-{key}", "gap"))
        print(f"{solver}: gap from {gap[0]:.3g} to {gap[-1]:.3g} in 2 s")
        assert gap[-1] < 0.5 * gap[0]
    assert all(solver in " ".join(lab.drawn()) for solver in ("ZOCEG", "ZOBCEG"))
