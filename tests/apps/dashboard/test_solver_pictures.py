"""The dashboard in a real browser with methods that have plots and a picture of their own."""

from __future__ import annotations

import pytest

from helpers.dashboard_page import Lab
from zoviz.core.registry import discover
from zoviz.problems import HMCTuning, NetworkTuning
from zoviz.solvers.bayesian.base import BayesianSolver

# The points of the last batch that the picture shows, and whether the browser has drawn the plot of the radii.
POINTS = "return Array.from(find('step-region-points')?.data?.x ?? []).length"
CURVES = "return Array.from(find('surrogate-curves')?.data?.x ?? []).length"
BAYESIAN = sorted(cls.title for cls in discover("zoviz.solvers.bayesian", BayesianSolver).values())
TITLE = "return find('picture-' + a)?.title?.text ?? ''"
DRAWN = "const p = find('plot-TrustRegion'); return !!p && p.renderers.length > 0"


@pytest.mark.slow  # tests/views/app/test_dashboard_traffic.py has what reaches the page
@pytest.mark.parametrize("solver", ["ZOSQP", "AL-SPG"])
def test_a_run_is_drawn_steered_and_stays_through_a_change_of_theme(lab: Lab, solver: str) -> None:
    """Figures that come with a run are whole: a model that the browser does not know blanks the page in a new theme."""
    lab.choose("Solver", solver)
    lab.settle(Seconds="auto", Iterations="100000", Replicas="2")
    lab.start()
    lab.until(lambda: lab.js(POINTS) > 1, "the picture has points")
    if solver == "ZOSQP":
        lab.until(lambda: lab.js(DRAWN), "the radii are drawn")
        lab.press("Pause")
        lab.end("paused")
        lab.unfold("Solver")
        lab.type("Trust radius scale", "0.5")
        lab.until(lambda: lab.data("marks", "text"), "the change is marked")
        assert "Trust radius scale" in lab.data("marks", "text")[-1]
    lab.complete()
    figures = lab.page.locator(".bk-Figure").count()
    for _ in range(2):
        lab.press("Toggle theme")
        lab.page.wait_for_timeout(700)
    assert lab.page.locator(".bk-Figure").count() == figures > 5
    lab.press("Stop")
    lab.end("stopped")


@pytest.mark.slow
@pytest.mark.parametrize("solver", BAYESIAN)
def test_a_bayesian_method_goes_from_start_to_stop_with_its_surrogate_drawn(lab: Lab, solver: str) -> None:
    pytest.importorskip("botorch", reason='python -m pip install "zoviz[bo]"')
    lab.choose("Problem", "Toy of Gramacy and others (LSQ)")
    lab.choose("Solver", solver)
    lab.settle(Seconds="auto", Iterations="100000", Replicas="1")
    lab.start()
    lab.until(lambda: lab.js(CURVES) > 100, "the surrogate has a slice", seconds=120)
    lab.press("Pause")
    lab.end("paused")
    lab.type("Along: x", "2")
    label = "return find('picture-SurrogateSlice').below[0].axis_label"
    lab.until(lambda: "x2" in lab.js(label), "the slice runs along the second variable")
    lab.press("Stop")
    lab.end("stopped")
    assert lab.status() == "stopped"


@pytest.mark.slow
@pytest.mark.parametrize(
    "title, picture, words",
    [(HMCTuning.title, "SamplerChains", "ESS "), (NetworkTuning.title, "NetworkWork", " allowed, objective ")],
)
def test_tuning_goes_from_start_to_stop_with_its_picture(lab: Lab, title: str, picture: str, words: str) -> None:
    pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')
    lab.patience = 150  # an iteration of the default batch is some sixty trials
    lab.choose("Problem", title)
    lab.choose("Solver", "SZO-ConEX")
    lab.settle(Seconds="auto", Iterations="100000", Replicas="1")
    lab.press("Start")  # nobody knows the optimum, so that there is no gap to wait for
    lab.until(lambda: words in lab.js(TITLE, picture), "the picture has its words")
    lab.until(lambda: lab.iteration() > 1, "the run goes on")
    lab.press("Stop")
    lab.end("stopped")
    assert lab.status() == "stopped"
