"""Screenshots of the dashboard in all its states, to be looked at one by one.

``python -m helpers.page_states FOLDER`` from ``tests``; some 15 s a picture, and it judges nothing itself.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from helpers.dashboard_page import Lab
from helpers.serving import DASHBOARD, start

CHROMIUM = "/usr/bin/chromium"
SIZES = {"1440x900": (1440, 900), "1100x700": (1100, 700), "1920x1080": (1920, 1080)}
LOOKS = ("light", "dark")
ENDS = ("finished", "diverged", "stopped", "failed")
BLIND = """
import importlib.util
import sys

import scipy.stats  # which looks at torch when it is loaded, and only asks whether it is among the modules

absent = ("matplotlib", "cma", "PyNomad", "xarray", "power_grid_model", "torch", "botorch")
for name in absent:
    sys.modules[name] = None
spec_of = getattr(importlib.util, "spec_of", importlib.util.find_spec)
importlib.util.spec_of = spec_of
importlib.util.find_spec = lambda name, package=None: None if name in absent else spec_of(name, package)
"""
"""Before the dashboard's file: a server on which packages of extras are not installed."""


def begin(lab: Lab, url: str, **values: object) -> None:
    """Open the page with what its address sets, and start."""
    lab.visit(f"{url}?{urlencode(values)}")
    chosen = lab.page.get_by_role("combobox", name="Problem").first
    lab.until(lambda: chosen.input_value() == values["problem"], "the problem is chosen")
    lab.until(lambda: lab.enabled("Start"), "its data are there")
    lab.press("Start")


def ended(lab: Lab) -> None:
    """Wait until the run has ended and all of it is drawn."""
    lab.until(lambda: lab.status() in ENDS, "the run has ended")
    lab.page.wait_for_timeout(3000)


def first_screen(lab: Lab, url: str) -> None:
    """The page as it opens."""
    lab.visit(url)
    lab.page.wait_for_timeout(1000)


def running(lab: Lab, url: str) -> None:
    """A run of the first problem, four seconds after Start."""
    begin(lab, url, problem="Nonconvex QCQP", **{"run.seconds": 60})
    lab.page.wait_for_timeout(4000)


def paused_with_hover(lab: Lab, url: str) -> None:
    """A paused run that was steered, with the pointer on a line."""
    begin(lab, url, problem="Load tracking (convex)", solver="ZO-SPLM", **{"run.seconds": 60})
    lab.page.wait_for_timeout(3000)
    lab.type("Batch size k", "80")
    lab.page.wait_for_timeout(1500)
    lab.press("Pause")
    lab.end("paused")
    lab.page.wait_for_timeout(1500)
    box = lab.page.locator(".bk-Figure").first.bounding_box()
    lab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    lab.page.wait_for_timeout(800)


def three_runs(lab: Lab, url: str) -> None:
    """Three runs of different solvers on one problem."""
    begin(lab, url, problem="Load tracking (convex)", solver="ZOCEG", **{"run.seconds": 3})
    ended(lab)
    for solver in ("ZO-SPLM", "SZO-ConEX"):
        lab.choose("Solver", solver)
        lab.page.wait_for_timeout(500)
        lab.press("Start")
        lab.end("running")
        ended(lab)


def bilevel(lab: Lab, url: str) -> None:
    """An online bilevel problem, which has plots of its own."""
    begin(lab, url, problem="Quadratic online bilevel", **{"run.seconds": 4})
    ended(lab)


def diverged(lab: Lab, url: str) -> None:
    """A run with a step that is far too long."""
    values = {"run.seconds": 5, "solver.primal_step": 3.0}
    begin(lab, url, problem="Nonconvex QCQP", solver="ZO-SPLM", **values)
    ended(lab)


def design(lab: Lab, url: str) -> None:
    """A welded beam, drawn with its limits, half way back along its path."""
    begin(lab, url, problem="Welded beam design", **{"run.seconds": 3})
    ended(lab)
    lab.page.get_by_role("slider", name="Path up to").locator("visible=true").press("PageDown")
    lab.page.locator(".bk-Figure").locator("visible=true").last.scroll_into_view_if_needed()
    lab.page.wait_for_timeout(1500)


def surrogate(lab: Lab, url: str) -> None:
    """A Bayesian method on the toy, with the picture of its surrogate on the screen."""
    values = {"problem": "Toy of Gramacy and others (LSQ)", "solver": "Constrained log-EI (BoTorch)"}
    begin(lab, url, **values, **{"run.calls": 20})
    ended(lab)
    lab.page.locator(".bk-Figure").last.scroll_into_view_if_needed()
    lab.page.wait_for_timeout(3000)


def stored_runs(lab: Lab, url: str) -> None:
    """The list of what the states before it left in the store, one of it chosen."""
    begin(lab, url, problem="Pressure vessel design", **{"run.seconds": 2})
    ended(lab)
    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").first.wait_for()
    lab.page.locator(".tabulator-row").first.locator(".tabulator-cell").nth(2).click()
    lab.page.wait_for_timeout(2500)


def missing_extra(lab: Lab, url: str) -> None:
    """A page of a server without the packages of some extras, where what they are for is asked for."""
    begin(lab, url, problem="Welded beam design", **{"run.seconds": 1})
    ended(lab)
    for summary in lab.page.locator("summary").all():
        summary.click()
    lab.page.wait_for_timeout(500)


STATES: dict[str, Callable[[Lab, str], None]] = {
    state.__name__: state
    for state in (
        first_screen,
        running,
        paused_with_hover,
        three_runs,
        bilevel,
        diverged,
        design,
        surrogate,
        stored_runs,
        missing_extra,
    )
}


def main() -> None:
    """Bring the page into each state, at each size and in each look that is asked for, and save what is seen."""
    from playwright.sync_api import Error, sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--states", nargs="+", choices=STATES, default=list(STATES))
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--looks", nargs="+", choices=LOOKS, default=list(LOOKS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        blind = Path(folder) / "blind.py"
        blind.write_text(BLIND + DASHBOARD.read_text(encoding="utf-8"), encoding="utf-8")
        servers = [start(app, Path(folder) / f"{app.stem}.log", ()) for app in (DASHBOARD, blind)]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            for size, look, state in itertools.product(options.sizes, options.looks, options.states):
                width, height = SIZES[size]
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=look)
                path = options.folder / f"{state}_{size}_{look}.png"
                try:
                    STATES[state](Lab(page), servers[state == "missing_extra"].url)
                except (AssertionError, Error) as error:  # what there is to see is saved all the same
                    print(f"{path.name}: {str(error).splitlines()[0]}", flush=True)
                page.screenshot(path=path)
                print(path, flush=True)
                page.close()
        finally:
            browser.close()
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
