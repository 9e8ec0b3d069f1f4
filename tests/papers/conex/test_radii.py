"""Figs. 1 and 2 of paper conex, small: a large radius runs away, a small one comes near, and why."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from zoviz.papers.conex.figure_1 import ConvexQCQP
from zoviz.papers.conex.figure_2 import NonconvexStages, least_residual
from zoviz.papers.conex.methods import OURS, PLAIN, RIVALS
from zoviz.papers.conex.radii import EARLY, END, OverRadii, diverges, last_crossing, takes_as_many_calls
from zoviz.problems import ConexQCQP
from zoviz.studies.experiment import Figures, Measured
from zoviz.studies.verdict import Verdict

SIZES = {"panels": [[8, "normal", "common"]], "replicas": 4, "calls": 3000, "rivals": 2, "rival_calls": 24}


def small(base: type[OverRadii], **settings: Any) -> OverRadii:
    sizes = {"full": {**SIZES, **settings}}
    return type("Small", (base,), {"sizes": sizes, "_Small__abstract": True})()


def solvers_only(one: OverRadii) -> Measured:
    return {part: one.measure(part) for part in one.parts() if part.split(" / ")[1] not in RIVALS}


def test_a_small_radius_comes_near_and_a_large_one_runs_away() -> None:
    one = small(ConvexQCQP)
    measured = solvers_only(one)
    (panel,) = one.panel_names()
    assert panel == "n = 8, normal common noise" and len(measured) == 6
    near, far = measured[f"{panel} / {OURS}, ν = 0.05"], measured[f"{panel} / {OURS}, ν = 2"]
    assert np.median(near[END]) < 0.1 and near["course"]["error"][0] == 1.0
    assert near[EARLY] == [1.0] * 4, "an iteration is 62 calls: within 24 there is the start alone"
    diverging = partial(diverges, one, panel)
    assert diverging(measured, f"{OURS}, ν = 2").verdict is Verdict.YES
    assert diverging(measured, f"{OURS}, ν = 0.05").verdict is Verdict.NO
    # What biases the constraint is its value at the perturbed points, 0.5 nu^2 tr of its Hessian above that at x.
    exact = measured[f"{panel} / {OURS}, ν = 2, h at x"]
    assert (np.array(exact[END]) < 0.1 * np.array(far[END])).all()
    assert measured[f"{panel} / {PLAIN}, ν = 0.05"][END] != near[END]


def test_a_row_within_a_rivals_calls_is_what_it_is_compared_by() -> None:
    one = small(ConvexQCQP, rival_calls=1000, replicas=3)
    (panel,) = one.panel_names()
    part = f"{panel} / {OURS}, ν = 0.1"
    assert (
        one.measure(part)[EARLY]
        == small(ConvexQCQP, calls=1000, rival_calls=1000, replicas=3).measure(part)[END]
        != one.measure(part)[END]
    )


def test_the_chain_of_stages_falls_where_the_step_is_not_0() -> None:
    one = small(NonconvexStages, calls=8000, replicas=3)
    (panel,) = one.panel_names()
    near, far = (one.measure(f"{panel} / {OURS}, ν = {radius}") for radius in ("0.05", "2"))
    assert np.median(near[END]) < 0.6 and min(far[END]) > 1.0
    np.testing.assert_allclose(near[EARLY], 1.0, err_msg="no step within 24 calls")


@pytest.mark.parametrize("convex", [True, False])
def test_the_least_residual_is_0_at_the_optimum_and_least_over_multipliers(convex: bool) -> None:
    problem = ConexQCQP(n=12, convex=convex, seed=1)
    optimum = problem.known_optimum
    assert optimum is not None
    assert least_residual(problem, optimum.point[None])[0] < 1e-7
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 12))
    grid = np.linspace(0.0, 5.0, 4001)
    every = [problem.metrics(x, np.full((3, 1), y), None)["stationarity"] for y in grid]
    np.testing.assert_allclose(least_residual(problem, x), np.min(every, axis=0), rtol=1e-2)
    assert (least_residual(problem, x) <= np.min(every, axis=0) * (1.0 + 1e-9)).all()


def test_every_rival_is_claimed_against_at_equal_calls_on_every_panel() -> None:
    one = small(ConvexQCQP, panels=[[8, "normal", "common"], [8, "student_t", "independent"]])
    assert {panel: one.problem(panel).noise for panel in one.panel_names()} == {
        "n = 8, normal common noise": "common",
        "n = 8, student_t independent noise": "independent",
    }
    pairs = one.pairs()
    assert len(pairs) == 2 * (1 + len(RIVALS)) and sum(pair.when == EARLY for pair in pairs) == 8
    assert {pair.ablation for pair in pairs} == {f"{PLAIN}, ν = 0.05"}
    assert len({claim.says for claim in one.claims()}) == len(one.claims()) == len(pairs) + 2 * 3


def test_the_calls_from_which_on_a_level_is_kept() -> None:
    calls = np.arange(4.0)[:, None] * np.ones(3)
    values = np.array([[5.0, 1.0, 5.0], [1.0, 2.0, 5.0], [2.0, 5.0, 5.0], [1.0, 1.0, 5.0]])
    np.testing.assert_array_equal(last_crossing(calls, values, 1.0), [3.0, 3.0, np.inf])
    np.testing.assert_array_equal(last_crossing(calls, values, 2.0), [1.0, 3.0, np.inf])


@pytest.mark.parametrize(
    ("mine", "other", "verdict"),
    [
        ([90.0, 100.0, 120.0], [100.0, 120.0, 130.0], Verdict.YES),
        ([90.0, 100.0, 120.0], [270.0, 300.0, 360.0], Verdict.NO),
        ([90.0, 100.0, 120.0, 99.0, 98.0, 97.0, 96.0], [None] * 7, Verdict.NO),
        ([None, None, None], [None, None, 9.0], Verdict.OPEN),
    ],
)
def test_radii_are_alike_where_medians_of_calls_are_within_a_factor(
    mine: list[Any], other: list[Any], verdict: Verdict
) -> None:
    measured = {f"p / {OURS}, ν = 0.1": Figures(near=mine), f"p / {OURS}, ν = 0.05": Figures(near=other)}
    test = partial(takes_as_many_calls, small(ConvexQCQP), "p")
    assert test(measured, f"{OURS}, ν = 0.1", f"{OURS}, ν = 0.05").verdict is verdict


def test_some_trials_that_run_away_decide_nothing() -> None:
    ends = {"some": [0.2, 0.1, 9.0, 7.0, None], "all": [2.0, 3.0, 2.5, 4.0, 2.2]}
    measured = {f"p / {name}": Figures(end=values) for name, values in ends.items()}
    test = partial(diverges, small(ConvexQCQP), "p")
    assert test(measured, "some").verdict is Verdict.OPEN
    assert test(measured, "all").verdict is Verdict.YES
