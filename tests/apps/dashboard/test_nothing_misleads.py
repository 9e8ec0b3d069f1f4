"""The dashboard in a real browser: what it says of a run is of that run, at once, and true."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

from helpers.dashboard_page import Lab

pytestmark = pytest.mark.slow  # each of it is tested without a browser, too

UNMEASURABLE = """
from zoviz.problems import NonconvexQCQP

class Unmeasurable(NonconvexQCQP):
    title = "Without a battery"
    rows = 0

    def metrics(self, *args, **kwargs):
        self.rows += 1
        if self.rows > 2:
            raise RuntimeError("the meter has no battery")
        return super().metrics(*args, **kwargs)

Dashboard(problem=Unmeasurable(n=4)).page().servable()
"""

LATE = """
import time
from zoviz.problems import NonconvexQCQP

class Late(NonconvexQCQP):
    title = "Late"

    def build(self):
        time.sleep(0.0 if self.n == 4 else 4.0)
        return super().build()

Dashboard(problem=Late(n=4)).page().servable()
"""

BELOW_ZERO = """
def objective(x):
    return float(x @ x) - 10.0

def constraint(x):
    return np.array([x.sum() - 3.0])

problem = BlackBox(objective, constraint, bounds=[(-2, 2)] * 4, x0=np.full(4, 1.5))
Dashboard(problem=problem).page().servable()
"""

# Whether a plot is on the page.
SEEN = "const plot = find(a); return !!plot && !!Bokeh.index.find_one(plot)?.el?.offsetParent"


def run_to_its_end(lab: Lab, key: str = "run1", **settings: str) -> None:
    """Run what is chosen with these settings, until it has lines and has ended."""
    lab.settle(**settings)
    lab.press("Start")
    lab.until(lambda: len(lab.data(f"source-{key}", "x")) > 1, "it has lines")
    lab.until(lambda: lab.status() in ("finished", "diverged"), "it has ended")


def test_a_run_whose_measures_raise_says_so_and_start_is_open_again(open_app: Callable[[str], Lab]) -> None:
    lab = open_app(UNMEASURABLE)
    lab.settle(Seconds="none")
    lab.press("Start")
    lab.end("failed")
    lab.until(lambda: "the meter has no battery" in lab.message(), "the page says what happened")
    lab.until(lambda: lab.enabled("Start"), "another run can begin")
    assert not lab.enabled("Stop")


def test_an_objective_without_known_optimum_falls_and_what_is_feasible_is_drawn(open_app: Callable[[str], Lab]) -> None:
    lab = open_app(BELOW_ZERO)
    lab.choose("Solver", "ZO-SPLM")
    lab.press("Start")
    lab.end("finished")
    lab.until(lambda: len(lab.data("source-run1", "objective")) > 20, "it has lines")

    def objective() -> list[float]:
        return [value for value in lab.data("source-run1", "objective") if math.isfinite(value)]

    lab.until(lambda: objective()[-1] < min(objective()[0], -5.0), "a falling line is a falling objective")
    lab.until(lambda: not all(map(math.isfinite, lab.data("source-run1", "violation"))), "it gets feasible")
    violation, zeros = lab.columns("source-run1", "violation", "violation.zero")
    holes = [i for i, pair in enumerate(zip(violation, zeros, strict=True)) if not any(map(math.isfinite, pair))]
    assert holes == [], "where there is no violation to draw, there is the line of zeros"


def test_a_start_while_data_load_waits_and_then_begins(open_app: Callable[[str], Lab]) -> None:
    lab = open_app(LATE)
    lab.settle(Seconds="none")
    lab.unfold("Problem")
    lab.type("Variables n", "7")
    lab.page.wait_for_timeout(1000)
    lab.press("Start")
    lab.until(lambda: lab.status() == "running", "the run begins by itself")
    lab.press("Stop")
    lab.end("stopped")
    assert lab.row("run2").count() == 0


def test_a_run_that_runs_away_is_said_to_in_red_and_one_that_converges_is_green(lab: Lab) -> None:
    word = lab.page.locator(".zoviz-verdict")

    def colour() -> list[int]:
        rgb = str(word.evaluate("word => getComputedStyle(word).backgroundColor"))
        return [int(part) for part in re.findall(r"\d+", rgb)[:3]]

    lab.settle(Seconds="none", Replicas="4")
    lab.press("Start")
    lab.until(lambda: word.count() and word.inner_text() in ("converging", "solved"), "it converges")
    red, green, _ = colour()
    assert green > 1.5 * red
    lab.press("Stop")
    lab.end("stopped")
    lab.unfold("Solver")
    lab.type("Primal step c", "3")
    run_to_its_end(lab, "run2", Iterations="200", Replicas="4")
    lab.until(lambda: word.inner_text() == "diverging", "the verdict is on it")
    red, green, _ = colour()
    assert red > 1.5 * green
    lab.row("run2").get_by_text("diverging").wait_for()


def test_chip_and_message_are_those_of_the_run_that_was_started(lab: Lab) -> None:
    run_to_its_end(lab, Seconds="auto", Iterations="300", Replicas="2")
    lab.settle(Iterations="auto", Seconds="none")
    lab.press("Start")
    # Once the counters are those of the second run, what is read after them must be its own, too.
    lab.until(lambda: lab.iteration() not in (0, 300), "the second run is on the page")
    assert lab.status() == "running" and "spent" not in lab.message(), lab.message()
    lab.press("Stop")
    lab.end("stopped")


@pytest.mark.parametrize(
    ("problem", "solver"),
    [
        ("Stochastic QP, linear constraints", "Smoothed ALM"),
        ("Distributed optimisation on a random graph", "Smoothed ALM, sampled constraints"),
        ("Toy online bilevel", "ZO-SOGD"),
    ],
)
def test_what_is_offered_first_is_made_for_the_problem(lab: Lab, problem: str, solver: str) -> None:
    chosen = lab.page.get_by_role("combobox", name=re.compile("^Solver")).first
    lab.choose("Problem", problem)
    lab.until(lambda: chosen.input_value() == solver, f"{solver} is offered")
    assert lab.enabled("Start"), "and can begin"


def test_a_plot_without_anything_to_say_is_not_there(lab: Lab) -> None:
    lab.choose("Problem", "Stochastic QP, linear constraints")
    lab.choose("Solver", "Smoothed ALM")
    run_to_its_end(lab, Seconds="auto", Iterations="30", Replicas="2")
    seen = lambda: lab.js(SEEN, "plot-Gap") and not lab.js(SEEN, "plot-Variance")  # noqa: E731
    assert lab.until(seen, "only what says something is seen")


def test_a_mark_says_what_is_used_of_a_block_beyond_the_variables(lab: Lab) -> None:
    lab.choose("Solver", "ZOBCEG")
    lab.settle(Seconds="none", Replicas="2")
    lab.unfold("Solver")
    lab.start()
    lab.type("Block size τ", "1000")
    lab.until(lambda: lab.data("marks", "text"), "the change is marked")
    assert re.search(r"1000, of which \d+ are used", lab.data("marks", "text")[-1])
    lab.press("Stop")
    lab.end("stopped")
