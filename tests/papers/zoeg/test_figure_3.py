"""Fig. 3 of paper zoeg: printed schedules, comparisons where a run never got there, and real steps on the feeder."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from zoviz.papers.zoeg.figure_3 import (
    CALLS,
    CONSTANT,
    DIMINISHING,
    GRID,
    ITERATIONS,
    PRINTED,
    TUNED,
    TWO_STEPS,
    FeederCourses,
    converges,
    is_faster,
    solve,
    solver_of,
)
from zoviz.problems import ACLoadTracking
from zoviz.solvers import ZOBCEG, ZOEG
from zoviz.studies.experiment import Figures, Measured
from zoviz.studies.verdict import Verdict

RNG = np.random.default_rng(0)


def figures_of(**entries: tuple[list[float | None], float]) -> Measured:
    return {
        name.replace("_", " "): Figures({"entries": [values, values], "calls": calls})
        for name, (values, calls) in entries.items()
    }


def test_schedules_are_the_printed_ones() -> None:
    constant, falling = PRINTED[CONSTANT], PRINTED[DIMINISHING]
    assert constant.step(0) == constant.step(7999) == 3e-6 and constant.margin(5) == 0.005
    assert np.isclose(falling.step(0), 3e-4 / 1000.0**0.5) and np.isclose(falling.step(8000), 3e-4 / 9000.0**0.5)
    assert falling.margin(0) == 0.1 and np.isclose(falling.margin(999), 0.05)
    assert np.isclose(constant.radius(0), 0.01 / 4000.0**1.1) and constant.radius(0) < 1e-5


def test_who_never_got_there_took_its_budget_at_least() -> None:
    experiment = FeederCourses()
    measured = figures_of(block_20=([50.0, 51.0, 52.0], 42.0), block_168=([10.0, 11.0, 12.0], 338.0))
    test = partial(is_faster, experiment, CALLS, 0)
    assert (test(measured, "block 20", "block 168").margins > 0.0).all()
    assert test(measured, "block 168", "block 20").reason == TWO_STEPS
    assert len(set(is_faster(experiment, ITERATIONS, 0, measured, "block 168", "block 20").budgets.values())) == 2
    seldom = figures_of(block_20=([1500.0, 1510.0, 1520.0], 42.0), block_168=([None, 99.0, 98.0], 338.0))
    assert test(seldom, "block 168", "block 20").reason == "the budget ended too early to tell"


def test_converged_is_below_the_level() -> None:
    assert converges({"a": {"error": [0.01, 0.02, 0.03], "calls": 4.0}}, "a").verdict is Verdict.YES
    assert converges({"a": {"error": [0.2, 0.21, 0.22], "calls": 4.0}}, "a").verdict is Verdict.NO


def test_every_method_has_its_grid_and_budget() -> None:
    experiment = FeederCourses()
    assert list(GRID) == list(experiment.settings["iterations"]) and experiment.tuning().settings == 4
    for method, (primal, dual) in GRID.items():
        solver = solver_of(method, (primal[0], dual[0]))
        assert len(primal) * len(dual) == 4 and isinstance(solver, ZOEG if method == TUNED else ZOBCEG)
        assert solver.open_scales() == [], "every step is set, none is left to a rule"
        assert method == TUNED or f"block {solver.estimator.block_size}" == method


def test_a_printed_schedule_keeps_iterates_off_the_ends_and_costs_a_call_more() -> None:
    pytest.importorskip("power_grid_model")
    problem = ACLoadTracking(loads="drawn")
    plain, shrunk = (
        solve(problem, solver_of(CONSTANT, (3e-6, 3e-6)), 3, 2, 0, schedule) for schedule in (None, PRINTED[CONSTANT])
    )
    assert shrunk.calls == plain.calls + 1.0
    assert plain.errors.shape == shrunk.errors.shape == (4, 2)
    np.testing.assert_array_equal(plain.errors[0], shrunk.errors[0])
    assert (plain.errors[1:] != shrunk.errors[1:]).all()


def test_larger_blocks_come_nearer_in_equally_many_iterations() -> None:
    pytest.importorskip("power_grid_model")
    problem = ACLoadTracking(loads="drawn")
    few, many = (
        solve(problem, solver_of(name, (GRID[name][0][0], GRID[name][1][0])), 8, 2, 0).errors
        for name in ("block 1", "block 20")
    )
    assert (many[-1] < few[-1]).all() and (many[-1] < many[0]).all()
