"""Fig. 3 of paper zoeg: printed schedules, one step for x and y, comparisons at equal calls, steps on the feeder."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from zoviz.papers.zoeg.figure_3 import (
    CALLS,
    CONSTANT,
    DIMINISHING,
    FACTORS,
    ITERATIONS,
    PRINTED,
    RANDOM,
    TWO_STEPS,
    FeederCourses,
    at_the_end,
    converges,
    grid,
    instance,
    is_nearer,
    solve,
    solver_of,
)
from zoviz.solvers import ZOBCEG, ZOEG
from zoviz.studies.experiment import Figures, Measured
from zoviz.studies.verdict import Verdict


class FiveInstances(FeederCourses):
    """With one start on each."""

    __abstract = True
    sizes = {"full": {**FeederCourses.sizes["full"], "replicas": 1}}


def figures_of(errors: list[float | None], calls: float = 4.0) -> Figures:
    return {"error": errors, "calls": calls, "after": {"14": errors}}


def test_schedules_are_the_printed_ones() -> None:
    constant, falling = PRINTED[CONSTANT], PRINTED[DIMINISHING]
    assert constant.step(0) == constant.step(7999) == 3e-6 and constant.margin(5) == 0.005
    assert np.isclose(falling.step(0), 3e-4 / 1000.0**0.5) and np.isclose(falling.step(8000), 3e-4 / 9000.0**0.5)
    assert falling.margin(0) == 0.1 and np.isclose(falling.margin(999), 0.05)
    assert np.isclose(constant.radius(0), 0.01 / 4000.0**1.1) and constant.radius(0) < 1e-5


def test_methods_are_compared_by_instances_at_equal_calls_only() -> None:
    few, many = [0.40, 0.41, 0.39, 0.42, 0.38], [0.30, 0.33, 0.31, 0.30, 0.32]
    measured: Measured = {"block 20": figures_of(few, 42.0), "block 168": figures_of(many, 338.0)}
    test = partial(is_nearer, FiveInstances(), CALLS, measured)
    assert test("block 168", "block 20").verdict is Verdict.YES
    assert test("block 20", "block 168").verdict is Verdict.NO, "the ablation, put in the method's place"
    reason = is_nearer(FiveInstances(), ITERATIONS, measured, "block 168", "block 20").reason
    assert reason == "unequal budgets: block 168 338, block 20 42"
    lost: Measured = {**measured, "block 168": figures_of([None, *many[1:]], 338.0)}
    assert is_nearer(FiveInstances(), CALLS, lost, "block 168", "block 20").verdict is not Verdict.YES


def test_converged_is_below_the_level_on_the_instances() -> None:
    one = FiveInstances()
    assert converges(one, {"a": figures_of([0.01, 0.02, 0.03, 0.02, 0.01])}, "a").verdict is Verdict.YES
    assert converges(one, {"a": figures_of([0.2, 0.21, 0.22, 0.2, 0.21])}, "a").verdict is Verdict.NO


def test_every_method_has_as_many_settings_and_calls_with_one_step_and_with_two() -> None:
    experiment = FeederCourses()
    parts = [part for part in experiment.parts() if part not in PRINTED]
    assert len(parts) == 2 * len(experiment.settings["iterations"])
    for part in parts:
        solvers = [solver_of(part, steps) for steps in grid(part)]
        assert len({*grid(part)}) == len(FACTORS) == experiment.tuning().settings
        assert all((primal == dual) != part.endswith(TWO_STEPS) for primal, dual in grid(part))
        assert all(isinstance(solver, ZOEG if part.startswith(RANDOM) else ZOBCEG) for solver in solvers)
        assert solvers[0].open_scales() == [], "every step is set, none is left to a rule"
    calls = [
        count * (4 if name == RANDOM else 2 * int(name[6:]) + 2)
        for name, count in experiment.settings["iterations"].items()
    ]
    assert max(calls) < 1.02 * min(calls)


def test_the_end_of_a_run_is_its_last_tenth() -> None:
    errors = np.arange(21.0)[:, None]
    np.testing.assert_array_equal(at_the_end(errors), [19.5])
    np.testing.assert_array_equal(at_the_end(errors[:3]), [2.0])


def test_a_printed_schedule_keeps_iterates_off_the_ends_and_costs_a_call_more() -> None:
    pytest.importorskip("power_grid_model")
    plain, shrunk = (
        solve(instance(0), solver_of(RANDOM, (3e-6, 3e-6)), 3, 2, 0, schedule) for schedule in (None, PRINTED[CONSTANT])
    )
    assert shrunk.calls == plain.calls + 1.0
    assert plain.errors.shape == shrunk.errors.shape == (4, 2)
    np.testing.assert_array_equal(plain.errors[0], shrunk.errors[0])
    assert (plain.errors[1:] != shrunk.errors[1:]).all()


def test_larger_blocks_come_nearer_in_equally_many_iterations() -> None:
    pytest.importorskip("power_grid_model")
    few, many = (solve(instance(0), solver_of(name, grid(name)[2]), 8, 2, 0).errors for name in ("block 1", "block 20"))
    assert (many[-1] < few[-1]).all() and (many[-1] < many[0]).all()
