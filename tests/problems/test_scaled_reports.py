"""All that a run reports is in the user's units, and what it costs to measure them is charged."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.scaled_problem import course, f_of, in_units
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.problems.scaled import Scaled
from zoviz.runs.engine.startup import present
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.solvers.theory import Info


def test_everything_reported_is_in_the_users_units() -> None:
    """Against the user's own functions at the reported points, and the trace's duals against the Lagrangian's."""
    size, f, h = np.array([1e-6, 1.0, 1e6]), 1e9, np.array([1e-3, 10.0])
    problem = in_units(size, f, h, optimal_value=1e8)
    run = course(problem, ZOCEG(), iterations=2000, targets={"violation": 1e-4})
    result = run.result
    np.testing.assert_allclose(result.fun, problem.objective(result.x), rtol=1e-9)
    violation = np.linalg.norm(np.maximum(problem.constraints(result.x), 0.0), axis=1)
    np.testing.assert_allclose(result.violation, violation, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(result.best_fun, problem.objective(result.best_x), rtol=1e-9)
    assert (problem.constraints(result.best_x) <= 1e-6).all() and result.success.all()
    np.testing.assert_allclose(run.trace["gap"], run.trace["objective"] - 1e8, rtol=1e-9)
    np.testing.assert_allclose(run.trace["best_gap"], run.trace["best_objective"] - 1e8, rtol=1e-9)
    np.testing.assert_array_equal(run.trace["dual"][-1], result.multipliers)
    assert [hit.hits for hit in run.hits] == [3]
    # At the solution, inside the box, grad f + y grad h = 0 in the user's units, each term of them far from 0.
    x, step = result.x, 1e-4 * size
    terms = []
    for i in range(3):
        ends = x + step[i] * np.eye(3)[i], x - step[i] * np.eye(3)[i]
        of_f = (problem.objective(ends[0]) - problem.objective(ends[1])) / (2 * step[i])
        of_h = (problem.constraints(ends[0]) - problem.constraints(ends[1])) / (2 * step[i])
        terms.append((of_f, (result.multipliers * of_h).sum(axis=1)))
    of_f, of_h = np.array(terms).transpose(1, 2, 0)
    assert (np.abs(of_f + of_h).max(axis=0) < 1e-3 * np.abs(of_f).max(axis=0)).all()


def test_the_tolerance_is_the_users() -> None:
    box = {"bounds": [(-1.0, 1.0)] * 2, "vectorised": True}
    problem = BlackBox(lambda x: x.sum(axis=-1), lambda x: 1e6 * (x[..., 0] * 0.0 + 2e-6), **box)
    assert not course(problem, ZOCEG(), tolerance=1.9).result.success.any()
    assert course(problem, ZOCEG(), tolerance=2.1).result.success.all()


def test_the_calls_of_the_units_are_charged_and_all_points_inside() -> None:
    points: list[Array] = []

    def objective(x: Array) -> float:
        points.append(x.copy())
        return float(f_of(x))

    problem = BlackBox(objective, bounds=[(-1.0, 1.5)] * 3, x0=[-1.0, 1.5, 0.0])
    streams = Streams(0, 2)
    oracle = Oracle(problem, streams)
    scaled = present(problem, oracle, problem.initial(streams), streams)
    assert oracle.calls.tolist() == [5, 5] and len(points) == 10
    np.testing.assert_array_equal(points[0], [-1.0, 1.5, 0.0])
    assert isinstance(scaled, Scaled) and oracle.units is not None and oracle.domain is oracle.units.domain
    assert np.min(points) >= -1.0 and np.max(points) <= 1.5
    explicit = ZOSPLM(primal_step=0.01, dual_step=0.01, proximal_weight=1.0, dual_cap=100.0)
    explicit.estimator.smoothing_radius = 1e-4
    run = course(problem, explicit, iterations=0)
    assert run.result.calls.tolist() == [20, 20, 20], "5 for the units, 14 for curvatures, 1 for noise"


def test_units_come_from_the_first_start_that_is_defined() -> None:
    def objective(x: Array) -> Array:
        return np.where(x[..., 0] < 0.5, np.nan, x.sum(axis=-1))

    for replicas in (1, 4):
        problem = BlackBox(objective, bounds=[(0.0, 1.0)] * 2, vectorised=True)
        streams = Streams(0, replicas)
        x0 = np.array([[0.1, 0.1], [0.9, 0.2], [0.8, 0.4], [0.7, 0.7]])[:replicas]
        oracle = Oracle(problem, streams)
        present(problem, oracle, x0, streams)
        assert oracle.units.level == (0.0 if replicas == 1 else pytest.approx(1.1))
        assert 0 < oracle.units.f < 2.0
        assert not oracle.any_failed, "probes, not base points"


def test_nothing_to_measure_leaves_one() -> None:
    for value, expected in ((0.0, 1.0), (-3e5, 3e5)):
        problem = BlackBox(lambda x, value=value: value, lambda x: 0.0, bounds=[(0.0, 1.0)] * 2)
        oracle = Oracle(problem, Streams(0, 1))
        present(problem, oracle, np.full((1, 2), 0.5), Streams(0, 1))
        assert oracle.units.f == expected and oracle.units.h.tolist() == [1.0]


def test_a_constraint_that_is_flat_around_the_start_counts_by_its_way_to_zero() -> None:
    """Violated by 1, or 1 inside, and a change of 1e-4 around: in units of that it would hide the third, and all f."""

    def constraints(x: Array) -> Array:
        return np.stack([1.0 - 1e-4 * x[..., 0], 1e-4 * x[..., 1] - 1.0, 8.0 * (x[..., 0] - 0.5)], axis=-1)

    problem = BlackBox(lambda x: x.sum(axis=-1) + 1e6, constraints, bounds=[(0.0, 1.0)] * 2, vectorised=True)
    oracle = Oracle(problem, Streams(0, 1))
    present(problem, oracle, np.full((1, 2), 0.5), Streams(0, 1))
    assert oracle.units.h[:2] == pytest.approx([0.25, 0.25], abs=1e-4)
    assert 0.1 < oracle.units.h[2] <= 1.0 and oracle.units.f < 1.0, "what changes evenly counts by its change"


@pytest.mark.parametrize("problem", [LoadTracking(n=20), NonconvexQCQP(n=8)], ids=lambda p: type(p).__name__)
def test_an_analytic_problem_is_measured_exactly_in_its_own_units(problem: Problem) -> None:
    scaled = problem.clone()
    scaled.scaled = True
    run = course(scaled, ZOCEG(), iterations=1000)
    result = run.result
    expected = problem.metrics(result.x, result.multipliers, None)
    for name in ("objective", "violation", "gap", "relative_gap", "stationarity"):
        np.testing.assert_allclose(run.trace[name][-1], expected[name], rtol=1e-9, atol=1e-9)
    starts = run.trace["stationarity"][0]
    assert np.median(run.trace["stationarity"][-1] / starts) < 0.1
    assert (run.trace["relative_gap"][-1] < 0.1).all()


def test_theory_is_that_of_the_scaled_problem() -> None:
    """The measured variance of the first estimate, over many replicas, against what theory predicts of it."""
    problem = NonconvexQCQP(n=8, noise="independent", noise_scale=0.05, scaled=True, start_radius=0.0)
    solver = ZOSPLM(dual_step=1e-6, estimator=Sphere(smoothing_radius=2e-4, batch_size=20))
    run = course(problem, solver, replicas=400, iterations=1)
    predicted, empirical = run.trace["variance_predicted"][-1], run.trace["variance"][-1]
    assert np.ptp(predicted) < 1e-9 * predicted[0]
    assert empirical.mean() == pytest.approx(predicted[0], rel=0.05)


def test_the_presented_problem_is_consistent() -> None:
    problem = NonconvexQCQP(n=5, noise="independent", noise_scale=0.3)
    streams = Streams(1, 3)
    oracle = Oracle(problem, streams)
    scaled = present(problem, oracle, problem.initial(streams), streams)
    assert scaled.n == 5 and scaled.m == 1 and scaled.title == problem.title
    assert not hasattr(scaled, "half_width"), "what is in the user's units is not passed through"
    u = oracle.domain.sample(np.random.default_rng(0).random((3, 5)))
    x = oracle.units.point(u)
    np.testing.assert_allclose(x, 20.0 * u - 10.0)
    value = scaled.evaluate(u)
    np.testing.assert_allclose(value.h, problem.evaluate(x).h / oracle.units.h)
    expected, own = problem.constants, scaled.constants
    assert own.curvature == pytest.approx(expected.curvature * 400.0 / oracle.units.f)
    assert own.constraint_slope == pytest.approx(expected.constraint_slope * 20.0 / oracle.units.h[0])
    optimum = scaled.known_optimum
    at = scaled.evaluate(optimum.point)
    assert at.f == pytest.approx(optimum.value, rel=1e-9, abs=1e-9) and at.h[0] == pytest.approx(0.0, abs=1e-9)
    of_f, of_h = scaled.gradient(optimum.point)
    np.testing.assert_allclose(of_f + optimum.multipliers @ of_h, 0.0, atol=1e-7 * np.abs(of_f).max())
    dual = np.array([[0.0], [1.0], [2.0]])
    variance = 0.09 * (1.0 / oracle.units.f**2 + np.square(dual[:, 0] / oracle.units.h[0]))
    np.testing.assert_allclose(scaled.lagrangian_noise(dual), variance)
    info = Info(np.zeros(3), u, dual, 1e-3)
    assert ZOSPLM().target(scaled, info).square.shape == (3,)


def test_unscaled_problems_pay_nothing_and_see_themselves() -> None:
    run = course(LoadTracking(n=5, curtailment=40.0), ZOCEG(), iterations=3)
    assert run.units is None and run.worker.scaled_problem is run.worker.problem
    assert run.result.calls.tolist() == [1 + 3 * 2 * 6] * 3
