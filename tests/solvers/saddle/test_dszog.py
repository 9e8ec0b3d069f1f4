"""DSZOG and ADSZOG against a loop written out, at their penalty's own solution, and their calls."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bench import Bench
from helpers.descent import assert_plain_descent
from zoviz import Run
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import CentralSphere, Sphere
from zoviz.problems import BlackBox, DistributedConsensus, LoadTracking, NonconvexQCQP, Problem, SpeedReducer
from zoviz.solvers import DSZOG
from zoviz.solvers.saddle.dszog import Growth

A, B, ETA, ETA_P, BETA, LAM, DECAY, RADIUS, K = 0.3, 0.2, 0.1, 0.4, 1.5, 0.7, 0.9, 0.1, 3
GIVEN = {
    "averaging": A,
    "momentum": B,
    "primal_step": ETA,
    "dual_step": ETA_P,
    "penalty": BETA,
    "regularisation": LAM,
    "square_decay": DECAY,
}


def on_simplex(p: Array) -> Array:
    """Of two numbers: the nearest point (t, 1 - t) of the segment."""
    t = min(max(0.5 * (1.0 + p[0] - p[1]), 0.0), 1.0)
    return np.array([t, 1.0 - t])


def penalised(problem: Problem, x: Array, p: Array) -> float:
    value = problem.evaluate(x)
    return float(value.f) + BETA * sum(p[j] * max(float(value.h[j]), 0.0) ** 2 for j in range(2))


def by_hand(bench: Bench, steps: int, adaptive: bool) -> list[tuple[Array, Array]]:
    problem, streams = bench.problem, bench.streams(3)
    x, p = problem.initial(streams).copy(), np.full((3, 2), 0.5)
    z_x, z_p, v, out = np.zeros((3, 4)), np.zeros((3, 2)), np.zeros((3, 4)), []
    for t in range(1, steps + 1):
        u = streams.normal("directions", K, 4).copy()
        for r in range(3):
            gradient = np.zeros(4)
            for i in range(K):
                d = u[r, i] / np.sqrt((u[r, i] ** 2).sum())
                rise = penalised(problem, x[r] + RADIUS * d, p[r]) - penalised(problem, x[r], p[r])
                gradient += 4.0 / (RADIUS * K) * rise * d
            ascent = BETA * np.maximum(problem.evaluate(x[r]).h, 0.0) ** 2 - LAM * p[r]
            z_x[r] = (1.0 - B) * z_x[r] + B * gradient
            z_p[r] = (1.0 - B) * z_p[r] + B * ascent
            move = z_x[r].copy()
            if adaptive:
                v[r] = DECAY * v[r] + (1.0 - DECAY) * z_x[r] ** 2
                move = z_x[r] / (np.sqrt(v[r] / (1.0 - DECAY**t)) + 1e-8)
            x[r] = (1.0 - A) * x[r] + A * np.clip(x[r] - ETA * move, 0.0, 2.0)
            p[r] = (1.0 - A) * p[r] + A * on_simplex(p[r] + ETA_P * z_p[r])
        out.append((x.copy(), p.copy()))
    return out


@pytest.mark.parametrize("adaptive", [False, True], ids=["DSZOG", "ADSZOG"])
def test_steps_equal_a_hand_written_loop(bench: Bench, adaptive: bool) -> None:
    solver = DSZOG(**GIVEN, adaptive=adaptive, estimator=Sphere(smoothing_radius=RADIUS, batch_size=K))
    states, infos = bench.course(solver, 5)
    for state, (x, p) in zip(states[1:], by_hand(bench, 5, adaptive), strict=True):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(state.distribution, p, rtol=0, atol=1e-12)
        h = np.maximum(bench.problem.evaluate(x).h, 0.0)
        np.testing.assert_allclose(state.y, 2.0 * BETA * p * h, rtol=0, atol=1e-12)
    assert np.ptp(states[-1].distribution[:, 0]) > 1e-3
    np.testing.assert_array_equal(infos[-1].dual, states[-2].y)


def equilibrium(beta: float, lam: float) -> tuple[float, float]:
    """Multiplier y = 2 beta p h of the active constraint and p, where h = 3/2 - 11/6 y and p maximises its part."""
    p = 1.0
    for _ in range(200):
        y = 1.5 / (11.0 / 6.0 + 1.0 / (2.0 * beta * p))
        h = y / (2.0 * beta * p)
        # max over (p, 1 - p) of beta h^2 p - lam (p^2 + (1 - p)^2) / 2
        p = 0.5 * p + 0.5 * min(1.0, 0.5 * (1.0 + beta * h * h / lam))
    return y, p


@pytest.mark.parametrize(
    "beta, lam, adaptive", [(20.0, 0.1, False), (20.0, 1e-3, False), (60.0, 0.1, False), (20.0, 0.1, True)]
)
def test_exact_gradients_lead_to_the_penaltys_own_solution(
    bench: Bench, beta: float, lam: float, adaptive: bool
) -> None:
    y, p = equilibrium(beta, lam)
    step = 0.02 if adaptive else 8.0 / (4.0 + 8.0 * beta)
    settings = {"penalty": beta, "regularisation": lam, "dual_step": 2.0, "primal_step": step}
    solver = DSZOG(**settings, averaging=0.5, momentum=0.5, adaptive=adaptive, estimator=bench.exact())
    states, _ = bench.course(solver, 1500)
    state, streams = states[-1], bench.streams(3)
    for factor in (0.1, 0.01, 1e-3) if adaptive else ():
        # A constant adaptive step does not settle: shrink it, as one may while it runs.
        solver.primal_step = step * factor
        for _ in range(500):
            state, _ = solver.step(state, bench.oracle, streams)
    problem, tolerance = bench.problem, 1e-4 if adaptive else 1e-7
    biased = np.clip(problem.centre - y / problem.weights, 0.0, 2.0)
    np.testing.assert_allclose(state.x, np.tile(biased, (3, 1)), atol=tolerance)
    np.testing.assert_allclose(state.distribution[:, 0], p, atol=100.0 * tolerance)
    violation = problem.evaluate(state.x).h[:, 0]
    np.testing.assert_allclose(violation, y / (2.0 * beta * p), atol=4.0 * tolerance)
    # The bias is that of a quadratic penalty: x* is 1 / beta away.
    assert np.abs(biased - problem.solution).max() <= problem.multiplier / (2.0 * beta * p)


@pytest.mark.parametrize(
    "estimator, per_step", [(Sphere(batch_size=9), 10), (CentralSphere(batch_size=9), 19)], ids=["forward", "central"]
)
@pytest.mark.parametrize("adaptive", [False, True], ids=["DSZOG", "ADSZOG"])
def test_calls_per_step(bench: Bench, adaptive: bool, estimator: Sphere, per_step: int) -> None:
    assert bench.calls(DSZOG(adaptive=adaptive, estimator=estimator.clone()), 5) == 5 * per_step


@pytest.mark.parametrize(
    "problem", [NonconvexQCQP] + [pytest.param(one, marks=pytest.mark.slow) for one in (LoadTracking, BlackBox)]
)
def test_an_adaptive_run_converges_visibly(bench: Bench, problem: type[Problem]) -> None:
    gap, violation = bench.shares(DSZOG(adaptive=True), problem(), 1500)
    assert gap < 0.1 and violation < 0.5


def test_no_constraint_is_plain_descent() -> None:
    assert_plain_descent(DSZOG(), 200)


def test_the_variance_is_what_theory_predicts(bench: Bench) -> None:
    solver = DSZOG(**GIVEN, estimator=Sphere(smoothing_radius=1e-5, batch_size=20))
    _, infos = bench.course(solver, 3, replicas=2000)
    predicted = solver.theory(bench.problem, infos[-1])["variance_predicted"]
    assert infos[-1].dual.max() > 0.1
    assert infos[-1].variance.mean() == pytest.approx(predicted.mean(), rel=0.05)


def test_a_step_with_a_grown_penalty_is_that_of_a_larger_one_with_a_shorter_step(bench: Bench) -> None:
    estimator = Sphere(smoothing_radius=RADIUS, batch_size=K)
    grown, larger = (DSZOG(**GIVEN, growing=growing, estimator=estimator.clone()) for growing in (True, False))
    states, _ = bench.course(grown, 2)
    multiple = np.array([1.0, 2.0, 8.0])
    state = states[-1]._replace(growth=states[-1].growth._replace(multiple=multiple))
    one, _ = grown.step(state, bench.oracle, bench.streams(3))
    for r in range(3):
        larger.penalty, larger.primal_step = BETA * multiple[r], ETA / multiple[r]
        other, _ = larger.step(state._replace(growth=None), bench.oracle, bench.streams(3))
        np.testing.assert_allclose(one.x[r], other.x[r], rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.y[r], other.y[r], rtol=0, atol=1e-12)


def test_a_penalty_is_tripled_where_a_windows_violation_is_hardly_smaller() -> None:
    start = np.array([1.0, 1.0, 1.0])
    growth = Growth(np.ones(3), 0, start, np.full(3, np.inf), start)
    for window in ([1.0, 1.0, 0.0], [0.95, 0.5, 0.0], [0.95, 0.49, 0.0]):  # of the third, all but the start is feasible
        for _ in range(100):
            growth = growth.after(Evaluation(np.zeros(3), np.array(window)[:, None]))
    # Of the first and second once each; a window after that is compared with the next alone.
    np.testing.assert_array_equal(growth.multiple, [3.0, 3.0, 1.0])


@pytest.mark.slow
def test_a_growing_penalty_ends_far_nearer_to_feasibility_than_a_fixed_one() -> None:
    ends = {}
    for growing in (True, False):
        run = Run(problem=SpeedReducer(), solver=DSZOG(growing=growing), replicas=2, iterations=1500, seed=7)
        run.run()
        best = run.problem.known_optimum.value
        assert (run.trace["objective"][0] > 1.2 * best).all() and (run.trace["objective"][-1] < 1.1 * best).all()
        ends[growing] = run.trace["violation"][-1]
    assert (ends[True] < 0.1 * ends[False]).all()


def bears(step: float, momentum: float, noise: float) -> bool:
    """Whether x' = x - s z', z' = (1 - b) z + b g with E g = x and variance u x^2 contracts in the mean square."""
    s, b = step, momentum
    mean = np.array([[1.0 - s * b, -s * (1.0 - b)], [b, 1.0 - b]])
    spread = np.sqrt(noise) * np.array([[-s * b, 0.0], [b, 0.0]])
    return bool(np.abs(np.linalg.eigvals(np.kron(mean, mean) + np.kron(spread, spread))).max() < 1.0)


@pytest.mark.parametrize("b", [0.5, 0.1, 0.05])
def test_an_average_bears_longer_steps_but_not_where_slopes_are_noisy_in_proportion(b: float) -> None:
    assert bears(0.99 * 2.0 * (2.0 - b) / b, b, 0.0) and not bears(1.01 * 2.0 * (2.0 - b) / b, b, 0.0)
    assert bears(0.4, b, 4.0) and not bears(2.0, b, 1.0)


@pytest.mark.parametrize("share, converges", [(1.0, True), (10.0, False)], ids=["rule", "as without sampling"])
def test_steps_are_shorter_where_rows_are_drawn_at_random(share: float, converges: bool) -> None:
    problem = DistributedConsensus()
    step = share * DSZOG().from_constants(problem, problem.constants)["primal_step"]
    penalty = DSZOG().from_constants(problem, problem.constants)["penalty"]
    run = Run(problem, DSZOG(primal_step=step, penalty=penalty), replicas=8, iterations=1000, seed=7)
    run.run()
    gap = np.abs(run.trace["gap"])
    assert bool(gap[-1].mean() < 0.1 * gap[0].mean()) is converges
