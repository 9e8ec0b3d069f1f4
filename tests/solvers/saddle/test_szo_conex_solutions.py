"""SZO-ConEX with exact gradients at known solutions, its variance against theory, and its average."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.conex import STEPS, course
from helpers.known_problems import Known, TwoConstraints
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP, Spring
from zoviz.runs.run import Run
from zoviz.solvers import SZOConEX
from zoviz.solvers.saddle import szo_conex as module
from zoviz.solvers.saddle.szo_conex import ConEXState, DampedSafeguards

EXACT = {"smoothing_radius": 1.0, "differences": "central"}
"""Central differences of a quadratic along the coordinates are its gradient, whatever their length."""


@pytest.mark.parametrize("directions", ["shared", "separate"])
def test_exact_gradients_lead_to_the_known_solution(directions: str) -> None:
    problem = Known()
    solver = SZOConEX(
        **(STEPS | {"primal_step": 0.15, "dual_step": 0.2}),
        value="base",
        directions=directions,
        estimator=Coordinate(**EXACT),
    )
    state = course(solver, problem, 600)[0][-1]
    np.testing.assert_allclose(state.x, np.broadcast_to(problem.point, state.x.shape), atol=1e-9)
    np.testing.assert_allclose(state.y, np.broadcast_to(problem.multipliers, state.y.shape), atol=1e-8)


def test_extrapolation_is_what_keeps_a_bilinear_problem_from_circling() -> None:
    box = BlackBox(lambda x: float(x[0]), lambda x: -float(x[0]), bounds=[(-4.0, 4.0)], x0=[1.0])
    ends = {}
    for theta in (0.0, 1.0):
        solver = SZOConEX(
            **(STEPS | {"primal_step": 0.3, "dual_step": 0.3}),
            extrapolation=theta,
            value="base",
            estimator=Coordinate(**EXACT),
        )
        state = course(solver, box, 700)[0][-1]
        ends[theta] = np.hypot(state.x[0, 0], state.y[0, 0] - 1.0)
    assert ends[1.0] < 1e-3 < 0.1 < ends[0.0]


@pytest.mark.parametrize("directions", ["shared", "separate"])
@pytest.mark.parametrize("family", [Gaussian, Sphere, CentralSphere])
def test_the_measured_variance_is_what_theory_says(family: type, directions: str) -> None:
    problem, replicas = TwoConstraints(), 4000
    streams = Streams(2, replicas)
    solver = SZOConEX(**STEPS, directions=directions, estimator=family(smoothing_radius=1e-6, batch_size=4))
    x = np.broadcast_to(np.array([0.5, -0.3, 0.2, 0.7, -0.1]), (replicas, 5)).copy()
    level = np.full((replicas, 2), 8.0)
    oracle = Oracle(problem, streams)
    state = module.ConEXState(x, np.full((replicas, 2), 0.2), oracle(x), level, level, x, 0)
    after, info = solver.step(state, oracle, streams)
    predicted = solver.theory(problem, info)["variance_predicted"]
    assert np.allclose(predicted, predicted[0])
    gradients = (x - after.x) / STEPS["primal_step"]
    assert np.isclose(np.trace(np.cov(gradients.T)), predicted[0], rtol=0.06)
    assert np.isclose(info.variance.mean(), predicted[0], rtol=0.06)
    exact = problem.gradient(x[:1])
    expected = exact[0] + (after.y[:1, :, None] * exact[1]).sum(axis=1)
    np.testing.assert_allclose(gradients.mean(axis=0), expected[0], atol=6.0 * np.sqrt(predicted[0] / replicas))


def test_big_batches_in_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from zoviz.estimators import base

    for directions in ("shared", "separate"):
        solver = SZOConEX(**STEPS, directions=directions, estimator=Gaussian(smoothing_radius=0.05, batch_size=9))
        problem = TwoConstraints(noise="independent", noise_scale=0.01)
        whole = course(solver, problem, 3)[0][-1]
        with monkeypatch.context() as patch:
            patch.setattr(base, "CHUNK_BYTES", 700)
            pieces = course(solver, problem, 3)[0][-1]
        np.testing.assert_allclose(pieces.x, whole.x, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(pieces.level, whole.level, rtol=1e-9, atol=1e-11)


def test_the_average_is_reported_where_asked_for() -> None:
    run = Run(problem=NonconvexQCQP(n=6), solver=SZOConEX(report="average"), replicas=2, iterations=7)
    result = run.run()
    np.testing.assert_array_equal(result.x, run.state.average)
    assert (result.x != run.state.x).any()


def test_separate_directions_are_noisier_at_a_solution() -> None:
    # Errata 22: what the shared directions see dies at a KKT point, the paper's own does not.
    problem, ends = Known(), {}
    for directions in ("shared", "separate"):
        solver = SZOConEX(
            **(STEPS | {"primal_step": 0.02, "dual_step": 0.02}),
            directions=directions,
            estimator=Gaussian(smoothing_radius=1e-6, batch_size=2),
        )
        state = course(solver, problem, 700)[0][-1]
        ends[directions] = np.linalg.norm(state.x[:, 1:] - problem.point[1:], axis=1).mean()
    assert ends["shared"] < 0.5 * ends["separate"]


class Undamped(DampedSafeguards):
    """Safeguards that leave the multipliers' step as it is although penalties act."""

    def extrapolated(self, level: Array, previous: Array, theta: float) -> Array:
        return (1.0 + theta) * level - theta * previous

    def ascend(self, y: Array, step: float | Array, slope: Array, share: float = 0.5) -> Array:
        damped, self.damped = self.damped, False
        y_next = super().ascend(y, step, slope, share)
        self.damped = damped
        return y_next


class Extrapolating(SZOConEX):
    """The method whose duals go along the extrapolation although penalties act."""

    __abstract = True

    def guarded(self, state: ConEXState, oracle: Oracle) -> Undamped:
        return Undamped(self, state, oracle)


def test_where_penalties_act_they_take_the_place_of_the_extrapolation() -> None:
    """On the spring, whose constraints are curved: with both, iterates stay outside long and penalties grow."""
    ends = {}
    for cls in (SZOConEX, Extrapolating):
        run = Run(problem=Spring(), solver=cls(), replicas=8, iterations=1500, seed=5)
        run.run()
        ends[cls] = np.median(run.trace["gap"][-1]), run.state.safeguards.augmentation.factor.max()
    assert ends[SZOConEX][0] < 0.1 < ends[Extrapolating][0]
    assert 30.0 * ends[SZOConEX][1] < ends[Extrapolating][1]


def test_the_multiplier_of_a_row_that_is_slack_falls_though_steps_are_refused() -> None:
    problem = TwoConstraints()
    solver = SZOConEX(**STEPS, estimator=Coordinate(**EXACT), augmentation=True)
    states, oracle = course(solver, problem, 1)
    state = states[-1]
    slack, ones = np.full_like(state.level, -2.0), np.ones_like(state.y)
    penalties = state.safeguards.augmentation._replace(penalty=np.full_like(state.y, 1e-12))
    held = state._replace(y=ones, safeguards=state.safeguards._replace(augmentation=penalties))
    damped = DampedSafeguards(solver, held, oracle).ascend(ones, solver.dual_step, slack)
    np.testing.assert_allclose(damped, 1.0 - 2.0 * solver.dual_step)
    assert (Undamped(solver, held, oracle).ascend(ones, solver.dual_step, slack) > 1.0 - 1e-9).all()
