"""A user's units do not steer a solver, and all that a run reports is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.problems.scaled import Scaled
from zoviz.runs.scaling import present
from zoviz.sets import Ball, Box, Product, Set, Simplex
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver
from zoviz.solvers.base import Info
from zoviz.streams import Streams
from zoviz.types import Array, Evaluation
from zoviz.units import Similar, Units, coordinates

SOLVERS = [ZOCEG, ZOBCEG, ZOSPLM, ZOEG]
EACH_SOLVER = pytest.mark.parametrize("solver", SOLVERS, ids=lambda c: c.__name__)


def units(domain: Set, x0: Any, m: int = 2, level: float = 7.0, f: float = 5.0, h: Any = (2.0, 0.1)) -> Units:
    return coordinates(domain, np.atleast_2d(x0), m).with_values(level, f, np.array(h, float))


# --- the map ----------------------------------------------------------------------------------------------------------


def test_intervals_become_unit_and_the_rest_is_measured_by_its_start() -> None:
    inf = np.inf
    box = Box([-2.0, 5.0, 3.0, -inf, -inf, 1.0, -1e20], [8.0, 5.0, inf, 4.0, inf, 1.0 + 1e-6, 1e20])
    one = coordinates(box, np.array([[0.0, 5.0, 3.5, 1.0, -20.0, 1.0, 0.0]]), 1)
    np.testing.assert_allclose(one.width, [10.0, 1.0, 0.5, 3.0, 20.0, 1e-6, 3.0], rtol=1e-9)
    assert one.offset.tolist() == [-2.0, 5.0, 3.0, 4.0, 0.0, 1.0, 0.0]
    inner = one.domain
    np.testing.assert_array_equal(inner.lower[[0, 1, 2, 5]], 0.0)
    np.testing.assert_array_equal(inner.upper[[0, 1, 3, 5]], [1.0, 0.0, 0.0, 1.0])
    assert inner.upper[2] == inf and inner.lower[3] == -inf and inner.lower[4] == -inf and inner.upper[6] > 1e19


def test_a_start_at_zero_takes_the_others_measure_or_one() -> None:
    free = Box.free(4)
    assert coordinates(free, np.zeros((1, 4)), 0).width.tolist() == [1.0] * 4
    assert coordinates(free, np.array([[0.0, 2e6, -4e6, np.nan]]), 0).width.tolist() == [3e6, 2e6, 4e6, 3e6]
    several = coordinates(free, np.array([[1.0, 1.0, 1.0, 3.0], [-1.0, 1.0, 1.0, 4.0]]), 0)
    np.testing.assert_allclose(several.width, [1.0, 1.0, 1.0, np.sqrt(12.5)])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_points_go_there_and_back_and_never_leave_the_box(size: float) -> None:
    rng = np.random.default_rng(0)
    lower = size * rng.normal(size=50)
    box = Box(lower, lower + size * rng.uniform(0.1, 3.0, 50))
    one = units(box, box.sample(np.full(50, 0.5)))
    for unit in (np.zeros(50), np.ones(50), rng.uniform(size=(200, 50)), rng.choice([0.0, 1.0], (50, 50))):
        x = one.point(unit)
        assert (x >= box.lower).all() and (x <= box.upper).all(), "not even by one unit in the last place"
        np.testing.assert_allclose(one.inverse(x), unit, atol=1e-12)
        back = one.inverse(x)
        assert (back >= 0.0).all() and (back <= 1.0).all()
    outside = one.point(np.full(50, 1.0 + 1e-3))
    assert (outside > box.upper).all(), "probes outside stay outside"


def test_values_multipliers_and_gradients_agree_with_the_chain_rule() -> None:
    problem = NonconvexQCQP(n=4)
    one = units(Box([-10.0, -10.0, -10.0, -10.0], [10.0, 0.0, 30.0, -9.0]), np.zeros(4), 1, h=(3.0,))
    u = np.random.default_rng(1).uniform(size=(5, 4))
    step = 1e-6

    def scaled(points: Array) -> Evaluation:
        return one.value(problem.evaluate(one.point(points)))

    of_f, of_h = one.gradients(problem.gradient(one.point(u)))
    for i in range(4):
        ahead, behind = scaled(u + step * np.eye(4)[i]), scaled(u - step * np.eye(4)[i])
        np.testing.assert_allclose((ahead.f - behind.f) / (2 * step), of_f[:, i], rtol=1e-5, atol=1e-3)
        np.testing.assert_allclose((ahead.h - behind.h) / (2 * step), of_h[:, :, i], rtol=1e-5, atol=1e-3)
    back = one.user_value(scaled(u))
    np.testing.assert_allclose(back.f, problem.evaluate(one.point(u)).f, rtol=1e-12)
    np.testing.assert_allclose(back.h, problem.evaluate(one.point(u)).h, rtol=1e-12)
    # The same stationary Lagrangian: grad f~ + y~ grad h~ = W (grad f + y grad h) / s_f.
    y = np.array([[0.7]] * 5)
    user_f, user_h = problem.gradient(one.point(u))
    user = user_f + one.dual(y) * user_h[:, 0]
    np.testing.assert_allclose(of_f + y * of_h[:, 0], user * one.width / one.f, rtol=1e-12)


@pytest.mark.parametrize("domain", [Ball([1e3, 2e3], 500.0), Simplex(2, 1e-4)], ids=["ball", "simplex"])
def test_other_sets_keep_their_projections(domain: Set) -> None:
    start = domain.sample(np.full((1, 2), 0.3))
    one = coordinates(domain, start, 0)
    assert isinstance(one.domain, Similar) and np.ptp(one.width) == 0.0
    assert one.width[0] == pytest.approx(np.sqrt(np.square(start).mean()))
    far = np.random.default_rng(0).normal(size=(20, 2)) * 30.0
    np.testing.assert_allclose(one.point(one.domain.project(far)), domain.project(one.point(far)), rtol=1e-9)
    assert one.domain.contains(one.domain.sample(np.random.default_rng(1).random((9, 2))), 1e-9).all()


def test_products_of_boxes_are_one_box() -> None:
    one = coordinates(Product([Box([0.0], [4.0]), Product([Box([1.0], [11.0])])]), np.zeros((1, 2)), 0)
    assert isinstance(one.domain, Box) and one.width.tolist() == [4.0, 10.0]
    assert isinstance(coordinates(Product([Box([0.0], [4.0]), Ball([0.0], 1.0)]), np.ones((1, 2)), 0).domain, Similar)


# --- what a run does with it ------------------------------------------------------------------------------------------


def f_of(x: Array) -> Array:
    return ((x - np.array([0.3, -0.2, 0.6])) ** 2 * np.array([1.0, 2.0, 4.0])).sum(axis=-1) + 0.5 * x[..., 0] * x[
        ..., 1
    ]


def h_of(x: Array) -> Array:
    return np.stack([x.sum(axis=-1) - 0.4, np.square(x).sum(axis=-1) - 0.5], axis=-1)


def in_units(size: Any, f: float, h: Any, level: float = 0.0, **settings: Any) -> BlackBox:
    """The same problem in any units: x_i in ``size``, f in ``f`` above a ``level``, h_i in ``h``."""
    size, h = np.array(size), np.array(h)
    return BlackBox(
        lambda x: level + f * f_of(x / size),
        lambda x: h * h_of(x / size),
        bounds=[(-s, 1.5 * s) for s in size],
        vectorised=True,
        **settings,
    )


def course(problem: Problem, solver: Solver, **settings: Any) -> Run:
    run = Run(problem=problem, solver=solver, **({"replicas": 3, "seed": 2, "iterations": 60} | settings))
    run.run()
    return run


ABSURD = {
    "tiny and huge variables": ([1e-6, 1.0, 1e6], 1.0, [1.0, 1.0]),
    "huge objective, small constraints": ([1.0] * 3, 1e9, [1e-3, 1e-3]),
    "tiny objective": ([1.0] * 3, 1e-9, [1.0, 1e6]),
    "all": ([1e6, 1e-6, 1e-6], 1e9, [1e-3, 1e5]),
}


@pytest.mark.parametrize("absurd", ABSURD.values(), ids=ABSURD.keys())
@EACH_SOLVER
def test_absurd_units_give_the_same_course(solver: type[Solver], absurd: tuple) -> None:
    size, f, h = absurd
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0]), solver())
    other = course(in_units(*absurd), solver())
    np.testing.assert_allclose(other.trace["objective"] / f, plain.trace["objective"], rtol=1e-5, atol=1e-6)
    duals = plain.trace["dual"] * f / np.array(h)
    np.testing.assert_allclose(other.trace["dual"], duals, rtol=1e-4, atol=1e-5 * np.abs(duals).max())
    np.testing.assert_array_equal(other.trace["calls"], plain.trace["calls"])
    np.testing.assert_allclose(other.result.x / np.array(size), plain.result.x, atol=1e-6)
    for name, value in plain.resolved.items():
        assert other.resolved[name] == pytest.approx(value, rel=1e-5)


@EACH_SOLVER
def test_noise_is_in_the_users_units_and_the_course_the_same(solver: type[Solver]) -> None:
    noise = {"noise": "independent"}
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0], noise_scale=1e-3, **noise), solver())
    other = course(in_units([1e6, 1e-6, 1.0], 1e9, [1e9, 1e9], noise_scale=1e6, **noise), solver())
    np.testing.assert_allclose(other.trace["objective"] / 1e9, plain.trace["objective"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(other.trace["dual"], plain.trace["dual"], rtol=1e-4, atol=1e-5)


def test_the_best_point_is_the_same_in_any_units() -> None:
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0]), ZOEG(), feasibility_tolerance=1e-3)
    other = course(in_units([1e-6, 1.0, 1e6], 1e9, [1e-3, 1e-3]), ZOEG(), feasibility_tolerance=1e-6)
    np.testing.assert_allclose(other.trace["best_objective"] / 1e9, plain.trace["best_objective"], rtol=1e-5)
    np.testing.assert_allclose(other.result.best_feasible / [1e-6, 1.0, 1e6], plain.result.best_feasible, atol=1e-6)
    assert np.isfinite(plain.result.best_value).all()


def test_a_level_of_f_does_not_matter() -> None:
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0]), ZOCEG())
    other = course(in_units([1.0] * 3, 1.0, [1.0, 1.0], level=1e4), ZOCEG())
    np.testing.assert_allclose(other.trace["objective"] - 1e4, plain.trace["objective"], atol=1e-4)
    np.testing.assert_allclose(other.result.x, plain.result.x, atol=1e-4)


def test_everything_reported_is_in_the_users_units() -> None:
    """Against the user's own functions at the reported points, and the trace's duals against the Lagrangian's."""
    size, f, h = np.array([1e-6, 1.0, 1e6]), 1e9, np.array([1e-3, 10.0])
    problem = in_units(size, f, h, optimal_value=1e8)
    run = course(problem, ZOCEG(), iterations=2000, targets={"violation": 1e-4})
    result = run.result
    np.testing.assert_allclose(result.fun, problem.objective(result.x), rtol=1e-9)
    violation = np.linalg.norm(np.maximum(problem.constraints(result.x), 0.0), axis=1)
    np.testing.assert_allclose(result.maxcv, violation, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(result.best_value, problem.objective(result.best_feasible), rtol=1e-9)
    assert (problem.constraints(result.best_feasible) <= 1e-6).all() and result.success.all()
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
    assert not course(problem, ZOCEG(), feasibility_tolerance=1.9).result.success.any()
    assert course(problem, ZOCEG(), feasibility_tolerance=2.1).result.success.all()


def test_the_calls_of_the_units_are_charged_and_all_points_inside() -> None:
    seen: list[Array] = []

    def objective(x: Array) -> float:
        seen.append(x.copy())
        return float(f_of(x))

    problem = BlackBox(objective, bounds=[(-1.0, 1.5)] * 3, x0=[-1.0, 1.5, 0.0])
    streams = Streams(0, 2)
    oracle = Oracle(problem, streams)
    shown = present(problem, oracle, problem.initial(streams), streams)
    assert oracle.calls.tolist() == [5, 5] and len(seen) == 10
    np.testing.assert_array_equal(seen[0], [-1.0, 1.5, 0.0])
    assert isinstance(shown, Scaled) and oracle.units is not None and oracle.domain is oracle.units.domain
    assert np.min(seen) >= -1.0 and np.max(seen) <= 1.5
    explicit = ZOSPLM(primal_step=0.01, dual_step=0.01, proximal_weight=1.0)
    explicit.estimator.smoothing_radius = 1e-4
    run = course(problem, explicit, iterations=0)
    assert run.result.calls.tolist() == [6, 6, 6], "5 for the units, 1 for the start"


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


def test_a_replica_does_not_depend_on_how_many_there_are() -> None:
    for noise in ("deterministic", "independent"):
        problem = in_units([1e-6, 1.0, 1e6], 1e9, [1e-3, 1e-3], noise=noise, noise_scale=1e-5)
        few, many = course(problem, ZOEG(), replicas=2), course(problem, ZOEG(), replicas=5)
        np.testing.assert_allclose(few.trace["objective"], many.trace["objective"][:, :2], rtol=1e-7)


def test_replay_of_a_scaled_run_is_exact() -> None:
    run = course(in_units([1e-6, 1.0, 1e6], 1e9, [1e-3, 1e-3]), ZOSPLM())
    again = Run.replay(run)
    again.run()
    np.testing.assert_array_equal(run.result.x, again.result.x)
    np.testing.assert_array_equal(run.trace["dual"], again.trace["dual"])


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
    predicted, found = run.trace["variance_predicted"][-1], run.trace["variance"][-1]
    assert np.ptp(predicted) < 1e-9 * predicted[0]
    assert found.mean() == pytest.approx(predicted[0], rel=0.05)


def test_the_presented_problem_is_consistent() -> None:
    problem = NonconvexQCQP(n=5, noise="independent", noise_scale=0.3)
    streams = Streams(1, 3)
    oracle = Oracle(problem, streams)
    shown = present(problem, oracle, problem.initial(streams), streams)
    assert shown.n == 5 and shown.m == 1 and shown.half_width == 10.0 and shown.title == problem.title
    u = oracle.domain.sample(np.random.default_rng(0).random((3, 5)))
    x = oracle.units.point(u)
    np.testing.assert_allclose(x, 20.0 * u - 10.0)
    value = shown.evaluate(u)
    np.testing.assert_allclose(value.h, problem.evaluate(x).h / oracle.units.h)
    known, own = problem.constants, shown.constants
    assert own.curvature == pytest.approx(known.curvature * 400.0 / oracle.units.f)
    assert own.constraint_slope == pytest.approx(known.constraint_slope * 20.0 / oracle.units.h[0])
    optimum = shown.known_optimum
    at = shown.evaluate(optimum.point)
    assert at.f == pytest.approx(optimum.value, rel=1e-9, abs=1e-9) and at.h[0] == pytest.approx(0.0, abs=1e-9)
    of_f, of_h = shown.gradient(optimum.point)
    np.testing.assert_allclose(of_f + optimum.multipliers @ of_h, 0.0, atol=1e-7 * np.abs(of_f).max())
    dual = np.array([[0.0], [1.0], [2.0]])
    variance = 0.09 * (1.0 / oracle.units.f**2 + np.square(dual[:, 0] / oracle.units.h[0]))
    np.testing.assert_allclose(shown.lagrangian_noise(dual), variance)
    info = Info(np.zeros(3), u, dual, 1e-3)
    assert ZOSPLM().target(shown, info).square.shape == (3,)


def test_unscaled_problems_pay_nothing_and_see_themselves() -> None:
    run = course(LoadTracking(n=5, curtailment=40.0), ZOCEG(), iterations=3)
    assert run.units is None and run._worker.seen is run._worker.problem
    assert run.result.calls.tolist() == [1 + 3 * 2 * 6] * 3


# --- defaults on unknown copies of known problems ---------------------------------------------------------------------


def copy_of(problem: Problem, **settings: Any) -> BlackBox:
    return BlackBox(
        lambda x: tuple(problem.evaluate(x)),
        joint=True,
        vectorised=True,
        m=problem.m,
        bounds=list(zip(problem.domain.lower, problem.domain.upper, strict=True)),
        optimal_value=problem.known_optimum.value,
        **settings,
    )


COPIES = {
    "load tracking": (LoadTracking(), 0.0, 0.2),
    "load tracking, noise of 0.1% of the optimum": (LoadTracking(), 1e-3, 0.5),
    "QCQP": (NonconvexQCQP(n=20), 0.0, 0.01),
    "QCQP, noise of 0.1% of the optimum": (NonconvexQCQP(n=20), 1e-3, 0.01),
}


@pytest.mark.parametrize("case", COPIES.values(), ids=COPIES.keys())
@EACH_SOLVER
def test_defaults_make_progress_where_nothing_is_known(solver: type[Solver], case: tuple) -> None:
    problem, noise, share = case
    settings = {"noise": "independent", "noise_scale": noise * abs(problem.known_optimum.value)} if noise else {}
    # The dual variable swings: under noise that hides it, ZOBCEG's few coordinates a step follow slowly, and iteration
    # 500 finds it at the far end of the first swing.
    iterations = 1000 if noise and solver.__name__ == "ZOBCEG" else 500
    run = course(copy_of(problem, **settings), solver(), replicas=4, seed=3, iterations=iterations)
    exact = problem.evaluate(run.result.x)
    gap = np.abs(exact.f - problem.known_optimum.value)
    assert gap.mean() < share * np.abs(run.trace["gap"][0]).mean()
    # Of the 1500 kW to curtail, or of a violation of thousands at the start.
    assert np.maximum(exact.h, 0.0).mean() < 350.0
