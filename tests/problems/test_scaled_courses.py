"""A user's units do not steer a solver; its defaults make progress where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.scaled_problem import EACH_SOLVER, SOLVERS, course, in_units
from helpers.unknown_problem import copy_of
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.solvers import ZOALM, ZOBCEG, ZOCEG, ZOEG, ZOGDA, ZOSPLM, Solver, SZOConEX

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
        assert other.resolved[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-5))


@EACH_SOLVER
def test_noise_is_in_the_users_units_and_the_course_the_same(solver: type[Solver]) -> None:
    noise = {"noise": "independent"}
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0], noise_scale=1e-3, **noise), solver())
    other = course(in_units([1e6, 1e-6, 1.0], 1e9, [1e9, 1e9], noise_scale=1e6, **noise), solver())
    np.testing.assert_allclose(other.trace["objective"] / 1e9, plain.trace["objective"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(other.trace["dual"], plain.trace["dual"], rtol=1e-4, atol=1e-5)


def test_the_best_point_is_the_same_in_any_units() -> None:
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0]), ZOEG(), tolerance=1e-3)
    other = course(in_units([1e-6, 1.0, 1e6], 1e9, [1e-3, 1e-3]), ZOEG(), tolerance=1e-6)
    np.testing.assert_allclose(other.trace["best_objective"] / 1e9, plain.trace["best_objective"], rtol=1e-5)
    np.testing.assert_allclose(other.result.best_x / [1e-6, 1.0, 1e6], plain.result.best_x, atol=1e-6)
    assert np.isfinite(plain.result.best_fun).all()


def test_a_level_of_f_does_not_matter() -> None:
    plain = course(in_units([1.0] * 3, 1.0, [1.0, 1.0]), ZOCEG())
    other = course(in_units([1.0] * 3, 1.0, [1.0, 1.0], level=1e4), ZOCEG())
    np.testing.assert_allclose(other.trace["objective"] - 1e4, plain.trace["objective"], atol=1e-4)
    np.testing.assert_allclose(other.result.x, plain.result.x, atol=1e-4)


def test_a_replica_does_not_depend_on_how_many_there_are() -> None:
    for noise in ("deterministic", "independent"):
        problem = in_units([1e-6, 1.0, 1e6], 1e9, [1e-3, 1e-3], noise=noise, noise_scale=1e-5)
        few, many = course(problem, ZOEG(), replicas=2), course(problem, ZOEG(), replicas=5)
        np.testing.assert_allclose(few.trace["objective"], many.trace["objective"][:, :2], rtol=1e-7)


def test_replay_of_a_scaled_run_is_exact() -> None:
    run = course(in_units([1e-6, 1.0, 1e6], 1e9, [1e-3, 1e-3]), ZOSPLM())
    again = run.replay()
    again.run()
    np.testing.assert_array_equal(run.result.x, again.result.x)
    np.testing.assert_array_equal(run.trace["dual"], again.trace["dual"])


# Gap and violation that may be left, of the means at the start: what a user would call solved, in the default suite.
# Under noise directions are random, and iterates level off where bounds are active, as the gradient is not zero there;
# the shorter limits of coordinates say what a user should take.
SOLVED = (0.01, 0.01)
COPIES = {
    "load tracking": (LoadTracking(), 0.0, SOLVED, SOLVED),
    "load tracking, noise of 0.1% of the optimum": (LoadTracking(), 1e-3, (0.05, 0.02), (0.25, 0.25)),
    "QCQP": (NonconvexQCQP(n=20), 0.0, SOLVED, SOLVED),
    "QCQP, noise of 0.1% of the optimum": (NonconvexQCQP(n=20), 1e-3, SOLVED, SOLVED),
}


def is_slow(solver: type[Solver], name: str) -> bool:
    """Whether a pair is slow: noise, and load tracking by methods that go the way of another one."""
    return bool(COPIES[name][1]) or (name == "load tracking" and solver in (ZOEG, ZOBCEG))


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        pytest.param(solver, name, id=f"{solver.__name__}-{name}", marks=[pytest.mark.slow] * is_slow(solver, name))
        for solver in SOLVERS
        for name in COPIES
    ],
)
def test_defaults_solve_where_nothing_is_known(solver: type[Solver], name: str) -> None:
    problem, noise, along_coordinates, along_directions = COPIES[name]
    settings = {"noise": "independent", "noise_scale": noise * abs(problem.known_optimum.value)} if noise else {}
    # On load tracking the dual variable swings; ZOCEG's n + 1 calls a step bring it to rest sooner.
    iterations = 500
    if isinstance(problem, LoadTracking) and solver is not ZOCEG:
        iterations = 4000 if noise else 2000
    run = course(copy_of(problem, **settings), solver(), replicas=4, seed=3, iterations=iterations)
    exact = problem.evaluate(run.result.x)
    gap, violation = np.abs(exact.f - problem.known_optimum.value), np.maximum(exact.h, 0.0).sum(axis=-1)
    shares = along_coordinates if solver in (ZOCEG, ZOBCEG) else along_directions
    assert gap.mean() <= shares[0] * np.abs(run.trace["gap"][0]).mean()
    assert violation.mean() <= shares[1] * run.trace["violation"][0].mean()


ALSO = [pytest.param(cls, marks=pytest.mark.slow) for cls in (ZOALM, ZOGDA, SZOConEX, ZOEG)]


@pytest.mark.parametrize("solver", [ZOSPLM, *ALSO], ids=lambda c: c.__name__)
def test_blocks_of_coordinates_solve_where_random_directions_level_off(solver: type[Solver]) -> None:
    """The ablation: with as many random directions more of the violation is left, where bounds are active."""
    problem, left = LoadTracking(), {}
    for directions in (None, "random"):
        method = solver()
        method.estimator.directions = directions
        run = course(copy_of(problem), method, replicas=4, seed=5, iterations=2000 if solver is ZOSPLM else 4000)
        trace = {name: np.abs(run.trace[name]).mean(axis=1) for name in ("gap", "violation")}
        share = max(values[-1000:].mean() / values[0] for values in trace.values())
        left[directions or str(run.resolved["estimator.directions"])] = float(share)
    assert left["block"] <= 0.01 and left["random"] > 5.0 * left["block"], left
