"""The limits of steps: where they come from, at which multipliers, and where there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz.core.types import Provenance
from zoviz.diagnosis.step_limits import limits_of
from zoviz.problems import ConexQCQP, SpeedReducer
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOGDA
from zoviz.solvers.base import Solver
from zoviz.solvers.step_limits import extragradient_end


@pytest.mark.parametrize("variance", [0.0, 0.5, 5.0, 50.0])
def test_the_extragradient_end_is_where_the_mean_square_ceases_to_fall(variance: float) -> None:
    def growth(a: float) -> float:
        """The mean square of a component after a step from 1, by its three independent parts."""
        half = (1.0 - a) ** 2 + a**2 * variance
        return (1.0 - a + a**2) ** 2 + a**4 * variance + a**2 * variance * half

    end = extragradient_end(variance)
    assert growth(end) == pytest.approx(1.0) and growth(0.9 * end) < 1.0 < growth(1.1 * end)


def test_limits_of_a_run_are_those_at_its_multipliers() -> None:
    run = Run(ConexQCQP(n=4), ZOGDA(), replicas=2, iterations=3, seed=0)
    assert limits_of(run) == {}
    run.run()
    limits, step = limits_of(run)["primal_step"], run.resolved["primal_step"]
    assert limits.theorem is None and step < limits.stable < 50 * step


def run_on_a_reducer(solver: Solver, **options: Any) -> Run:
    """A run on a problem whose constants are not known."""
    run = Run(SpeedReducer(), solver, replicas=1, iterations=2, seed=0, **options)
    run.run()
    return run


def test_limits_are_by_the_constants_that_a_run_measured_and_unknown_where_all_was_given() -> None:
    run, given = run_on_a_reducer(ZOGDA(augmentation=False)), ZOGDA(augmentation=False)
    limits = limits_of(run)["primal_step"]
    assert limits.provenance is Provenance.MEASURED and 0.0 < limits.stable < np.inf
    for name, value in run.resolved.items():
        given.set(name, value)
    assert limits_of(run_on_a_reducer(given)) == {}


def test_a_resumed_run_has_the_constants_that_it_measured(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    whole = run_on_a_reducer(ZOGDA(augmentation=False), store=store)
    resumed = store.load(whole.id).resume(iterations=3)
    resumed.run()
    assert limits_of(resumed)["primal_step"].provenance is Provenance.MEASURED
    assert resumed.resolved == whole.resolved and len(resumed.trace) == 4, "nothing was measured again"


def test_khobotovs_test_takes_back_long_steps_so_that_there_are_no_limits() -> None:
    problem = ConexQCQP(n=4)
    tested, published = (Run(problem, ZOCEG(contraction=nu), replicas=1, iterations=2) for nu in (0.9, 0.0))
    for run in (tested, published):
        run.run()
    assert limits_of(tested) == {} and "primal_step" in limits_of(published)
