"""The page stays quick while runs go at full speed, and costs them little: lags and ratios within one process."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.dashboard_page import Lab
from zoviz.core.registry import discover
from zoviz.solvers.bayesian.base import BayesianSolver

PROBE = Path(__file__).with_name("probe_app.py")
PERIOD = 0.25
ATTEMPTS = 3
BAYESIAN = sorted(cls.title for cls in discover("zoviz.solvers.bayesian", BayesianSolver).values())

# Marked slow: what else the machine does shows in these figures. pytest -m slow -s tests/apps/test_load.py
pytestmark = [pytest.mark.bench, pytest.mark.slow]


def read(report: Path) -> dict:
    return json.loads(report.read_text(encoding="utf-8"))


def best_of(attempts: int, measure: Callable[[], float], good: Callable[[float], bool]) -> float:
    """The first good figure, else the last: other programs on the machine may spoil one."""
    figure = measure()
    for _ in range(attempts - 1):
        if good(figure):
            break
        figure = measure()
    return figure


COUNT = """const m = find(a); window.updates = 0;
if (!window.counting) { window.counting = true; m.properties.tags.change.connect(() => window.updates++) }"""


def updates_per_second(labs: list, seconds: float) -> list[float]:
    for lab in labs:
        lab.js(COUNT, "source-run1")
    started = time.monotonic()
    time.sleep(seconds)
    counts = [lab.js("return window.updates") for lab in labs]
    elapsed = time.monotonic() - started
    return [count / elapsed for count in counts]


def late_share(report: Path, clicking: Lab, meanwhile: Callable[[], None], what: str) -> float:
    """The lag of the event loop, 99 %, while a page's clicks are answered."""
    waits = []
    for i in range(8):  # the first Step starts a run of its own, the others take one step each
        meanwhile()
        pressed = time.monotonic()
        clicking.page.get_by_role("button", name="· structure").click()  # shown and hidden in turn
        clicking.press("Step")
        clicking.until(lambda before=i: clicking.iteration() > before, "the click is answered", 10)
        waits.append(time.monotonic() - pressed)
        time.sleep(0.8)
    lags = np.array(read(report)["lags"][-800:])
    middle, late = np.quantile(lags, [0.5, 0.99])
    print(
        f"{what}: loop lag p50 {1e3 * middle:.1f} ms, p99 {1e3 * late:.1f} ms; "
        f"a click answered after {statistics.median(waits):.2f} s (median of {len(waits)})"
    )
    clicking.remove()
    clicking.until(lambda: clicking.status() == "ready", "the removal is answered", 10)
    return float(late)


@pytest.mark.parametrize("replicas", ["20", "1"])
def test_the_loop_answers_while_a_run_goes_at_full_speed(serve, open_lab, tmp_path, replicas) -> None:
    report = tmp_path / "report.json"
    server = serve("--args", str(report), app=PROBE)
    running, clicking = open_lab(server.url), open_lab(server.url)
    running.settle(Seconds="none", Replicas=replicas)
    running.start()
    time.sleep(3)

    def lag() -> float:
        return late_share(report, clicking, lambda: None, f"replicas {replicas}")

    assert best_of(ATTEMPTS, lag, lambda p99: p99 < 0.1) < 0.1


def test_the_loop_answers_while_the_microscope_looks_at_a_run_that_goes_at_full_speed(serve, open_lab, tmp_path):
    report = tmp_path / "report.json"
    server = serve("--args", str(report), app=PROBE)
    running, clicking = open_lab(server.url), open_lab(server.url)
    running.settle(Seconds="none", Replicas="20")
    running.start()
    running.press("Diagnosis")
    running.until(lambda: running.page.locator(".bars").count() == 1, "the drawer is open")
    running.page.get_by_role("checkbox", name="All families").click()
    looks = 0

    def look() -> None:
        nonlocal looks
        if running.enabled("Measure"):  # else it is still at the one before
            running.press("Measure")
            looks += 1

    def lag() -> float:
        late = late_share(report, clicking, look, "drawer open")
        print(f"looks of the microscope so far: {looks}")
        return late

    assert best_of(ATTEMPTS, lag, lambda p99: p99 < 0.1) < 0.1 and looks > 1


@pytest.mark.parametrize("solver", BAYESIAN)
def test_the_loop_answers_while_a_bayesian_method_works(serve, open_lab, tmp_path, solver) -> None:
    pytest.importorskip("botorch", reason='python -m pip install "zoviz[bo]"')
    report = tmp_path / "report.json"
    server = serve("--args", str(report), app=PROBE)
    running, clicking = open_lab(server.url), open_lab(server.url)
    running.choose("Problem", "Toy of Gramacy and others (LSQ)")
    running.choose("Solver", solver)
    running.settle(Seconds="none", Iterations="100000", Replicas="4")
    running.start()
    drawn = "return Array.from(find('surrogate-curves')?.data?.x ?? []).length"
    running.until(lambda: running.js(drawn) > 100, "the surrogate is drawn", 120)
    time.sleep(3)

    def lag() -> float:
        return late_share(report, clicking, lambda: None, solver)

    assert best_of(ATTEMPTS, lag, lambda p99: p99 < 0.1) < 0.1
    assert running.status() == "running", "it works all the time"


def test_four_sessions_get_their_updates(serve, open_lab, tmp_path) -> None:
    server = serve("--args", str(tmp_path / "report.json"), app=PROBE)
    labs = [open_lab(server.url) for _ in range(4)]
    for lab in labs:
        lab.settle(Seconds="none")
        lab.start()
    time.sleep(3)

    def slowest() -> float:
        rates = updates_per_second(labs, 8)
        print("four sessions, each with a run of its own: updates/s " + ", ".join(f"{rate:.2f}" for rate in rates))
        return min(rates)

    assert best_of(ATTEMPTS, slowest, lambda rate: rate >= 3.5) >= 3.5


def test_a_page_costs_its_run_less_than_a_fifth(serve, open_lab, tmp_path) -> None:
    report = tmp_path / "report.json"
    lifetime = ("--unused-session-lifetime", "1500", "--check-unused-sessions", "300")
    server = serve(*lifetime, "--args", str(report), "shared", app=PROBE)
    first = open_lab(server.url)
    first.until(lambda: read(report)["iteration"] > 300, "the shared run is under way")
    first.page.close()

    def speed(seconds: float = 4.0) -> float:
        before = read(report)
        time.sleep(seconds)
        after = read(report)
        return (after["iteration"] - before["iteration"]) / (after["time"] - before["time"])

    def cost() -> float:
        alone, watched = [], []
        for _ in range(3):
            time.sleep(3)
            alone.append(speed())
            lab = open_lab(server.url)
            lab.until(lambda lab=lab: len(lab.data("source-run1", "gap")) > 1, "the shared run is drawn")
            time.sleep(1.5)
            watched.append(speed())
            lab.page.close()
        share = 1.0 - statistics.median(watched) / statistics.median(alone)
        print(
            f"steps/s without a page {statistics.median(alone):.0f}, with one {statistics.median(watched):.0f}: "
            f"the page costs {100 * share:.0f} %"
        )
        return share

    assert best_of(ATTEMPTS, cost, lambda share: share < 0.2) < 0.2
