"""The bilevel comparators against loops written out replica by replica."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bilevel_by_hand import (
    ALPHA,
    BATCHES,
    BETA,
    EXACT,
    PROBLEM,
    REPLICAS,
    ROUNDS,
    SEED,
    D,
    Hand,
    N,
    course,
    rounds_of,
)
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import QuadraticBilevel
from zoviz.solvers import OAGD, OGD, SOBBO, SOBOW, Solver
from zoviz.solvers.published_form import FAR


def window_by_hand(solver: Solver) -> tuple[Array, Array, Array]:
    """x, y and v of OGD, OAGD, SOBOW and SOBBO."""
    streams, samples = rounds_of(solver)
    starts = PROBLEM.initial(streams)
    ends = []
    for r in range(REPLICAS):
        x, y, v = starts[r].copy(), np.zeros(D), np.zeros(D)
        past, u = [], np.zeros(N)
        for t in range(1, ROUNDS + 1):
            hand = Hand(samples[t], r)
            if isinstance(solver, OGD):
                d_x, d_y, _ = hand.raw(x, y, np.zeros(D))
                x, y = np.clip(x - ALPHA * d_x, -1.2, 1.2), np.clip(y - BETA * d_y, -0.5, 0.5)
                continue
            for _ in range(getattr(solver, "inner_steps", 1)):
                y = np.clip(y - BETA * hand.raw(x, y, v)[1], -0.5, 0.5)
            if isinstance(solver, OAGD):
                hands = [Hand(samples[t - i], r) for i in range(min(t, solver.window))]
                solved = [system(solver, one, y, np.zeros(D)) for one in hands]
                v, past = solved[0], [one.raw(x, y, w)[0] for one, w in zip(hands, solved, strict=True)]
            else:
                v = system(solver, hand, y, v)
                past = [hand.raw(x, y, v)[0], *past]
            mean = sum(solver.decay**i * one for i, one in enumerate(past[: solver.window]))
            mean = mean / sum(solver.decay**i for i in range(solver.window))
            if isinstance(solver, SOBBO) and solver.geometry == "adaptive":
                u = 0.9 * u + 0.1 * mean**2
                mean = mean / (np.sqrt(u / (1.0 - 0.9**t)) + 1e-3)
            x = np.clip(x - ALPHA * mean, -1.2, 1.2)
        ends.append((x, y, v))
    return tuple(np.stack(part) for part in zip(*ends, strict=True))


def system(solver: Solver, hand: Hand, y: Array, v: Array) -> Array:
    """Neumann's series, or conjugate gradients: the minimiser over a Krylov space, found directly."""
    b, steps = y - hand.a, solver.system_iterations
    if isinstance(solver, OAGD) and solver.system == "neumann":
        return -0.2 * sum(np.linalg.matrix_power(np.eye(D) - 0.2 * hand.hessian, j) @ b for j in range(steps + 1))
    residual = -b - hand.hessian @ v
    basis = np.stack([np.linalg.matrix_power(hand.hessian, j) @ residual for j in range(steps)], axis=1)
    return v + basis @ np.linalg.solve(basis.T @ hand.hessian @ basis, basis.T @ residual)


BOTH = {"outer_step": ALPHA, "inner_step": BETA} | BATCHES
WINDOWS = {
    "OGD": OGD(**BOTH),
    "OAGD": OAGD(**BOTH, neumann_step=0.2, window=3, decay=0.8, inner_steps=2, system_iterations=4),
    "OAGD-cg": OAGD(**BOTH, neumann_step=0.2, window=4, decay=0.8, system="cg", system_iterations=2),
    "SOBOW": SOBOW(**BOTH, window=3, decay=0.7, system_iterations=2),
    "SOBBO": SOBBO(**BOTH, window=3, decay=0.7, system_iterations=1, square_decay=0.9, floor=1e-3),
    "SOBBO-euclidean": SOBBO(**BOTH, window=3, decay=0.7, system_iterations=2, geometry="euclidean"),
}


@pytest.mark.parametrize("solver", WINDOWS.values(), ids=WINDOWS.keys())
def test_comparators_equal_a_hand_written_loop(solver: Solver) -> None:
    state = course(solver)[-1]
    x, y, v = window_by_hand(solver)
    np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.inner, y, rtol=0, atol=1e-12)
    if hasattr(state, "v"):
        np.testing.assert_allclose(state.v, v, rtol=0, atol=1e-12)
    assert np.abs(y).max() == 0.5


def test_euclidean_sobbo_is_sobow_and_its_window_follows_the_recursion_that_the_paper_prints() -> None:
    settings = BOTH | {"window": 3, "decay": 0.7}
    states, again = course(SOBOW(**settings)), course(SOBBO(**settings, geometry="euclidean"))
    np.testing.assert_array_equal(states[-1].x, again[-1].x)
    nu, total = 0.7, 1.0 + 0.7 + 0.49
    means = [sum(nu**i * state.past[:, i] for i in range(3)) / total for state in states]
    for t in range(4, ROUNDS + 1):  # (35)-(36)
        newest, leaving = states[t].past[:, 0], states[t - 3].past[:, 0]
        np.testing.assert_allclose(means[t], newest / total + nu * means[t - 1] - nu**3 * leaving / total, **EXACT)


def test_many_products_solve_the_system() -> None:
    exact = course(OAGD(**BOTH, neumann_step=0.2, system_iterations=400, window=1))
    again = course(OAGD(**BOTH, neumann_step=0.2, system_iterations=D, window=1, system="cg"))
    _, samples = rounds_of(OAGD(**BOTH))
    for r in range(REPLICAS):
        hand = Hand(samples[ROUNDS], r)
        for states in (exact, again):
            expected = -np.linalg.solve(hand.hessian, states[-1].inner[r] - hand.a)
            np.testing.assert_allclose(states[-1].v[r], expected, atol=1e-8)


def test_a_window_may_be_changed_while_a_run_goes_on() -> None:
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(PROBLEM, streams)
    for solver in (SOBOW(**BOTH), OAGD(**BOTH, neumann_step=0.2)):
        state = solver.init(PROBLEM.initial(streams), oracle, streams)
        for window in (3, 5, 2):
            solver.window = window
            state, _ = solver.step(state, oracle, streams)
            assert (len(state.samples) if isinstance(solver, OAGD) else state.past.shape[1]) <= window


def test_only_a_window_over_all_rounds_is_a_momentum() -> None:
    """Lemma 3.1 of paper sogd, with W = 1 / eta: not with the weights' sum, nor with a window that ends."""
    weight, rounds, problem, streams = 0.1, 40, QuadraticBilevel(drift="rapid"), Streams(0, 3)
    oracle = Oracle(problem, streams)
    solver = SOBOW(outer_step=0.1, inner_step=0.2, window=rounds, decay=1.0 - weight, system_radius=FAR)
    state = solver.init(problem.initial(streams), oracle, streams)
    for _ in range(rounds):
        oracle.resample()
        state, _ = solver.step(state, oracle, streams)
    slopes = solver.history(state).transpose(1, 0, 2)[::-1]
    momentum = weight * slopes[0]
    for slope in slopes[1:]:
        momentum = weight * slope + (1.0 - weight) * momentum
    weights = (1.0 - weight) ** np.arange(rounds)[::-1]
    whole, short = (np.einsum("w,wrn->rn", weights[-w:], slopes[-w:]) for w in (rounds, 5))
    np.testing.assert_allclose(weight * whole, momentum, rtol=1e-10)
    for other in (whole / weights.sum(), weight * short):
        assert (np.linalg.norm(other - momentum, axis=-1) > 0.01 * np.linalg.norm(momentum, axis=-1)).all()
