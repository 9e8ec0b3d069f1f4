"""The dashboard in a real browser: runs side by side, and downloads that repeat a run."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.dashboard_page import HANDLE, Lab


@pytest.mark.slow  # tests/views has the list of runs without a browser
def test_two_runs_side_by_side(lab: Lab) -> None:
    lab.settle(Iterations="60", Seconds="auto", Replicas="4")
    for key in ("run1", "run2"):
        lab.start(key)
        lab.end("finished")
    names = [lab.row(key).get_by_role("textbox").input_value() for key in ("run1", "run2")]

    def drawn(*labels: str) -> bool:
        return all((name in " ".join(lab.drawn())) == (name in labels) for name in [*names, "mine"])

    lab.until(lambda: drawn(*names), "both runs are drawn")
    assert len(set(names)) == 2 and all(len(lab.data(f"source-{key}", "gap")) == 61 for key in ("run1", "run2"))
    colours = lab.js("return find('plot-Gap').renderers.map(r => r.glyph.line_color?.value).filter(c => c)")
    assert len(set(colours)) >= 2

    lab.row("run2").get_by_role("textbox").fill("mine")
    lab.row("run2").get_by_role("textbox").press("Enter")
    lab.until(lambda: drawn(names[0], "mine"), "the new name is drawn")
    lab.choose_of_run("run1", "Hide")
    lab.until(lambda: names[0] not in " ".join(lab.drawn()), "the first run is hidden")
    lab.choose_of_run("run1", "Show")
    lab.until(lambda: drawn(names[0], "mine"), "the first run is back")
    assert len(lab.data("source-run1", "gap")) == 61
    lab.choose_of_run("run1", "Remove from the plots")
    lab.until(lambda: lab.row("run1").count() == 0, "the first run is off the shelf")
    lab.until(lambda: names[0] not in " ".join(lab.drawn()), "the first run is off the plots")
    assert lab.row("run2").count() == 1 and len(lab.data("source-run2", "gap")) == 61

    lab.remove("run2")
    lab.until(lambda: lab.row("run2").count() == 0, "the current run is off the shelf")
    lab.end("ready")
    lab.start("run3")
    lab.end("finished")


@pytest.mark.slow
def test_a_file_is_named_after_run_problem_and_solver(lab: Lab) -> None:
    lab.settle(Iterations="5", Seconds="auto", Replicas="2")
    lab.start()
    lab.end("finished")
    lab.row("run1").get_by_role("textbox").fill("by day")
    lab.row("run1").get_by_role("textbox").press("Enter")
    lab.until(lambda: "by day" in " ".join(lab.drawn()), "the server has the name, too")
    with lab.page.expect_download() as coming:
        lab.choose_of_run("run1", "Trace as CSV")
    assert coming.value.suggested_filename == "zoviz_by-day_NonconvexQCQP_ZOSPLM.csv"


@pytest.mark.slow
def test_the_range_forgets_the_runs_that_are_gone(lab: Lab) -> None:
    lab.settle(Iterations="60", Seconds="auto", Replicas="2")
    lab.start()
    lab.end("finished")
    end = "return find('plot-Gap').x_range.end"
    lab.until(lambda: lab.js(end) > 2000, "the range is that of the lines")
    lab.remove()
    lab.end("ready")
    lab.until(lambda: 1000 <= lab.js(end) < 1100, "the range is that of empty plots")
    lab.page.wait_for_timeout(500)
    assert lab.js(end) < 1100, "it stays so"


@pytest.mark.slow  # tests/views/compare has the room without a browser
def test_the_room_to_compare_follows_the_runs_on_the_plots(lab: Lab) -> None:
    lab.enter("Compare")
    lab.page.get_by_text("Compare runs side by side").wait_for()
    lab.enter("Run")
    lab.settle(Iterations="400", Seconds="auto", Replicas="10")
    lab.start("run1")
    lab.end("finished")
    lab.settle(Iterations="20")
    lab.start("run2")
    lab.end("finished")
    lab.enter("Compare")
    rows = lab.page.locator("table.zoviz-compare tbody tr:not(.group)")
    lab.until(lambda: rows.count() == 2, "both runs are rows")
    title = "return find('plot-Replicas')?.title.text ?? ''"
    lab.until(lambda: lab.js(title).startswith("Best feasible gap"), "the figures are there")
    assert lab.page.get_by_text(" shows no significant difference from ").count() == 1, "neither has a feasible point"
    lab.choose("Measure", "gap at the end")
    lab.until(lambda: lab.js(title).startswith("Gap at the end"), "another measure")
    lab.page.get_by_text(" is better than ").first.wait_for()


def download(lab: Lab, label: str, path: Path) -> Path:
    with lab.page.expect_download() as coming:
        lab.choose_of_run("run1", label)
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


@pytest.mark.slow
def test_the_downloads_repeat_a_steered_run(lab: Lab, tmp_path: Path, root: Path) -> None:
    lab.settle(Iterations="40", Seconds="auto", Replicas="3")
    lab.unfold("Solver")
    lab.press("Step")
    lab.until(lambda: lab.iteration() == 1 and lab.status() == "paused", "one step is taken")
    for steps in range(2, 5):  # a change, a step: the journal's places do not depend on the machine
        before = lab.field("Primal step c").input_value()
        lab.page.locator(HANDLE).press("ArrowLeft")
        lab.until(lambda before=before: lab.field("Primal step c").input_value() != before, "the change is taken")
        lab.press("Step")
        lab.until(lambda steps=steps: lab.iteration() == steps, "one more step is taken")
    lab.press("Start")
    lab.end("finished")
    assert lab.data("marks", "text"), "changes within a second of the run are one drag, and marked once"

    header, rows = table(download(lab, "Trace as CSV", tmp_path / "page.csv"))
    assert header[:3] == ["iteration", "seconds", "replica"] and {"gap", "violation", "variance"} <= set(header)
    assert rows.shape == (41 * 3, len(header)) and set(rows[:, 2]) == {0, 1, 2} and rows[-1, 0] == 40

    report = download(lab, "Report", tmp_path / "report.html").read_text(encoding="utf-8")
    assert report.startswith("<!doctype html>") and '"iterations": 40' in report

    code = download(lab, "Python script", tmp_path / "again.py")
    assert len(re.findall(r"^    \(\d+, .*'primal_step'", code.read_text(), re.MULTILINE)) == 3
    process = subprocess.run(
        [sys.executable, "-c", AGAIN, str(code), str(tmp_path / "again.csv")],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=root,
    )
    assert process.returncode == 0, process.stderr
    assert "objective" in process.stdout and "violation" in process.stdout
    again, same = table(tmp_path / "again.csv")
    keep = [i for i, name in enumerate(header) if name != "seconds"]
    assert again == header
    np.testing.assert_array_equal(rows[:, keep], same[:, keep])
    print(f"{rows.shape[0]} rows of {len(keep)} columns bit-identical after 3 changes")
