"""The proximal-point chain at known solutions, in runs that are steered, and its nested parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.known_problems import Known, TwoConstraints
from helpers.proximal import CAP, SEED, WEIGHTS, course, inner_solvers
from zoviz.core.streams import Streams
from zoviz.estimators import Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.runs.script import script
from zoviz.solvers import ZOCEG, ZOEG, ProximalPoint, Solver, SZOConEX


@pytest.mark.parametrize("inner", [SZOConEX, ZOCEG, ZOEG])
def test_exact_gradients_lead_to_the_known_solution(inner: type[Solver]) -> None:
    # Central differences of a quadratic along the coordinates are its gradient, whatever their length.
    exact = Coordinate(smoothing_radius=1.0, differences="central")
    options: dict[str, Any] = {"value": "base"} if inner is SZOConEX else {"radius_scale": 1e6}
    problem = Known()
    solver = ProximalPoint(
        inner=inner(primal_step=0.12, dual_step=0.15, dual_cap=CAP, estimator=exact, **options),
        objective_weight=0.5,
        constraint_weight=0.2,
        stage_length=30,
    )
    state = course(solver, problem, 800)[0][-1]
    np.testing.assert_allclose(state.x, np.broadcast_to(problem.point, state.x.shape), atol=1e-8)
    np.testing.assert_allclose(state.y, np.broadcast_to(problem.multipliers, state.y.shape), atol=1e-7)


@pytest.mark.parametrize("inner", [SZOConEX, ZOEG, ZOCEG])
def test_defaults_reach_the_certified_optimum_of_a_nonconvex_problem(inner: type[Solver]) -> None:
    run = Run(problem=NonconvexQCQP(n=10, seed=2), solver=ProximalPoint(inner=inner()), replicas=4, iterations=600)
    run.run()  # after 500, along random directions, a violation may still swing to .022
    assert np.abs(run.trace["gap"][-1]).max() <= 0.02 * np.abs(run.trace["gap"][0]).mean()
    assert run.trace["violation"][-1].max() <= 0.02


def test_the_solution_drawn_is_uniform_among_the_first_stages() -> None:
    problem, stages, replicas = NonconvexQCQP(n=3), 5, 600
    solver = ProximalPoint(inner=inner_solvers()["zoceg"], stage_length=1, stages=stages, **WEIGHTS)
    streams = Streams(SEED, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    assert solver.output(state) is state.x
    chain = []
    for _ in range(stages + 4):
        state, _ = solver.step(state, oracle, streams)
        chain.append(state.x)
    solver.report = "random"
    which = np.array([(solver.output(state) == x).all(axis=1) for x in chain[:stages]])
    assert (which.sum(axis=0) == 1).all()
    assert np.abs(which.mean(axis=1) - 1.0 / stages).max() < 4.0 * np.sqrt(0.16 / replicas)


def test_the_inner_solver_is_steered_replayed_and_written_out_like_an_estimator() -> None:
    solver = ProximalPoint(inner=ZOEG(dual="estimated", estimator=Sphere(smoothing_radius=None, batch_size=4)))
    run = Run(problem=NonconvexQCQP(n=6), solver=solver, replicas=2, iterations=60)
    run.start(steps=20)
    while run.status != "paused" or run.progress.iteration < 20:
        pass
    with pytest.raises(ValueError, match="inner is structural"):
        solver.inner = SZOConEX()
    with pytest.raises(ValueError, match="inner.dual is structural"):
        solver.inner.dual = "exact"
    assert solver.inner.dual == "estimated" and isinstance(solver.inner, ZOEG)
    solver.stage_length = 7
    solver.inner.primal_step = 0.004
    solver.inner.estimator.batch_size = 9
    run.unpause()
    run.wait()
    assert [change.name for change in run.journal] == [
        "stage_length",
        "inner.primal_step",
        "inner.estimator.batch_size",
    ]
    again = run.replay()
    np.testing.assert_array_equal(again.run().x, run.result.x)
    source = script(run)
    assert "inner=ZOEG(dual='estimated', estimator=Sphere(" in source and "'inner.primal_step'" in source
    scope: dict[str, Any] = {}
    exec(source, scope)
    np.testing.assert_array_equal(scope["result"].x, run.result.x)
    clone = solver.clone()
    clone.inner.estimator.batch_size = 2
    assert solver.inner.estimator.batch_size == 9 and clone.live == solver.live


def test_the_form_has_the_inner_solver_s_widgets_and_follows_another_choice() -> None:
    from zoviz.views.controls.parameter_forms import SolverForm

    solver = ProximalPoint()
    form = SolverForm(solver)
    names = set(form.fields)
    assert {"stage_length", "inner.primal_step", "inner.extrapolation", "inner.estimator.smoothing_radius"} <= names
    assert solver.kinds("inner") == (SZOConEX, ZOEG, ZOCEG) and solver.kinds("inner.estimator") == SZOConEX.families
    form.lock(True)
    assert form.fields["inner.directions"].disabled and not form.fields["inner.primal_step"].disabled
    form.lock(False)
    form._kinds[0].value = ZOCEG
    assert isinstance(solver.inner, ZOCEG) and "inner.extrapolation" not in form.fields
    assert {"inner.schedule", "inner.estimator.differences"} <= set(form.fields)
    form.fields["inner.schedule"].value = "diminishing"
    assert solver.inner.schedule == "diminishing"
    problem = NonconvexQCQP(n=6)
    form.suggest(solver.from_constants(problem, problem.constants))
    assert (
        form.fields["inner.primal_step"].suggestion
        == solver.from_constants(problem, problem.constants)["inner.primal_step"]
    )


def test_weights_may_change_within_a_stage() -> None:
    solver = ProximalPoint(inner=inner_solvers()["zoceg"], stage_length=100, **WEIGHTS)
    problem, streams = TwoConstraints(), Streams(SEED, 2)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    for weight in (0.8, 0.8, 5.0):
        solver.objective_weight = weight
        state, _ = solver.step(state, oracle, streams)
        np.testing.assert_allclose(state.value.f, problem.evaluate(state.x).f, rtol=1e-12)
        offset = weight * np.square(state.x - state.centre).sum(axis=1)
        np.testing.assert_allclose(state.inner.value.f, state.value.f + offset, rtol=1e-12)


def test_a_stage_around_a_violated_centre_still_has_feasible_points() -> None:
    x, weight = np.linspace(-4.0, 4.0), 0.1
    assert (3.0 - x + weight * (x + 3.0) ** 2 > 0.0).all(), "with its quadratic the constraint would hold nowhere"
    box = BlackBox(lambda x: float(x @ x), lambda x: 3.0 - float(x[0]), bounds=[(-4.0, 4.0)] * 2, x0=[-3.0, 1.0])
    solver = ProximalPoint(constraint_weight=weight, inner=ZOCEG())
    result = Run(problem=box, solver=solver, replicas=1, iterations=600).run()
    np.testing.assert_allclose(result.x, [[3.0, 0.0]], atol=2e-2)
