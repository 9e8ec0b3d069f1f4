"""Linearised ZO-ALM against a loop written out, on a problem with a known solution, and its calls."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.bench import Bench
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import CentralSphere, Sphere
from zoviz.estimators.scalars import AugmentedLagrangian
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOALM

C, BETA, CAP, RADIUS, K = 0.05, 2.0, 0.9, 0.1, 3


def augmented(problem: Problem, x: Array, y: Array, beta: float) -> float:
    value = problem.evaluate(x)
    total = float(value.f)
    for j in range(problem.m):
        total += 0.5 * beta * (max(float(value.h[j]) + y[j] / beta, 0.0) ** 2 - (y[j] / beta) ** 2)
    return total


def by_hand(bench: Bench, steps: int, weights: str, alpha: float, grows: bool) -> list[tuple[Array, Array, Array]]:
    problem, streams = bench.problem, bench.streams(3)
    x, y, beta, c = problem.initial(streams).copy(), np.zeros((3, 2)), np.full(3, BETA), np.full(3, C)
    before = np.array([np.linalg.norm(np.maximum(problem.evaluate(x[r]).h, 0.0)) for r in range(3)])
    out = []
    for t in range(1, steps + 1):
        u = streams.normal("directions", K, 4).copy()
        for r in range(3):
            w = np.maximum(y[r] + beta[r] * problem.evaluate(x[r]).h, 0.0)

            def phi(at: Array, w: Array = w, r: int = r) -> float:
                if weights == "direct":
                    return augmented(problem, at, y[r], beta[r])
                value = problem.evaluate(at)
                return float(value.f) + float(w @ value.h)

            gradient = np.zeros(4)
            for i in range(K):
                v = u[r, i] / np.sqrt((u[r, i] ** 2).sum())
                gradient += 4.0 / (RADIUS * K) * (phi(x[r] + RADIUS * v) - phi(x[r])) * v
            x[r] = np.clip(x[r] - c[r] * gradient, 0.0, 2.0)
            h = problem.evaluate(x[r]).h
            for j in range(2):
                step = min(alpha, beta[r])
                y[r, j] = min(max(y[r, j] + step * max(h[j], -y[r, j] / beta[r]), 0.0), CAP)
            if t % 100 == 0:
                now = np.linalg.norm(np.maximum(h, 0.0))
                if grows and now > 0.9 * before[r]:
                    beta[r], c[r] = 2.0 * beta[r], 0.5 * c[r]
                before[r] = now
        out.append((x.copy(), y.copy(), beta.copy()))
    return out


def solver(weights: str, alpha: float, **more: Any) -> ZOALM:
    estimator = Sphere(smoothing_radius=RADIUS, batch_size=K)
    settings = {"primal_step": C, "penalty": BETA, "dual_cap": CAP, "dual_step": alpha, "weights": weights}
    return ZOALM(**settings, estimator=estimator, **more)


@pytest.mark.parametrize("alpha", [0.7, BETA, 10.0])
@pytest.mark.parametrize("weights", ["frozen", "direct"])
def test_steps_equal_a_hand_written_loop(bench: Bench, weights: str, alpha: float) -> None:
    states, _ = bench.course(solver(weights, alpha), 4)
    for state, (x, y, _) in zip(states[1:], by_hand(bench, 4, weights, alpha, False), strict=True):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(state.y, y, rtol=0, atol=1e-12)
    assert states[-1].y.max() > 0.0


def test_the_augmented_lagrangian_is_the_one_without_slack(bench: Bench) -> None:
    """For single points and batches of them; it is f where y = 0 and the constraints are met."""
    problem, rng = bench.problem, np.random.default_rng(3)
    x, y, beta = rng.uniform(0.0, 2.0, (3, 5, 4)), rng.uniform(0.0, 2.0, (3, 2)), np.array([0.5, 2.0, 9.0])
    phi = AugmentedLagrangian(y, beta)
    expected = [[augmented(problem, x[r, i], y[r], beta[r]) for i in range(5)] for r in range(3)]
    np.testing.assert_allclose(phi(problem.evaluate(x)), expected, rtol=1e-13)
    np.testing.assert_allclose(phi(problem.evaluate(x[:, 0])), np.array(expected)[:, 0], rtol=1e-13)
    inside = problem.evaluate(np.zeros((3, 4)))
    np.testing.assert_array_equal(AugmentedLagrangian(np.zeros((3, 2)), beta)(inside), inside.f)


def test_the_penalty_grows_where_the_violation_does_not_fall(bench: Bench) -> None:
    result, _ = bench.course(solver("frozen", 1e-3, penalty_growth=True), 301)
    expected = by_hand(bench, 301, "frozen", 1e-3, True)
    for t in (100, 200, 300, 301):
        np.testing.assert_allclose(BETA * result[t].growth, expected[t - 1][2], rtol=1e-12)
        np.testing.assert_allclose(result[t].x, expected[t - 1][0], rtol=0, atol=1e-9)
    assert result[-1].growth.max() > 1.0
    still, _ = bench.course(solver("frozen", 1e-3), 301)
    assert (still[-1].growth == 1.0).all()


def test_with_the_full_dual_step_the_update_is_the_classical_one(bench: Bench) -> None:
    states, _ = bench.course(ZOALM(primal_step=C, penalty=BETA, dual_step=BETA, dual_cap=1e3), 5)
    assert len(states) == 6
    for before, after in itertools.pairwise(states):
        h = bench.problem.evaluate(after.x).h
        np.testing.assert_allclose(after.y, np.maximum(before.y + BETA * h, 0.0), atol=1e-14)


@pytest.mark.parametrize("weights", ["frozen", "direct"])
def test_exact_gradients_lead_to_the_solution(bench: Bench, weights: str) -> None:
    settings = {"primal_step": 0.08, "penalty": BETA, "dual_step": 1.0, "dual_cap": 10.0}
    states, _ = bench.course(ZOALM(**settings, weights=weights, estimator=bench.exact()), 600)
    np.testing.assert_allclose(states[-1].x, np.tile(bench.problem.solution, (3, 1)), atol=1e-7)
    np.testing.assert_allclose(states[-1].y, np.tile([bench.problem.multiplier, 0.0], (3, 1)), atol=1e-7)


def test_noise_inside_the_square_biases_the_direct_form_only(bench: Bench) -> None:
    """Under independent noise the mean of [h]_+^2 is not [h]_+^2; frozen weights leave no such bias."""
    problem = type(bench.problem)(noise="independent", noise_scale=0.05)
    replicas, x = 4000, np.tile([0.5, 0.5, 0.5, 0.2], (4000, 1))
    y = np.tile([0.3, 0.0], (replicas, 1))
    errors = {}
    for weights in ("frozen", "direct"):
        streams = bench.streams(replicas)
        oracle = Oracle(problem, streams)
        sut = ZOALM(
            primal_step=1e-6,
            penalty=50.0,
            dual_step=1.0,
            dual_cap=10.0,
            weights=weights,
            estimator=CentralSphere(smoothing_radius=0.3, batch_size=8),
        )
        # The weights come from a value without noise, so that what is left is the estimate's own bias.
        value = Evaluation(*problem.evaluate(x))
        state = sut.init(x, oracle, streams)._replace(y=y, value=value)
        after, info = sut.step(state, oracle, streams)
        gradients = problem.gradient(x[0])
        exact = gradients[0] + info.dual[0] @ gradients[1]
        errors[weights] = np.linalg.norm(((x - after.x) / 1e-6).mean(axis=0) - exact)
    assert errors["frozen"] < 0.2 * errors["direct"]


@pytest.mark.parametrize(
    "estimator, per_step", [(Sphere(batch_size=9), 10), (CentralSphere(batch_size=9), 19)], ids=["forward", "central"]
)
@pytest.mark.parametrize("weights", ["frozen", "direct"])
def test_calls_per_step(bench: Bench, weights: str, estimator: Sphere, per_step: int) -> None:
    assert bench.calls(ZOALM(weights=weights, estimator=estimator.clone()), 5) == 5 * per_step


@pytest.mark.parametrize("options", [{"weights": "direct"}, {"penalty_growth": True}], ids=str)
@pytest.mark.parametrize("problem", [NonconvexQCQP, LoadTracking, BlackBox])
def test_a_run_with_another_option_converges_visibly(
    bench: Bench, problem: type[Problem], options: dict[str, Any]
) -> None:
    gap, violation = bench.shares(ZOALM(**options), problem(), 300)
    assert gap < 0.1 and violation < 0.5


@pytest.mark.parametrize("weights", ["frozen", "direct"])
def test_the_variance_is_what_theory_predicts(bench: Bench, weights: str) -> None:
    estimator = Sphere(smoothing_radius=1e-5, batch_size=20)
    sut = ZOALM(primal_step=C, penalty=BETA, dual_step=1.0, dual_cap=10.0, weights=weights, estimator=estimator)
    _, infos = bench.course(sut, 3, replicas=2000)
    predicted = sut.theory(bench.problem, infos[-1])["variance_predicted"]
    assert infos[-1].dual.max() > 0.1
    assert infos[-1].variance.mean() == pytest.approx(predicted.mean(), rel=0.05)
