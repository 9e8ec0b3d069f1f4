"""The competitors of the smoothed methods, against themselves written out in dense algebra on one replica."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.linear_by_hand import ETA, REPLICAS, RHO, STEPS, TAU, A, Hand, assert_close, hand_over, problem
from zoviz.core.types import Array
from zoviz.problems import StochasticQP
from zoviz.solvers import LinearisedStormALM, StochasticIALM, StormPenalty, TruncatedStormPenalty

STORM = {"primal_step": TAU, "penalty": RHO, "momentum": A, "horizon": 100}
FIRST = 5  # ceil(100^(1/3))


def hands(qp: StochasticQP, batch: int = 1, anew: tuple[int, ...] = ()) -> list[Hand]:
    """Replicas whose samples are mini-batches, N times as large at the start and at the iterations ``anew``."""
    batches = [batch * (FIRST if t == 0 or t in anew else 1) for t in range(STEPS + 1)]
    return [Hand(qp, r, batches) for r in range(REPLICAS)]


def slope(hand: Hand, x: Array, t: int, y: Array, rho: float) -> Array:
    """Return G(x) by sample t: the rows by its second and third copy."""
    (a1, _), (a2, b2) = hand.pair(t, 1), hand.pair(t, 2)
    return hand.gradient(x, t) + a1.T @ (y + rho * (a2 @ x - b2))


@pytest.mark.parametrize("batch", [1, 4])
def test_the_alm_written_out(batch: int) -> None:
    qp = problem()
    state = hand_over(LinearisedStormALM(dual_step=ETA, batch_size=batch, **STORM), qp)
    xs, ys = [], []
    for hand in hands(qp, batch):
        x, y = hand.x0, np.zeros(2)
        g = hand.gradient(x, 0)
        for t in range(STEPS):
            old, x = x, hand.clip(x - TAU * (g + hand.a.T @ (y + RHO * (hand.a @ x - hand.b))))
            y = y + ETA * (hand.a @ x - hand.b)
            g = hand.gradient(x, t + 1) + (1.0 - A) * (g - hand.gradient(old, t + 1))
        xs.append(x), ys.append(y)
    assert_close(state.x, xs), assert_close(state.shift, ys)
    np.testing.assert_allclose(state.dual, state.shift + RHO * qp.residual(state.x), atol=1e-12)


def test_the_penalty_written_out_for_sampled_rows() -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    state = hand_over(StormPenalty(batch_size=2, **STORM), qp)
    xs, nothing = [], np.zeros(2)
    for hand in hands(qp, 2):
        x = hand.x0
        g = slope(hand, x, 0, nothing, RHO)
        for t in range(STEPS):
            rho, after = (RHO * (1.0 + s / 400.0) ** 0.2 for s in (t, t + 1))
            old, x = x, hand.clip(x - TAU * (1.0 + t / 400.0) ** -0.6 * g)
            a = A * (1.0 + (t + 1.0) / 400.0) ** -0.8
            g = slope(hand, x, t + 1, nothing, after) + (1.0 - a) * (g - slope(hand, old, t + 1, nothing, rho))
        xs.append(x)
    assert_close(state.x, xs)


@pytest.mark.parametrize("cap", [1e9, 0.8])
def test_the_truncated_penalty_written_out(cap: float) -> None:
    qp = problem()
    state = hand_over(TruncatedStormPenalty(gradient_cap=cap, **STORM), qp)
    xs, cut = [], 0
    for hand in hands(qp):
        x, g = hand.x0, hand.gradient(hand.x0, 0)
        for t in range(STEPS):
            time = 1.0 + t / 400.0
            pull = RHO * time ** (1.0 / 3.0) * hand.a.T @ (hand.a @ x - hand.b)
            old, x = x, hand.clip(x - TAU * time ** (-1.0 / 3.0) * (g + pull))
            a = A * (1.0 + (t + 1.0) / 400.0) ** (-2.0 / 3.0)
            g = hand.gradient(x, t + 1) + (1.0 - a) * (g - hand.gradient(old, t + 1))
            if np.linalg.norm(g) > cap:
                g, cut = g * cap / np.linalg.norm(g), cut + 1
        xs.append(x)
    assert_close(state.x, xs)
    assert (cut > 0) == (cap < 1.0)


@pytest.mark.parametrize("dual_step", [1e-3, 5.0])
def test_stages_written_out_for_sampled_rows(dual_step: float) -> None:
    """Stages of 3 and 6 iterations; each ends with a damped dual step by the first copy of the next one's sample."""
    qp = problem(sampled_rows=True, row_noise=0.6)
    solver = StochasticIALM(stage_length=3, penalty_growth=2.0, dual_step=dual_step, **STORM)
    state = hand_over(solver, qp)
    xs, ys = [], []
    for hand in hands(qp, anew=(3, 9)):
        x, y, rho, g, first = hand.x0, np.zeros(2), RHO, slope(hand, hand.x0, 0, np.zeros(2), RHO), 0.0
        for t in range(STEPS):
            stage, since = (0, t) if t < 3 else (1, t - 3)
            old, x = x, hand.clip(x - TAU / 2.0**stage * g)
            if t + 1 in (3, 9):
                a0, b0 = hand.pair(t + 1, 0)
                c = a0 @ x - b0
                first = first or float(np.linalg.norm(c))
                reach = math.log(2.0) ** 2 * first / ((stage + 1) * math.log(stage + 2) ** 2)
                y = y + dual_step * min(1.0, reach / float(np.linalg.norm(c))) * c
                rho = 2.0 * rho
                g = slope(hand, x, t + 1, y, rho)
            else:
                a = A * (1.0 + (since + 1.0) / 400.0) ** (-2.0 / 3.0)
                g = slope(hand, x, t + 1, y, rho) + (1.0 - a) * (g - slope(hand, old, t + 1, y, rho))
        xs.append(x), ys.append(y)
    assert_close(state.x, xs), assert_close(state.shift, ys)
    assert solver.stage(state) == 2 and state.weight == 4.0 * RHO
