"""What guards a method's steps: a primal step that is shortened as multipliers grow."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import ConexQCQP, LoadTracking, NonconvexQCQP
from zoviz.solvers import ZOALM, ZOCEG, ZOGDA, ZOSPLM, ProximalPoint, Solver, SZOConEX
from zoviz.solvers.published_form import FAR
from zoviz.solvers.saddle.safeguards import shortened_for_multipliers

EVERY = (ZOSPLM, ZOCEG, SZOConEX, ZOALM, ZOGDA)


def test_the_step_is_shortened_beyond_its_reach_only() -> None:
    y = np.array([[0.0, 0.0], [3.0, 4.0], [30.0, 40.0]])
    np.testing.assert_allclose(shortened_for_multipliers(0.2, 10.0, y)[:, 0], [0.2, 0.2, 0.04])
    assert shortened_for_multipliers(0.2, None, y) == 0.2
    assert shortened_for_multipliers(0.2, FAR, y) == 0.2  # no multiplier comes near it


@pytest.mark.parametrize("cls", EVERY)
def test_at_its_reach_the_curvature_is_a_third_more_than_the_steps(cls: type[Solver]) -> None:
    problem = NonconvexQCQP(n=10)
    constants, solver = problem.constants, cls()
    values = solver.from_constants(problem, constants)
    with_more = problem.constants.constraint_curvature * values["step_reach"] + constants.curvature
    # The curvature that the step was chosen for: no more than a third below, where nothing else bends.
    assert with_more >= 4.0 / 3.0 * constants.curvature
    assert cls().from_constants(LoadTracking(n=5), LoadTracking(n=5).constants)["step_reach"] == FAR


def test_the_reach_is_the_third_exactly() -> None:
    constants = ConexQCQP(n=10).constants
    level = constants.curvature + 0.25 * constants.constraint_curvature + 7.0
    reach = ZOSPLM().safeguard_rule(constants, level, 7.0)["step_reach"]
    assert constants.curvature + reach * constants.constraint_curvature + 7.0 == pytest.approx(4.0 / 3.0 * level)


@pytest.mark.parametrize("cls", EVERY)
def test_a_step_that_is_given_stays_as_it_is(cls: type[Solver]) -> None:
    run = Run(problem=NonconvexQCQP(n=4), solver=cls(primal_step=0.01), replicas=1, iterations=3)
    run.run()
    assert "step_reach" not in run.resolved
    other = Run(problem=NonconvexQCQP(n=4), solver=cls(), replicas=1, iterations=3)
    other.run()
    assert other.resolved["step_reach"] > 0.0


def test_an_inner_solvers_step_has_its_reach_too() -> None:
    run = Run(problem=NonconvexQCQP(n=4), solver=ProximalPoint(), replicas=1, iterations=3)
    run.run()
    assert run.resolved["inner.step_reach"] > 0.0


def test_steps_that_follow_the_multipliers_do_not_let_them_run_away() -> None:
    ends = []
    for reach in (FAR, None):
        # Twice the rule's step bears moderate multipliers, and none of twice the size.
        problem = ConexQCQP(n=10, noise="independent", noise_scale=1.0)
        chosen = ZOSPLM().from_constants(problem, problem.noisy_constants)
        solver = ZOSPLM(**{name: value for name, value in chosen.items() if "." not in name})
        solver.primal_step, solver.step_reach = 2.5 * chosen["primal_step"], reach or chosen["step_reach"]
        solver.estimator.smoothing_radius = chosen["estimator.smoothing_radius"]
        run = Run(problem=problem, solver=solver, replicas=8, iterations=400, seed=2)
        run.run()
        ends.append(len(run.divergences))
    assert ends[0] > 4 and ends[1] == 0
