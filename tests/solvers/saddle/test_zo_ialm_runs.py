"""ZO-iALM at a known solution, its calls, its curvatures, and in runs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.bench import Bench
from helpers.descent import assert_plain_descent
from helpers.known_problems import Round
from helpers.zo_ialm import BETA, GIVEN, SHARE, SLOPE, SMOOTH, SMOOTH_H, TOL
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Estimate
from zoviz.estimators import Block, Coordinate
from zoviz.oracle import Oracle
from zoviz.problems import LoadTracking, NonconvexQCQP, PressureVessel
from zoviz.runs.engine.steering import Change, Journal
from zoviz.runs.run import Run
from zoviz.solvers import ZOiALM


def exact(bench: Bench, **settings: Any) -> ZOiALM:
    """ZO-iALM with exact partial derivatives in its steps, exact gradients in its tests."""
    stub = bench.exact()

    class ExactTests(Coordinate):
        __abstract = True  # a test's own class

        def estimate(self, phi: Any, x: Array, oracle: Oracle, streams: Streams, **_: Any) -> Estimate:
            return stub.estimate(phi, x, oracle, streams)

    class ExactSteps(ZOiALM):
        __abstract = True  # a test's own class

        def _difference(self, phi: Any, v: Array, i: np.ndarray, oracle: Oracle) -> tuple[Array, Array, Array]:
            gradient = stub.estimate(phi, v, oracle, Streams(0, len(v))).gradient
            return gradient[np.arange(len(v)), i], phi(stub.problem.evaluate(v)), np.zeros(len(v))

    return ExactSteps(
        **(GIVEN | {"dual_cap": 10.0} | settings), estimator=ExactTests(smoothing_radius=1e-9, differences="central")
    )


def test_exact_gradients_and_full_dual_steps_lead_to_the_solution(bench: Bench) -> None:
    solver = exact(bench, dual_step=1e9, penalty_factor=1.0, tolerance=1e-7, patience=10)
    states, _ = bench.course(solver, 3500)
    np.testing.assert_allclose(states[-1].x, np.tile(bench.problem.solution, (3, 1)), atol=1e-8)
    np.testing.assert_allclose(states[-1].y, np.tile([bench.problem.multiplier, 0.0], (3, 1)), atol=1e-7)
    assert (states[-1].stage > 5).all()


def test_exact_gradients_and_damped_dual_steps_lead_to_the_penaltys_own_solution(bench: Bench) -> None:
    """h = eps at most, and x is the minimum for the multiplier (3/2 - h) 6/11 that leaves that h."""
    eps = 5e-3
    states, _ = bench.course(exact(bench, dual_step=0.05, tolerance=eps, patience=100, penalty=1.0), 4000)
    x, y, beta = states[-1].x, states[-1].y, states[-1].penalty
    h = bench.problem.evaluate(x).h[:, 0]
    assert (beta > 9.0).all() and (np.abs(np.maximum(h, -y[:, 0] / beta)) <= 2.0 * eps).all()
    assert (np.abs(h) > 1e-2 * eps).all(), "no bias is left: the comparison would not see it"
    multiplier = (1.5 - h) * 6.0 / 11.0
    np.testing.assert_allclose(y[:, 0] + beta * h, multiplier, atol=2.0 * eps)
    biased = np.clip(bench.problem.centre - multiplier[:, None] / bench.problem.weights, 0.0, 2.0)
    np.testing.assert_allclose(x, biased, atol=eps)


@pytest.mark.parametrize("points", [1, 2, 3])
@pytest.mark.parametrize("central, test_calls", [(True, 8), (False, 5)])
def test_calls_of_a_whole_cycle(bench: Bench, points: int, central: bool, test_calls: int) -> None:
    solver = ZOiALM(**GIVEN, points=points, estimator=Coordinate(differences="central" if central else "forward"))
    inner = int(np.ceil(4 * np.sqrt(1 / SHARE + 2) * np.log(1 / TOL)))
    assert bench.calls(solver.clone(), 1) == 2 * points + 1
    assert bench.calls(solver.clone(), inner) == inner * (2 * points + 1)
    assert bench.calls(solver.clone(), 2 * (inner + 1)) == 2 * (inner * (2 * points + 1) + test_calls)


def test_doubling_finds_the_curvature_along_coordinates(bench: Bench) -> None:
    settings = GIVEN | {"smoothness": 1e-4, "constraint_smoothness": 1e-4, "constraint_slope": 1e-4, "patience": 10_000}
    states, _ = bench.course(
        ZOiALM(**settings, estimator=Coordinate(smoothing_radius=1e-4, differences="central")), 300
    )
    # f, h_1 and h_2: at most a_i + beta + beta (4 x^2 + 2 h_2) in any coordinate, at least 1.
    assert states[0].curvature.max() < 1e-3
    largest = np.array([state.curvature for state in states[1:]]).max(axis=0)
    assert (largest > 1.0).all() and (largest < 2.0 * (4.0 + BETA * (1.0 + 16.0 + 8.0))).all()
    for before, after in itertools.pairwise(states):
        worse = after.curvature > before.curvature
        np.testing.assert_array_equal(after.x[worse], before.x[worse])
        np.testing.assert_array_equal(after.value.f, bench.problem.evaluate(after.x).f)


def test_under_independent_noise_the_curvature_follows_from_the_constants(bench: Bench) -> None:
    bench.problem = type(bench.problem)(noise="independent", noise_scale=0.01)
    states, _ = bench.course(ZOiALM(**GIVEN, estimator=Coordinate(smoothing_radius=0.1, differences="central")), 200)
    for state in states:
        size = np.linalg.norm(state.y, axis=1)
        bound = SMOOTH + SMOOTH_H * size + state.penalty * SLOPE * (SMOOTH_H + SLOPE)
        np.testing.assert_allclose(state.curvature, bound, rtol=1e-12)
    assert states[-1].stage.min() >= 1.0


def test_a_steered_run_replays_to_the_bit() -> None:
    wishes = [(150, "tolerance", 5.0), (200, "penalty_factor", 8.0), (250, "dual_step", 0.5)]
    script = Journal(Change(at, 0, 0.0, name, None, new) for at, name, new in wishes)
    run = Run(problem=LoadTracking(n=5), solver=ZOiALM(), replicas=3, iterations=400, seed=2, schedule=script)
    run.run()
    assert len(run.journal) == 3
    again = run.replay()
    again.run()
    for name in set(run.state._fields) - {"value"}:
        np.testing.assert_array_equal(getattr(run.state, name), getattr(again.state, name), err_msg=name)


def test_it_refuses_what_it_cannot_do() -> None:
    assert "not a Ball: choose ZO-ALM." in str(ZOiALM().accepts(Round(n=4)))
    assert "choose Coordinate." in str(ZOiALM(estimator=Block()).accepts(NonconvexQCQP(n=4)))
    assert ZOiALM().accepts(NonconvexQCQP(n=4)) is None


def test_no_constraint_is_plain_descent() -> None:
    assert_plain_descent(ZOiALM(), 400)


def test_the_curvature_does_not_double_for_ever_along_a_coordinate_in_which_phi_is_concave() -> None:
    """There the mean of the values on both sides, which stands for the one between, lies below it."""
    run = Run(problem=PressureVessel(), solver=ZOiALM(), replicas=2, iterations=1000, seed=0)
    run.run()
    assert run.state.curvature.max() < 1e4 * run.state.penalty.max() * run.resolved["constraint_slope"] ** 2
