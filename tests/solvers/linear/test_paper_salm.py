"""Paper salm: its algorithms, the methods' steps and loops written by hand, side by side; and what misprints would do.

Algorithm 1 (2 with A_zeta, b_zeta for A, b)                 ``SmoothedALM.step``, ``SampledALM.step``
  y+ = y + eta (A x - b); 0 in 2 where ||y+|| >= M_y         ``self.ascend(state, residual)``
  G = grad f(x, xi) + A' y+ + rho A' (A x - b) + mu (x - z)  ``lifted.slope(gradient, dual + penalty * residual)``, and
  x+ = proj_X(x - tau G)                                     the rest in ``self.descend(state, slope, lifted)``,
  z+ = z + beta (x - z)                                      with the centre
Algorithm 3                                                  ``StormALM.step``
  the same with g for grad f(x, xi), then                    ``new + (1 - momentum) * (state.momentum - old)``
  g+ = grad f(x+, xi') + (1 - a) (g - grad f(x, xi'))

The loops stand in ``helpers.linear_by_hand``, ``smoothed`` and ``storm``. Steps are given: those of the theorems, which
``published()`` leaves to the printed rule, are too short to move anything in a few iterations.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.linear_by_hand import (
    BETA,
    ETA,
    MU,
    REPLICAS,
    RHO,
    SEED,
    SMOOTH,
    STEPS,
    TAU,
    A,
    Hand,
    apart,
    assert_close,
    hand_over,
    problem,
    smoothed,
    storm,
    storm_sampled,
)
from zoviz.runs.run import Run
from zoviz.solvers import EliminatedSGD, LinearisedALM, PenaltySGD, SampledALM, SmoothedALM, StormALM, StormSampledALM


@pytest.mark.parametrize("batch", [1, 4])
def test_algorithm_1_written_out(batch: int) -> None:
    qp = problem()
    solver = SmoothedALM.published(batch_size=batch, **SMOOTH)
    assert (solver.form() == "As published: paper salm, Algorithm 1.") is (batch == 1)
    state = hand_over(solver, qp)
    hands = [Hand(qp, r, [batch] * STEPS) for r in range(REPLICAS)]
    x, y, z, _ = zip(*(smoothed(hand) for hand in hands), strict=True)
    assert_close(state.x, x), assert_close(state.dual, y), assert_close(state.centre, z)
    np.testing.assert_allclose(state.y[:, :2] - state.y[:, 2:], state.dual)


@pytest.mark.parametrize("wrong", ["errata 7: primal first", "errata 7: centre", "errata 8"])
def test_algorithm_1_is_not_the_misprint(wrong: str) -> None:
    qp = problem()
    state = hand_over(SmoothedALM(**SMOOTH), qp)
    x, y, z, _ = zip(*(smoothed(Hand(qp, r, [1] * STEPS), wrong) for r in range(REPLICAS)), strict=True)
    assert max(apart(state.x, x), apart(state.dual, y), apart(state.centre, z)) > 1e-2


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("cap", [1e9, 0.5])
def test_algorithm_2_written_out(cap: float, batch: int) -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    solver = SampledALM.published(dual_reset=cap, batch_size=batch, **SMOOTH)
    assert (solver.form() == "As published: paper salm, Algorithm 2.") is (batch == 1)
    state = hand_over(solver, qp)
    hands = [Hand(qp, r, [batch] * STEPS) for r in range(REPLICAS)]
    x, y, z, resets = zip(*(smoothed(hand, cap=cap) for hand in hands), strict=True)
    assert_close(state.x, x), assert_close(state.dual, y), assert_close(state.centre, z)
    assert state.resets.tolist() == list(resets) and (min(resets) > 0) == (cap < 1.0)
    assert qp.measures(solver.iterate(state), None)["dual_resets"] is state.resets


@pytest.mark.parametrize("wrong", ["errata 8", "errata 9"])
def test_algorithm_2_is_not_the_misprint(wrong: str) -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    state = hand_over(SampledALM(dual_reset=1e9, **SMOOTH), qp)
    x, _, _, _ = zip(*(smoothed(Hand(qp, r, [1] * STEPS), wrong) for r in range(REPLICAS)), strict=True)
    assert apart(state.x, x) > 1e-2


@pytest.mark.parametrize("batch", [1, 3])
def test_algorithm_3_written_out(batch: int) -> None:
    qp = problem()
    solver = StormALM.published(momentum=A, horizon=100, batch_size=batch, **SMOOTH)
    assert (solver.form() == "As published: paper salm, Algorithm 3.") is (batch == 1)
    state = hand_over(solver, qp)
    batches = [5 * batch, *[batch] * STEPS]  # N = ceil(100^(1/3)) = 5
    x, y, z, g = zip(*(storm(Hand(qp, r, batches)) for r in range(REPLICAS)), strict=True)
    (
        assert_close(state.x, x),
        assert_close(state.dual, y),
        assert_close(state.centre, z),
        assert_close(state.momentum, g),
    )


@pytest.mark.parametrize("cap", [1e9, 0.5])
def test_the_recursion_for_sampled_rows_written_out(cap: float) -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    state = hand_over(StormSampledALM(momentum=A, horizon=100, batch_size=2, dual_reset=cap, **SMOOTH), qp)
    hands = [Hand(qp, r, [10, *[2] * (STEPS - 1)]) for r in range(REPLICAS)]  # N = ceil(100^(1/3)) = 5
    x, y, z, resets = zip(*(storm_sampled(hand, cap) for hand in hands), strict=True)
    assert_close(state.x, x), assert_close(state.dual, y), assert_close(state.centre, z)
    assert state.resets.tolist() == list(resets) and (min(resets) > 0) == (cap < 1.0)


def test_without_memory_the_recursion_for_sampled_rows_is_algorithm_2() -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    storm_state = hand_over(StormSampledALM(momentum=1.0, horizon=1, dual_reset=1e9, **SMOOTH), qp)
    np.testing.assert_allclose(storm_state.x, hand_over(SampledALM(dual_reset=1e9, **SMOOTH), qp).x, atol=1e-12)


@pytest.mark.parametrize("wrong", ["errata 10", "errata 11"])
def test_algorithm_3_is_not_the_misprint(wrong: str) -> None:
    qp = problem()
    state = hand_over(StormALM(momentum=A, horizon=100, **SMOOTH), qp)
    x, *_ = zip(*(storm(Hand(qp, r, [5, *[1] * STEPS]), wrong) for r in range(REPLICAS)), strict=True)
    assert apart(state.x, x) > 1e-2


def test_storm_without_memory_is_algorithm_1() -> None:
    """a = 1, not the paper's 0 (errata 12): from the second step on, each step sees its own sample only."""
    qp = problem()
    storm_state = hand_over(StormALM(momentum=1.0, horizon=1, **SMOOTH), qp)
    state = hand_over(SmoothedALM(**SMOOTH), qp)
    np.testing.assert_allclose(storm_state.x, state.x, atol=1e-12)


def test_linearised_alm_written_out() -> None:
    qp = problem(sampled_rows=True)
    state = hand_over(LinearisedALM(primal_step=TAU, dual_step=ETA, penalty=RHO), qp)
    xs, ys = [], []
    for r in range(REPLICAS):
        hand = Hand(qp, r, [1] * STEPS)
        x, y = hand.x0, np.zeros(2)
        for t in range(STEPS):
            (a0, b0), (a1, _), (a2, b2) = (hand.pair(t, copy) for copy in range(3))
            y = y + ETA * (a0 @ x - b0)
            x = hand.clip(x - TAU * (hand.gradient(x, t) + a1.T @ (y + RHO * (a2 @ x - b2))))
        xs.append(x), ys.append(y)
    assert_close(state.x, xs), assert_close(state.dual, ys)


@pytest.mark.parametrize("growth", [0.0, 0.4])
def test_penalty_sgd_written_out(growth: float) -> None:
    qp = problem()
    state = hand_over(PenaltySGD(primal_step=TAU, penalty=RHO, growth=growth), qp)
    xs, ys = [], []
    for r in range(REPLICAS):
        hand = Hand(qp, r, [1] * STEPS)
        x = y = hand.x0
        for t in range(STEPS):
            y = RHO * (t + 1.0) ** growth * (hand.a @ x - hand.b)
            x = hand.clip(x - TAU * (t + 1.0) ** -growth * (hand.gradient(x, t) + hand.a.T @ y))
        xs.append(x), ys.append(y)
    assert_close(state.x, xs), assert_close(state.dual, ys)


@pytest.mark.parametrize("free", [3, 7])
def test_eliminated_sgd_written_out_in_the_variables_that_are_left(free: int) -> None:
    qp = problem(free_variables=free, null_curvature=0.3)
    state = hand_over(EliminatedSGD(primal_step=TAU), qp)
    xs = []
    for r in range(REPLICAS):
        hand = Hand(qp, r, [1] * STEPS)
        # x = base + basis (x_C, w): w in an orthonormal basis of the null space of A_F, from the SVD.
        fixed, loose = np.arange(7 - free), np.arange(7 - free, 7)
        of_f = hand.a[:, loose]
        null = np.linalg.svd(of_f)[2][2:].T
        basis = np.zeros((7, 7 - 2))
        basis[fixed, : 7 - free] = np.eye(7 - free)
        basis[np.ix_(loose, range(7 - free))] = -np.linalg.lstsq(of_f, hand.a[:, fixed], rcond=None)[0]
        basis[np.ix_(loose, range(7 - free, 5))] = null
        base = np.zeros(7)
        base[loose] = np.linalg.lstsq(of_f, hand.b, rcond=None)[0]
        v = np.concatenate([hand.x0[fixed], null.T @ hand.x0[loose]])
        for t in range(STEPS):
            v = v - TAU * basis.T @ hand.gradient(base + basis @ v, t)
            v[: 7 - free] = np.clip(v[: 7 - free], hand.low[fixed], hand.high[fixed])
        xs.append(base + basis @ v)
    assert_close(state.x, xs)
    assert np.abs(qp.residual(state.x)).max() < 1e-13


def test_inequalities_are_lifted_as_written_out() -> None:
    qp = problem(constraints="inequalities")
    state = hand_over(SmoothedALM(**SMOOTH), qp)
    for r in range(REPLICAS):
        hand = Hand(qp, r, [1] * STEPS)
        x, z = hand.x0, hand.x0
        t_var = s = np.minimum(hand.a @ x - hand.b, 0.0)
        y = np.zeros(2)
        for t in range(STEPS):
            residual = hand.a @ x - t_var - hand.b
            y = y + ETA * residual
            of_x = hand.gradient(x, t) + hand.a.T @ (y + RHO * residual) + MU * (x - z)
            of_t = -(y + RHO * residual) + MU * (t_var - s)
            old = x, t_var
            x, t_var = hand.clip(x - TAU * of_x), np.minimum(t_var - TAU * of_t, 0.0)
            z, s = z + BETA * (old[0] - z), s + BETA * (old[1] - s)
        for actual, expected in ((state.x, x), (state.slack, t_var), (state.dual, y), (state.centre, z)):
            np.testing.assert_allclose(actual[r], expected, rtol=0.0, atol=1e-12)
        np.testing.assert_array_equal(state.y[r], np.maximum(state.dual[r], 0.0))


@pytest.mark.parametrize("sampled", [False, True])
def test_the_last_step_written_out(sampled: bool) -> None:
    qp = problem(sampled_rows=sampled)
    solver = (SampledALM if sampled else SmoothedALM)(
        polish_batch=50, polish_step=0.05, **SMOOTH, **{"dual_reset": 1e9} if sampled else {}
    )
    run = Run(problem=qp, solver=solver, replicas=REPLICAS, iterations=STEPS, seed=SEED)
    result, candidate = run.run().polished, run.state.candidate
    for r in range(REPLICAS):
        hand = Hand(qp, r, [1] * STEPS + [50])
        (a1, _), (a2, b2) = hand.pair(STEPS, 1), hand.pair(STEPS, 2)
        x, y, z = candidate.point[r], candidate.dual[r], candidate.anchor[r]
        slope = hand.gradient(x, STEPS) + a1.T @ y + RHO * a1.T @ (a2 @ x - b2) + MU * (x - z)
        np.testing.assert_allclose(result.x[r], hand.clip(x - 0.05 * slope), rtol=0.0, atol=1e-12)
        np.testing.assert_array_equal(result.multipliers[r], np.maximum(np.concatenate([y, -y]), 0.0))
        slope = qp.stochastic_gradient(result.x[r]) + hand.a.T @ y
        inside = hand.clip(result.x[r] - 1e-9 * slope)
        np.testing.assert_allclose(result.normal_residual[r], np.linalg.norm(result.x[r] - inside) / 1e-9, rtol=1e-5)
        np.testing.assert_allclose(result.violation[r], np.linalg.norm(hand.a @ result.x[r] - hand.b))
    np.testing.assert_array_equal(run.trace["polished_normal_residual"][-1], result.normal_residual)
    np.testing.assert_array_equal(run.trace["polished_samples"][-1], run.trace["samples"][-1] + 50)
    assert len(run.trace) == STEPS + 1 and np.isnan(run.trace["polished_objective"][:-1]).all()


def test_the_last_step_has_a_step_of_its_own() -> None:
    """Errata 47: 1 / L_K whatever the horizon, where the run's is of order T^(-1/2)."""
    qp, steps = problem(), {}
    for horizon in (400, 40_000):
        rule = SmoothedALM(horizon=horizon).from_constants(qp, qp.constants)
        largest = qp.constants.curvature + rule["penalty"] * qp.operator_norm**2 + rule["proximal_weight"]
        assert rule["polish_step"] == pytest.approx(1.0 / largest)
        steps[horizon] = rule["primal_step"]
    assert steps[400] == pytest.approx(10.0 * steps[40_000])


def test_the_centre_may_follow_the_new_iterate() -> None:
    """The update of Zhang and Luo (2022), which the paper's text has too: the other one of errata 7."""
    qp = problem()
    state = hand_over(SmoothedALM(**SMOOTH, centre_update="new iterate"), qp)
    x, y, z, _ = zip(*(smoothed(Hand(qp, r, [1] * STEPS), "errata 7: centre") for r in range(REPLICAS)), strict=True)
    assert_close(state.x, x), assert_close(state.dual, y), assert_close(state.centre, z)


@pytest.mark.parametrize("cls", [SmoothedALM, StormALM])
def test_the_printed_constants(cls: type[SmoothedALM] | type[StormALM]) -> None:
    """(A.1) and (5.5), by hand: ||A||^2 for ||A|| where units ask for it, and T^(-1/3) times the bound of (5.5)."""
    qp, T = problem(), 1000
    rule = cls(horizon=T, step_rule="theory", error_bound=2.0).from_constants(qp, qp.constants)
    curvature, square = qp.constants.curvature, qp.operator_norm**2
    mu = max(2.0, 4.0 * curvature)
    rho = mu / square
    largest = curvature + rho * square + mu
    if cls is SmoothedALM:
        tau = 1.0 / (6.0 * largest * np.sqrt(T))
    else:
        tau = T ** (-1 / 3) * min(1.0 / (4.0 * largest + 8.0 * mu), 1.0 / np.sqrt(48.0 * 2.0 * curvature**2))
        assert rule["momentum"] == pytest.approx(48.0 * 2.0 * curvature**2 * tau**2)
    eta = min(
        (mu - curvature) ** 2 * tau / (4 * square),
        (2 * mu + rho * square) / (4 * square**2),
        tau / (200 * square),
        tau * (2 * mu + rho * square) / (20 * square),
    )
    beta = min(tau / 100, 1 / (50 * largest), eta / (36 * mu * 4.0))
    assert (rule["primal_step"], rule["dual_step"]) == (pytest.approx(tau), pytest.approx(eta))
    assert (rule["proximal_step"], rule["proximal_weight"]) == (pytest.approx(beta), mu)


def test_other_methods_have_no_last_step() -> None:
    run = Run(problem=problem(), solver=PenaltySGD(), replicas=2, iterations=3)
    assert run.run().polished is None and run.result.calls.tolist() == [3, 3]


def test_many_dual_resets_are_said() -> None:
    for cap, expected in ((1e9, False), (0.5, True)):
        solver = SampledALM(dual_reset=cap, **SMOOTH)
        result = Run(problem=problem(), solver=solver, replicas=3, iterations=100).run()
        assert ("reset in more than 1% of the iterations by 3 of 3 replicas" in result.message) == expected
