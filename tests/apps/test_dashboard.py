"""The dashboard in a real browser: watch, steer, compare, take away."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Lab

HANDLE = ".logslider-primal_step input[type=range]"

# When the key went down and when the mark came, both by the browser's clock.
WATCH = """
window.pressed = []; window.marked = [];
window.addEventListener("keydown", () => pressed.push(performance.now()), true);
find("marks").properties.data.change.connect(() => marked.push(performance.now()));
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

KEYS = ["gap", "gap.low", "gap.high"]


def overlaps(lab: Lab) -> list[tuple[int, int]]:
    """Pairs of figures that cover parts of each other."""
    boxes = lab.page.locator(".bk-Figure").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"
    )
    seen = [box for box in boxes if box[2] > box[0] and box[3] > box[1]]
    assert len(seen) >= 5
    return [
        (i, j)
        for j, b in enumerate(seen)
        for i, a in enumerate(seen[:j])
        if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1
    ]


def finite(values: list[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def test_start_draws_and_the_buttons_do_what_they_say(lab: Lab) -> None:
    assert lab.status() == "ready" and [lab.enabled(b) for b in ("Start", "Pause", "Stop")] == [True, False, False]
    lab.settle(Seconds="auto")
    lab.start()
    assert overlaps(lab) == []
    first = lab.data("source-run1", "x"), lab.data("source-run1", "gap")
    lab.until(lambda: max(lab.data("source-run1", "x")) > 1.2 * max(first[0]), "the lines grow")
    x, gap = lab.data("source-run1", "x"), lab.data("source-run1", "gap")
    print(f"lines: {len(first[0])} points to {first[0][-1]:g} calls, then {len(x)} points to {x[-1]:g} calls")
    assert len(x) == len(gap) <= 301 and x == sorted(x) and finite(gap)[-1] < finite(gap)[0]
    lab.end("running")
    lab.until(lambda: not lab.enabled("Start"), "Start is disabled")

    lab.press("Pause")
    lab.end("paused")
    held = lab.iteration()
    lab.page.wait_for_timeout(1000)
    assert lab.iteration() == held > 0
    for count in (1, 2):
        lab.press("Step")
        lab.until(lambda count=count: lab.iteration() == held + count, "one more step is taken")
    lab.page.wait_for_timeout(600)
    assert (lab.iteration(), lab.status()) == (held + 2, "paused")

    lab.press("Resume")
    lab.until(lambda: lab.iteration() > held + 2, "the run goes on")
    lab.end("running")
    lab.press("Stop")
    lab.end("stopped")
    ended = lab.iteration()
    lab.until(lambda: lab.message().startswith(f"Stopped after {ended} iterations."), "the page says so")
    lab.until(lambda: lab.enabled("Start"), "Start is enabled")
    lab.page.wait_for_timeout(600)
    assert lab.iteration() == ended
    assert len(lab.data("source-run1", "gap")) > 1  # the lines stay

    lab.press("Reset")
    lab.end("ready")
    lab.until(lambda: lab.row("run1").count() == 0, "the run is off the shelf")
    lab.until(lambda: lab.iteration() == 0 and not lab.enabled("Reset"), "the counters are back")

    lab.press("Step")  # which begins a run
    lab.end("paused")
    lab.until(lambda: lab.iteration() == 1, "one step is taken")
    lab.press("Stop")
    lab.end("stopped")
    assert lab.iteration() == 1


def test_the_step_size_slider_steers_the_run(lab: Lab) -> None:
    lab.settle(Seconds="auto")
    lab.tab("Solver")
    lab.start()
    lab.js(WATCH)
    handle, field = lab.page.locator(HANDLE), lab.field("Primal step c")
    lab.until(lambda: handle.is_visible(), "the slider is there")
    for move in range(4):
        handle.press("ArrowRight")
        lab.until(lambda move=move: len(lab.data("marks", "text")) == move + 1, "the change is marked")
        lab.until(lambda move=move: lab.js("return marked.length") > move, "the mark is drawn")
        lab.page.wait_for_timeout(370)  # not a multiple of the page's period
    times = [marked - pressed for pressed, marked in zip(*lab.js("return [pressed, marked]"), strict=True)]
    print("from the key to the mark:", ", ".join(f"{time:.0f} ms" for time in times))
    assert min(times) < 500

    texts = [re.sub("<.*?>", " ", text) for text in lab.data("marks", "text")]
    pairs = [re.search(r"primal_step\s+(\S+) → (\S+)", text).groups() for text in texts]
    values = [float(pairs[0][0]), *(float(new) for _, new in pairs)]
    assert values == sorted(set(values)) and [float(old) for old, _ in pairs] == values[:-1]
    assert math.isclose(float(field.input_value()), values[-1], rel_tol=1e-2)
    assert all(0 < x <= max(lab.data("source-run1", "x")) for x in lab.data("marks", "x"))

    lab.press("Pause")
    lab.end("paused")
    lab.page.wait_for_timeout(500)
    lab.page.mouse.move(*lab.js(HEAD))
    shown = lab.page.get_by_text(f"{pairs[-1][0]} → {pairs[-1][1]}")
    shown.first.wait_for()
    lab.press("Stop")


def test_two_runs_side_by_side(lab: Lab) -> None:
    lab.settle(Iterations="60", Seconds="auto", Replicas="4")
    for key in ("run1", "run2"):
        lab.start(key)
        lab.end("finished")
    names = [lab.row(key).get_by_role("textbox").input_value() for key in ("run1", "run2")]

    def drawn(*wanted: str) -> bool:
        return all((name in " ".join(lab.legend())) == (name in wanted) for name in [*names, "mine"])

    lab.until(lambda: drawn(*names), "both runs are in the legend")
    assert len(set(names)) == 2 and all(len(lab.data(f"source-{key}", "gap")) == 61 for key in ("run1", "run2"))
    colours = lab.js("return find('plot-Gap').renderers.map(r => r.glyph.line_color?.value).filter(c => c)")
    assert len(set(colours)) >= 2

    lab.row("run2").get_by_role("textbox").fill("mine")
    lab.row("run2").get_by_role("textbox").press("Enter")
    lab.until(lambda: drawn(names[0], "mine"), "the new name is in the legend")
    lab.row("run1").get_by_role("switch").click()
    lab.until(lambda: names[0] not in " ".join(lab.legend()), "the first run is hidden")
    lab.row("run1").get_by_role("switch").click()
    lab.until(lambda: drawn(names[0], "mine"), "the first run is back")
    assert len(lab.data("source-run1", "gap")) == 61
    lab.row("run1").get_by_role("button", name="Remove from the plots").click()
    lab.until(lambda: lab.row("run1").count() == 0, "the first run is off the shelf")
    lab.until(lambda: names[0] not in " ".join(lab.legend()), "the first run is off the plots")
    assert lab.row("run2").count() == 1 and len(lab.data("source-run2", "gap")) == 61

    lab.press("Reset")
    lab.until(lambda: lab.row("run2").count() == 0, "the current run is off the shelf")
    lab.end("ready")
    lab.start("run3")
    lab.end("finished")


def download(lab: Lab, label: str, path: Path) -> Path:
    with lab.page.expect_download() as coming:
        lab.row("run1").get_by_role("button", name=label).click()
    coming.value.save_as(path)
    assert coming.value.suggested_filename.endswith(path.suffix)
    return path


def table(path: Path) -> tuple[list[str], np.ndarray]:
    with path.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    return header, np.array([[float(cell or "nan") for cell in row] for row in rows])


AGAIN = """
import runpy, sys
made = runpy.run_path(sys.argv[1])
with open(sys.argv[2], "w", newline="") as file:
    made["run"].trace.write_csv(file)
"""


def test_the_downloads_repeat_a_steered_run(lab: Lab, tmp_path: Path, root: Path) -> None:
    lab.settle(Iterations="40", Seconds="auto", Replicas="3")
    lab.tab("Solver")
    lab.press("Step")
    lab.until(lambda: lab.iteration() == 1 and lab.status() == "paused", "one step is taken")
    for steps in range(2, 5):  # a change, a step: the journal's places do not depend on the machine
        lab.page.locator(HANDLE).press("ArrowRight")
        lab.until(lambda steps=steps: len(lab.data("marks", "text")) >= steps - 2, "the change is marked")
        lab.page.wait_for_timeout(400)
        lab.press("Step")
        lab.until(lambda steps=steps: lab.iteration() == steps, "one more step is taken")
    lab.press("Resume")
    lab.end("finished")
    assert len(lab.data("marks", "text")) == 3

    header, rows = table(download(lab, "CSV", tmp_path / "page.csv"))
    assert header[:3] == ["iteration", "seconds", "replica"] and {"gap", "violation", "variance"} <= set(header)
    assert rows.shape == (41 * 3, len(header)) and set(rows[:, 2]) == {0, 1, 2} and rows[-1, 0] == 40

    code = download(lab, "Script", tmp_path / "again.py")
    assert code.read_text().count("'primal_step'") == 3
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, str(code), str(tmp_path / "again.csv")],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr
    assert "objective" in done.stdout and "violation" in done.stdout
    again, same = table(tmp_path / "again.csv")
    keep = [i for i, name in enumerate(header) if name != "seconds"]
    assert again == header
    np.testing.assert_array_equal(rows[:, keep], same[:, keep])
    print(f"{rows.shape[0]} rows of {len(keep)} columns bit-identical after 3 changes")


def contrast(ink: list[float], paper: list[float]) -> float:
    """Ratio of luminances as WCAG defines it, for RGBA on opaque RGB."""

    def luminance(colour: np.ndarray) -> float:
        c = colour / 255
        return float(np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])

    alpha = ink[3] if len(ink) > 3 else 1.0
    under = np.array(paper[:3])
    pair = sorted((luminance(alpha * np.array(ink[:3]) + (1 - alpha) * under), luminance(under)))
    return (pair[1] + 0.05) / (pair[0] + 0.05)


# Colours of a plot's texts, and of the page below it, as the browser resolves them.
COLOURS = """
const plot = find("plot-Gap"), box = document.createElement("div"); document.body.append(box);
const rgb = colour => { box.style.color = colour; return getComputedStyle(box).color.match(/[\\d.]+/g).map(Number) };
const axes = [...plot.below, ...plot.left].filter(m => m.major_label_text_color !== undefined);
const legend = plot.above.find(m => m.items);
const inks = [plot.title.text_color, legend.label_text_color, ...axes.map(m => m.major_label_text_color)].map(rgb);
box.remove();
return [inks, getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number)];
"""


def test_axes_scales_bands_and_themes(lab: Lab) -> None:
    lab.settle(Iterations="50", Seconds="auto", Replicas="5")
    lab.start()
    lab.end("finished")
    lab.until(lambda: len(lab.data("source-run1", "gap")) == 51, "all rows are drawn")

    def line() -> np.ndarray:
        columns = lab.js("const d = find('source-run1').data; return a.map(k => Array.from(d[k]))", KEYS)
        return np.array(columns, dtype=float)

    def settled() -> np.ndarray:
        """The line once it has not changed for a second: what was drawn before may still be on its way."""
        before = None
        while str(now := line()) != before:
            before = str(now)
            lab.page.wait_for_timeout(1000)
        return now

    calls = lab.data("source-run1", "x")
    lab.page.get_by_role("button", name="iterations", exact=True).click()
    lab.until(lambda: lab.data("source-run1", "x") == list(range(51)), "x is the iteration")
    lab.page.get_by_role("button", name="seconds", exact=True).click()
    lab.until(lambda: 0 < max(lab.data("source-run1", "x")) < 40, "x is the time")
    lab.page.get_by_role("button", name="oracle calls", exact=True).click()
    lab.until(lambda: lab.data("source-run1", "x") == calls, "x is the number of calls")

    def scales() -> list[str]:
        return lab.js("const p = find('plot-Gap'); return [p.x_scale.type, p.y_scale.type]")

    assert scales() == ["LinearScale", "LogScale"] and (line() > 0).all()
    lab.page.get_by_role("switch", name="Log x").click()
    lab.until(lambda: scales() == ["LogScale", "LogScale"], "x is logarithmic")
    lab.page.get_by_role("switch", name="Log y").click()
    lab.until(lambda: scales() == ["LogScale", "LinearScale"], "y is linear")

    bands = {}
    for name in ("min–max", "quartiles", "no band", "mean ± std"):
        before = str(settled())
        lab.choose("Band", name)
        lab.until(lambda before=before: str(line()) != before, f"the band is {name}")
        mean, low, high = bands[name] = settled()
        between = np.isnan(low) if name == "no band" else (low <= 1.00001 * mean) & (mean <= 1.00001 * high)
        assert between.all(), name
    widths = {name: (band[2] - band[1]).mean() for name, band in bands.items()}
    assert widths["min–max"] > widths["mean ± std"] > 0 and widths["min–max"] > widths["quartiles"] > 0

    paper = {}
    for look in ("light", "dark"):
        inks, paper[look] = lab.js(COLOURS)
        ratios = [contrast(ink, paper[look]) for ink in inks]
        print(f"{look}: contrasts of the plots' texts {', '.join(f'{r:.1f}' for r in ratios)}")
        assert min(ratios) >= 4.5
        lab.press("Toggle theme")
        lab.until(lambda look=look: lab.js(COLOURS)[1] != paper[look], "the theme changes")
        lab.page.wait_for_timeout(500)
    assert sum(paper["light"][:3]) > sum(paper["dark"][:3])


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
    assert all(solver in " ".join(lab.legend()) for solver in ("ZOCEG", "ZOBCEG"))
