"""Paper sogd: its algorithms, the methods' step and a loop written out, side by side; and against what is misprinted.

Algorithm 1, for 2 with estimates                            ``Simultaneous.step``
  S1  draw B, B-bar of sizes b, b-bar                        ``self.reveal(oracle)``
  (7) D^y = grad_y g, D^v = grad_y f + grad_y^2 g v,         ``self.raw(rounds, at, ...)`` of ``SOGD``; of ``ZOSOGD`` by
      D^x = grad_x f + grad_xy^2 g v                         (19)-(22), ``directions="per sample"``
      d = D(z) + (1 - w) (d_before - D(z_before))            ``recursive``, with ``self.raw(rounds, state.last, ...)``
  S2  y+ = y - beta d^y                                      ``at.inner - steps.inner * along.inner``
      v+ = Pi_{||v|| <= p}[v - delta d^v]                    ``self.in_ball(at.v - steps.v * along.v)``
      x+ = Pi_X[x - alpha d^x]                               ``rounds.domain.project(at.x - steps.x * along.x)``
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import steps
from helpers.bilevel_by_hand import (
    ALPHA,
    BATCHES,
    BETA,
    DELTA,
    EXACT,
    PROBLEM,
    RADIUS_V,
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
from zoviz.estimators import CentralSphere
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems import BlackBoxAttack, CurvedBilevel, Problem
from zoviz.solvers import SOGD, ZOSOGD, Solver, ZOSOGDAdam
from zoviz.solvers.bilevel.base import Triple

GIVEN = {"outer_step": ALPHA, "inner_step": BETA, "system_step": DELTA, "system_radius": RADIUS_V}
WEIGHTS = {"outer_weight": 0.7, "inner_weight": 0.6, "system_weight": 0.8}
RHO_R, RHO_S, RHO_V, K_Y, K_X = 0.3, 0.2, 0.5, 4, 5


def directions(streams: Streams, misprint: str) -> list[Array]:
    """Unit vectors for D^y, D^v and D^x of a round."""
    out = []
    for count, size in ((K_Y, D), (K_Y, D), (K_X, N)):
        u = streams.normal("directions", count, size).copy()
        u /= np.linalg.norm(u, axis=-1, keepdims=True)
        if misprint == "errata 31: ball":
            u *= np.random.default_rng(0).random((*u.shape[:2], 1)) ** (1.0 / size)
        out.append(u)
    return out


def slope(phi: Any, z: Array, us: Array, rho: float) -> Array:
    """E2."""
    total = np.zeros_like(z)
    for u in us:
        total += (phi(z + rho * u) - phi(z - rho * u)) * u
    return len(z) / (2.0 * rho * len(us)) * total


def estimated(hand: Hand, point: list[Array], us: list[Array], misprint: str) -> list[Array]:
    """D^x, D^y, D^v from values."""
    x, y, v = point
    of_y, of_v, of_x = us
    ahead, behind = y + RHO_V * v, y - RHO_V * v
    d_y = slope(lambda z: hand.g(x, z), y, of_y, RHO_R)
    d_v = slope(lambda z: hand.f(x, z), y, of_v, RHO_R)
    other = of_y if misprint == "errata 30: directions of their own" else of_v
    d_v += slope(lambda z: hand.g(x, z), ahead, of_v, RHO_R) / (2.0 * RHO_V)
    d_v -= slope(lambda z: hand.g(x, z), behind, other, RHO_R) / (2.0 * RHO_V)
    d_x = slope(lambda z: hand.f(z, y), x, of_x, RHO_S)
    if misprint == "errata 29: second derivative in x":
        d_x += slope(lambda z: hand.g(z, y), x + RHO_V * v, of_x, RHO_S) / (2.0 * RHO_V)
        d_x -= slope(lambda z: hand.g(z, y), x - RHO_V * v, of_x, RHO_S) / (2.0 * RHO_V)
    else:
        d_x += slope(lambda z: hand.g(z, ahead), x, of_x, RHO_S) / (2.0 * RHO_V)
        d_x -= slope(lambda z: hand.g(z, behind), x, of_x, RHO_S) / (2.0 * RHO_V)
    return [d_x, d_y, d_v]


def directions_by_sample(streams: Streams, solver: ZOSOGD) -> list[Array]:
    """Unit vectors for g in D^y, f and g in D^v, f and g in D^x, one for each sample."""
    b, inner_b, out = solver.outer_batch, solver.inner_batch, []
    for count, size in ((inner_b, D), (b, D), (inner_b, D), (b, N), (inner_b, N)):
        u = np.concatenate([streams.normal("directions", 1, size) for _ in range(count)], axis=1)
        out.append(u / np.linalg.norm(u, axis=-1, keepdims=True))
    return out


def estimated_by_sample(hand: Hand, point: list[Array], us: list[Array]) -> list[Array]:
    """(19)-(22); where values do not depend on the sample, or there is one, all directions see the same function."""
    x, y, v = point
    g_y, f_y, g_yy, f_x, g_xy = us
    ahead, behind = y + RHO_V * v, y - RHO_V * v
    d_y = slope(lambda z: hand.g(x, z), y, g_y, RHO_R)  # (19a), (22a)
    d_v = slope(lambda z: hand.f(x, z), y, f_y, RHO_R)  # (20a), (22b)
    d_v += slope(lambda z: hand.g(x, z), ahead, g_yy, RHO_R) / (2.0 * RHO_V)  # (21a)
    d_v -= slope(lambda z: hand.g(x, z), behind, g_yy, RHO_R) / (2.0 * RHO_V)
    d_x = slope(lambda z: hand.f(z, y), x, f_x, RHO_S)  # (20b), (22c)
    d_x += slope(lambda z: hand.g(z, ahead), x, g_xy, RHO_S) / (2.0 * RHO_V)  # (21b)
    d_x -= slope(lambda z: hand.g(z, behind), x, g_xy, RHO_S) / (2.0 * RHO_V)
    return [d_x, d_y, d_v]


def schedule(t: int, theory: tuple[float, float, float, float] | None) -> tuple[list[float], list[float]]:
    """Weights and steps of round t in the order x, y, v."""
    if theory is None:
        return [0.7, 0.6, 0.8], [ALPHA, BETA, DELTA]
    scale, offset, factor, power = theory
    alpha, last = scale / (offset + t) ** (1 / 3), scale / (offset + t - 1) ** (1 / 3)
    return [min(1.0, factor * last**power)] * 3, [alpha, BETA / ALPHA * alpha, DELTA / ALPHA * alpha]


def remember(d: list[Array], averages: list[Array], old: list[Array], weights: list[float], misprint: str) -> None:
    """The recursion of the directions."""
    for i in range(3):
        if misprint == "errata 27: no recursion of d^y and d^v" and i > 0:
            continue
        d[i] = d[i] + (1.0 - weights[i]) * (averages[i] - old[i])


def by_hand(
    solver: Solver, misprint: str = "", theory: Any = None, count: int = ROUNDS, problem: Problem = PROBLEM
) -> list[Array]:
    """x, y and v (R, ...) after so many rounds of SOGD, from values if the solver has an estimator."""
    streams, samples = rounds_of(solver, count, problem)
    starts = problem.initial(streams)
    points = [[starts[r].copy(), np.zeros(D), np.zeros(D)] for r in range(REPLICAS)]
    lasts, averages = [None] * REPLICAS, [[np.zeros(N), np.zeros(D), np.zeros(D)] for _ in range(REPLICAS)]
    moments = [[[np.zeros(s), np.zeros(s)] for s in (N, D, D)] for _ in range(REPLICAS)]
    for t in range(1, count + 1):
        single = getattr(solver, "directions", "") == "per sample"
        us = None
        if solver.estimator is not None:
            us = directions_by_sample(streams, solver) if single else directions(streams, misprint)
        weights, steps = schedule(t, theory)
        for r in range(REPLICAS):

            def raw(at: list[Array], hand: Hand, r: int = r, us: Any = us, single: bool = single) -> list[Array]:
                if us is None:
                    return hand.raw(*at)
                mine = [u[r] for u in us]
                return estimated_by_sample(hand, at, mine) if single else estimated(hand, at, mine, misprint)

            x, y, v = points[r]
            hand = Hand(samples[t], r)
            d = raw(points[r], hand)
            if t > 1:
                last, older = list(lasts[r]), hand
                if misprint == "errata 28: the present v at the old point":
                    last[2] = v
                if misprint == "errata 28: the last round's functions and batches":
                    older = Hand(samples[t - 1], r)
                old = raw(last, older)
                remember(d, averages[r], old, weights, misprint)
            elif misprint == "errata 28: the first direction is not the raw one":
                d = [w * one for w, one in zip(weights, d, strict=True)]
            lasts[r], averages[r] = points[r], d
            along = adam(solver, moments[r], d, t) if isinstance(solver, ZOSOGDAdam) else d
            step_v = along[1] if misprint == "errata 27: v along d^y" else along[2]
            new_y = y - steps[1] * along[1]
            new_v = v - steps[2] * step_v
            points[r] = [
                np.clip(x - steps[0] * along[0], -1.2, 1.2),
                new_y if misprint == "errata 32: y not projected" else np.clip(new_y, -0.5, 0.5),
                min(1.0, RADIUS_V / np.linalg.norm(new_v)) * new_v,
            ]
    return [np.stack([points[r][i] for r in range(REPLICAS)]) for i in range(3)]


def adam(solver: ZOSOGDAdam, moments: list[list[Array]], d: list[Array], t: int) -> list[Array]:
    out = []
    for pair, one in zip(moments, d, strict=True):
        pair[0] = 0.8 * pair[0] + 0.2 * one
        pair[1] = 0.9 * pair[1] + 0.1 * one**2
        out.append(pair[0] / (1 - 0.8**t) / (np.sqrt(pair[1] / (1 - 0.9**t)) + 1e-3))
    return out


def first_order(**settings: Any) -> SOGD:
    return SOGD(**(GIVEN | WEIGHTS | BATCHES | settings))


def zeroth_order(cls: type[ZOSOGD] = ZOSOGD, **settings: Any) -> ZOSOGD:
    parts = {
        "estimator": CentralSphere(smoothing_radius=RHO_R, batch_size=K_Y),
        "outer_estimator": CentralSphere(smoothing_radius=RHO_S, batch_size=K_X),
        "product_radius": RHO_V,
    }
    return cls(**(GIVEN | WEIGHTS | BATCHES | parts | settings))


ADAM = {"mean_decay": 0.8, "square_decay": 0.9, "floor": 1e-3}
METHODS = {"SOGD": first_order(), "ZO-SOGD": zeroth_order(), "Adam": zeroth_order(ZOSOGDAdam, **ADAM)}


FACTORS = dict.fromkeys(("inner_factor", "system_factor", "outer_factor"), 1.3) | {"offset": 20.0}
UNPROJECTED = "errata 32: y not projected"


def assert_published(solver: Solver, scale: float, power: float, problem: Problem = PROBLEM) -> None:
    states = steps.course(solver, problem, ROUNDS, REPLICAS, SEED)[0]
    expected = by_hand(solver, UNPROJECTED, (scale, 20.0, 1.3, power), problem=problem)
    for actual, row in zip(states[-1][:3], expected, strict=True):
        np.testing.assert_allclose(actual, row, **EXACT)
    assert np.abs(states[-1].inner).max() > 0.5, "y left Y, as the paper lets it"


def test_sogd_algorithm_1() -> None:
    solver = SOGD.published(**GIVEN, **BATCHES, **FACTORS)
    assert solver.form() == "As published: paper sogd, Algorithm 1." and solver.schedule == "theory"
    assert_published(solver, 1.0, 2.0)


@pytest.mark.parametrize("noise, batches", [("common", {}), ("deterministic", BATCHES)])
def test_sogd_algorithm_2(noise: str, batches: dict[str, int]) -> None:
    """Mini-batches of 1, as in Table 1, and larger ones where samples do not differ: each sample has a direction."""
    radii = {
        "estimator": CentralSphere(smoothing_radius=RHO_R),
        "outer_estimator": CentralSphere(smoothing_radius=RHO_S),
    }
    solver = ZOSOGD.published(**GIVEN, **batches, **FACTORS, **radii, product_radius=RHO_V)
    solver.product_factor = None  # rho_v as given
    assert solver.form() == "As published: paper sogd, Algorithm 2." and solver.schedule == "theory"
    problem = PROBLEM.clone()
    problem.noise = noise
    assert solver.accepts(problem) is None
    assert_published(solver, (N + D) ** -0.75, 1.0, problem)


def test_samples_that_are_known_by_their_mean_alone_have_no_directions_of_their_own() -> None:
    reason = ZOSOGD.published(**BATCHES).accepts(PROBLEM)
    assert reason is not None and "choose mini-batches of 1, or shared directions" in reason
    assert ZOSOGD.published(outer_batch=4, inner_batch=2).accepts(BlackBoxAttack()) is None


def test_each_direction_sees_a_sample_of_its_own() -> None:
    """The mean over the samples of a mini-batch is that of the mini-batch, if each is seen once."""
    problem, streams = BlackBoxAttack(), Streams(SEED, REPLICAS)
    oracle = Oracle(problem, streams)
    oracle.resample((4, 2))
    rounds, x = BilevelOracle(oracle), problem.initial(streams)
    y = 0.01 * streams.normal("y", problem.inner_domain.n)
    for values, count in ((BilevelOracle.outer, 4), (BilevelOracle.inner, 2)):
        single = np.array([values(rounds.member(i), x, y) for i in range(count)])
        np.testing.assert_allclose(single.mean(axis=0), values(rounds, x, y), rtol=1e-12)
        assert single.std(axis=0).min() > 0.0
    np.testing.assert_array_equal(
        (oracle.account.samples.xi, oracle.account.samples.zeta), [[4] * REPLICAS, [2] * REPLICAS]
    )


@pytest.mark.parametrize("solver", METHODS.values(), ids=METHODS.keys())
def test_steps_equal_a_hand_written_loop(solver: Solver) -> None:
    states = course(solver)
    for t in (1, 2, ROUNDS):
        for actual, expected in zip(states[t][:3], by_hand(solver, count=t), strict=True):
            np.testing.assert_allclose(actual, expected, **EXACT)
    x, y, v = (np.stack([state[i] for state in states]) for i in range(3))
    assert np.abs(x).max() == 1.2 and np.abs(y).max() == 0.5, "the loop met both boxes"
    assert np.linalg.norm(v, axis=-1).max() == pytest.approx(RADIUS_V), "and the ball"


@pytest.mark.parametrize("method, scale, power", [("SOGD", 1.0, 2.0), ("ZO-SOGD", (N + D) ** -0.75, 1.0)])
def test_theory_has_its_schedules(method: str, scale: float, power: float) -> None:
    solver = METHODS[method].clone()
    factor = dict.fromkeys(("inner_factor", "system_factor", "outer_factor"), 1.3)
    solver.param.update(schedule="theory", offset=20.0, **factor)
    expected = by_hand(solver, theory=(scale, 20.0, 1.3, power))
    for actual, row in zip(course(solver)[-1][:3], expected, strict=True):
        np.testing.assert_allclose(actual, row, **EXACT)
    other = by_hand(solver, theory=(scale, 20.0, 1.3, 3.0 - power))
    assert np.abs(course(solver)[-1].x - other[0]).max() > 1e-4


def test_the_product_radius_falls_with_theory_s_steps() -> None:
    """rho_v^2 = c_v alpha_t of (26), from the radius of practice on."""
    problem = CurvedBilevel(n=3, d=4)
    solver = ZOSOGD(schedule="theory", product_radius=0.02)
    for name, value in solver.from_constants(problem, problem.bilevel_constants).items():
        if name in solver.open_scales():
            solver.set(name, value)
    at = Triple(np.zeros((1, 3)), np.zeros((1, 4)), np.zeros((1, 4)))
    radii = [solver.radius_of_products(t, at) for t in (1, 1000, 10**7)]
    expected = [np.sqrt(solver.product_factor * 7**-0.75 / (solver.offset + t) ** (1 / 3)) for t in (1, 1000, 10**7)]
    np.testing.assert_allclose(radii, expected)
    assert radii[0] == pytest.approx(0.02, rel=0.01) and radii[2] < 0.5 * radii[0]
    solver.schedule = "practice"
    assert solver.radius_of_products(10**7, at) == 0.02


FIRST_ORDER_MISPRINTS = (
    "errata 27: v along d^y",
    "errata 27: no recursion of d^y and d^v",
    "errata 28: the present v at the old point",
    "errata 28: the last round's functions and batches",
    "errata 28: the first direction is not the raw one",
    "errata 32: y not projected",
)
ZEROTH_ORDER_MISPRINTS = ("errata 29: second derivative in x", "errata 30: directions of their own", "errata 31: ball")


@pytest.mark.parametrize(
    "method, misprint",
    [("SOGD", one) for one in FIRST_ORDER_MISPRINTS]
    + [("ZO-SOGD", one) for one in (*FIRST_ORDER_MISPRINTS, *ZEROTH_ORDER_MISPRINTS)],
)
def test_the_loop_would_tell_a_misprint(method: str, misprint: str) -> None:
    solver = METHODS[method]
    printed, state = by_hand(solver, misprint), course(solver)[-1]
    apart = max(np.abs(result - wrong).max() for result, wrong in zip(state[:3], printed, strict=True))
    assert apart > 1e-3
    right = by_hand(solver)
    assert max(np.abs(result - expected).max() for result, expected in zip(state[:3], right, strict=True)) < 1e-12


def test_weights_of_one_are_plain_descent_and_half_the_price() -> None:
    ones = dict.fromkeys(WEIGHTS, 1.0)
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(PROBLEM, streams)
    for solver, price in ((first_order(**ones), 4), (zeroth_order(**ones), 8 * K_Y + 6 * K_X)):
        state, before = solver.init(PROBLEM.initial(streams), oracle, streams), oracle.calls.copy()
        for _ in range(3):
            state, _ = solver.step(state, oracle, streams)
        np.testing.assert_array_equal(oracle.calls - before, 3 * price)
        before = oracle.calls.copy()
        solver.outer_weight = 0.9
        solver.step(state, oracle, streams)
        np.testing.assert_array_equal(oracle.calls - before, 2 * price)


def test_zeroth_order_calls_are_of_f_and_g_as_documented() -> None:
    solver, streams = zeroth_order(), Streams(SEED, REPLICAS)
    oracle = Oracle(PROBLEM, streams)
    state = solver.init(PROBLEM.initial(streams), oracle, streams)
    for _ in range(2):
        state, _ = solver.step(state, oracle, streams)
    np.testing.assert_array_equal(oracle.account.kinds["f value"], 3 * 2 * (K_Y + K_X))
    np.testing.assert_array_equal(oracle.account.kinds["g value"], 3 * (6 * K_Y + 4 * K_X))
