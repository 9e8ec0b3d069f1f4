"""Fig. 1 and 2 of paper conex, small: large radii run away, small ones are alike, and what the verdicts rest on."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.conex.figure_1 import RADII, Budget, courses, errors, report, search
from zoviz.papers.conex.figure_2 import courses as chains
from zoviz.papers.conex.figure_2 import ends, least_residual, starts
from zoviz.papers.conex.methods import OURS, alike, diverges, last_crossing
from zoviz.problems import ConexQCQP

SMALL = Budget(replicas=4, calls=3000, rivals=0, seconds=1.0)


def test_a_small_radius_comes_near_and_a_large_one_runs_away() -> None:
    problem = ConexQCQP(n=10, noise="common")
    runs = courses(problem, SMALL)
    every = {name: errors(run) for name, run in runs.items()}
    assert len(every) == len(RADII) + 2
    np.testing.assert_allclose(every[f"{OURS}, ν = 0.05"].error[0], 1.0)
    assert np.median(every[f"{OURS}, ν = 0.05"].error[-1]) < 0.1
    assert diverges(every[f"{OURS}, ν = 2"].error[-1]).startswith("reproduced")
    # What biases the constraint is its value at the perturbed points, 0.5 nu^2 tr of its Hessian above that at x.
    biased, exact = (every[name].error[-1] for name in (f"{OURS}, ν = 2", f"{OURS}, ν = 2, values at x"))
    assert (exact < 0.1 * biased).all()


def test_a_row_within_a_rivals_calls_is_what_it_is_compared_by() -> None:
    run = courses(ConexQCQP(n=5, noise="common"), SMALL, radii=(0.1,))[f"{OURS}, ν = 0.1"]
    one = errors(run)
    row = int(np.flatnonzero(one.calls[:, 0] <= 1000)[-1])
    np.testing.assert_array_equal(one.at(1000, 3), one.error[row, :3])
    np.testing.assert_array_equal(one.at(0, 4), one.error[0])


def test_verdicts_tell_settings_that_differ_from_those_that_are_alike() -> None:
    a, b, never = np.array([90.0, 100.0, 120.0]), np.array([150.0, 190.0, np.inf]), np.full(3, np.inf)
    assert alike([a, b]).startswith("reproduced") and alike([a, 3.0 * a]).startswith("not reproduced")
    assert alike([a, never]).startswith("not reproduced") and alike([never, never]).startswith("cannot be decided")
    assert diverges(np.array([2.0, 3.0])).startswith("reproduced")
    assert diverges(np.array([0.2, 0.3])).startswith("not reproduced")
    assert diverges(np.array([0.2, 3.0])).startswith("cannot be decided")
    calls = np.arange(4.0)[:, None] * np.ones(3)
    values = np.array([[5.0, 1.0, 5.0], [1.0, 2.0, 5.0], [2.0, 5.0, 5.0], [1.0, 1.0, 5.0]])
    np.testing.assert_array_equal(last_crossing(calls, values, 1.0), [3.0, 3.0, np.inf])
    np.testing.assert_array_equal(last_crossing(calls, values, 2.0), [1.0, 3.0, np.inf])


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


def test_the_chain_of_stages_falls_where_the_step_is_not_0() -> None:
    problem = ConexQCQP(n=8, convex=False, noise="common")
    budget = Budget(replicas=3, calls=8000, rivals=0, seconds=1.0)
    runs, start = chains(problem, budget), starts(problem, 3)
    every = ends(problem, runs, start)
    name = f"{OURS}, ν = 0.05"
    assert runs[name].state.finished >= 49, "K stages share the budget"
    assert np.median(every.shares[name]) < 0.6
    assert (every.shares[f"{OURS}, ν = 2"] > 1.0).all()


@pytest.mark.slow
def test_the_report_has_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    report(ConexQCQP(n=8, noise="independent"), Budget(3, 2000, 0, 1.0), True, None)
    out = capsys.readouterr().out
    assert all(f"claim {i}" in out for i in (1, 2, 3, 4)) and out.count("best steps") == 2


@pytest.mark.slow
def test_the_search_is_no_worse_than_the_rule_on_its_own_seeds() -> None:
    problem, budget = ConexQCQP(n=8, noise="common"), Budget(5, 2000, 0, 1.0)
    runs = courses(problem, budget)
    best = search(problem, 1.0, budget, runs)
    assert "best steps" in best.label and np.median(errors(best).error[-1]) < 1.0
