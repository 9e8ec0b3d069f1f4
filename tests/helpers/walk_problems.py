"""Every problem with the solver that the page offers first, ten seconds each in a browser: a table of verdicts.

``python -m helpers.walk_problems`` from ``tests``; it takes some 20 s a problem.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from helpers.dashboard_page import Lab
from helpers.serving import DASHBOARD, start
from zoviz.views.controls.picker import Picker

CHROMIUM = "/usr/bin/chromium"
# A plot without a value draws no line: what is on the page must show something.
EMPTY = """
const plots = [];
const plot = m => m.type === "Figure" && (m.name ?? "").startsWith("plot-");
const shown = m => plot(m) && Bokeh.index.find_one(m)?.el.offsetParent;
for (const d of Bokeh.documents) for (const m of d._all_models.values()) if (shown(m)) plots.push(m);
const drawn = r => r.glyph?.type === "Line" && Array.from(r.data_source.data[r.glyph.y?.field] ?? []).some(isFinite);
return plots.filter(p => p.renderers.some(r => r.glyph?.type === "Line") && !p.renderers.some(drawn)).map(p => p.name);
"""


class Line(NamedTuple):
    """A line of the table: what ran, how it ended, and what the page says of it; plots on the page without a value."""

    problem: str
    solver: str
    status: str
    verdict: str
    sentence: str
    empty: list[str]

    @property
    def good(self) -> bool:
        """Whether nothing diverged, failed, or stayed empty."""
        return bool(self.verdict) and self.verdict not in ("diverging", "failed") and not self.empty


def walk(lab: Lab, url: str, problem: str, seconds: float) -> Line:
    """Open the page at a problem, start the solver that it offers, and read what is said once the run has ended."""
    lab.visit(f"{url}?{urlencode({'problem': problem, 'run.seconds': seconds})}")
    chosen = lab.page.get_by_role("combobox", name="Problem").first
    lab.until(lambda: chosen.input_value() == problem, f"{problem} is chosen")
    lab.press("Start")
    ends = ("finished", "diverged", "stopped", "failed")
    lab.until(lambda: lab.status() in ends, f"{problem} has ended", 30 * seconds)
    lab.page.wait_for_timeout(2000)
    # Not before: where a problem's data are loaded, its own solver is offered with them.
    solver = lab.page.get_by_role("combobox", name="Solver").first.input_value()
    word = lab.page.locator(".zoviz-verdict")
    said = lab.page.locator(".zoviz-said").inner_text()
    verdict = word.inner_text() if word.count() else ""
    return Line(problem, solver, lab.status(), verdict, said.removeprefix(verdict).strip(), lab.js(EMPTY))


def main() -> int:
    """Walk through the problems, print the table, and return how many lines are not good."""
    from playwright.sync_api import Error, sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", help="Titles; by default every problem of the list.")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = start(DASHBOARD, Path(folder) / "server.log", ())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            for problem in options.problems or Picker().problems:
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                try:
                    line = walk(Lab(page), server.url, problem, options.seconds)
                except (AssertionError, Error) as error:  # the table says so, and the walk goes on
                    line = Line(problem, "", "no answer", "", str(error).splitlines()[0], [])
                bad += not line.good
                cells = (*line[:4], line.sentence[:160], " ".join(line.empty))
                print("| " + " | ".join(cells) + " |", flush=True)
                page.close()
        finally:
            browser.close()
            server.stop()
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
