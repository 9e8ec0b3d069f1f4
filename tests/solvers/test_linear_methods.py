"""The methods for linear constraints written out by hand, with the same draws; and what the paper's misprints would do.

Everything here is dense linear algebra on one replica at a time, from the instance's data and the streams' numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.estimators import CentralSphere, Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import StochasticQP
from zoviz.runs.run import Run
from zoviz.solvers import (
    EliminatedSGD,
    LinearisedALM,
    PenaltySGD,
    SampledALM,
    SmoothedALM,
    Solver,
    StormALM,
)
from zoviz.streams import Streams
from zoviz.types import Array

REPLICAS, SEED, STEPS = 3, 5, 9
TAU, ETA, RHO, MU, BETA, A = 0.03, 0.2, 1.5, 7.0, 0.1, 0.3
SMOOTH = {"primal_step": TAU, "dual_step": ETA, "penalty": RHO, "proximal_weight": MU, "proximal_step": BETA}


def problem(**settings: Any) -> StochasticQP:
    settings = {"n": 7, "rows": 2, "null_curvature": -0.2, "curvature_noise": 0.3, "seed": 3} | settings
    return StochasticQP(**settings)


class Hand:
    """One replica's dense data and draws."""

    def __init__(self, qp: StochasticQP, replica: int, batches: list[int]) -> None:
        data, n, p = qp.data, qp.n, qp.rows
        mirror = np.eye(n) - 2.0 * np.outer(data.mirror, data.mirror)
        self.q, self.c, self.a, self.b = mirror @ np.diag(data.spectrum) @ mirror, data.vector, data.matrix, data.offset
        self.low, self.high, self.qp, self.n = qp.domain.lower, qp.domain.upper, qp, n
        streams = Streams(SEED, REPLICAS)
        self.x0 = qp.initial(streams)[replica]
        # One draw a sample, in the order of the iterations; the oracle's own first one is not used.
        numbers = [streams.normal("xi", n + 1)[replica] for _ in range(len(batches) + 1)][1:]
        factors = [batch**-0.5 for batch in batches]
        self.xi = [f * qp.gradient_noise / np.sqrt(n) * z[:n] for f, z in zip(factors, numbers, strict=True)]
        self.zeta = [f * qp.curvature_noise * z[n] for f, z in zip(factors, numbers, strict=True)]
        self.rows: list[Array] = []
        if qp.sampled_rows:
            self.rows = [streams.normal("zeta", 3, p, n + 1)[replica] * b**-0.5 for b in [1, *batches]][1:]
        self.lot = streams
        self.replica = replica

    def gradient(self, x: Array, t: int) -> Array:
        return self.q @ x + self.c + self.xi[t] + self.zeta[t] * x

    def value(self, x: Array, t: int) -> float:
        return float(0.5 * x @ self.q @ x + self.c @ x + self.xi[t] @ x + 0.5 * self.zeta[t] * x @ x)

    def pair(self, t: int, copy: int) -> tuple[Array, Array]:
        """A_zeta and b_zeta."""
        if not self.rows:
            return self.a, self.b
        noise = self.qp.row_noise * self.rows[t][copy]
        return self.a + noise[:, :-1] / np.sqrt(self.n), self.b + noise[:, -1]

    def clip(self, x: Array) -> Array:
        return np.minimum(np.maximum(x, self.low), self.high)


def smoothed(hand: Hand, wrong: str = "", cap: float = np.inf) -> tuple[Array, Array, Array, int]:
    """Algorithms 1 and 2; ``wrong`` names an erratum whose misprint is followed."""
    x, y, z, resets = hand.x0, np.zeros(len(hand.b)), hand.x0, 0
    rho, mu = (0.0, 0.0) if wrong == "1A" else (RHO, MU)
    for t in range(STEPS):
        (a0, b0), (a1, b1), (a2, b2) = (hand.pair(t, 0 if wrong == "2A" else copy) for copy in range(3))
        if wrong == "14A text":  # primal, then dual
            slope = hand.gradient(x, t) + a1.T @ y + rho * a1.T @ (a2 @ x - b2) + mu * (x - z)
            old, x = x, hand.clip(x - TAU * slope)
            y = y + ETA * (a0 @ x - b0)
            z = z + BETA * (old - z)
            continue
        y = y + ETA * (a0 @ x - b0)
        if np.linalg.norm(y) >= cap:
            y, resets = np.zeros_like(y), resets + 1
        slope = hand.gradient(x, t) + a1.T @ y + rho * a1.T @ (a2 @ x - b2) + mu * (x - z)
        old, x = x, hand.clip(x - TAU * slope)
        z = z + BETA * ((x if wrong == "14A centre" else old) - z)
    return x, y, z, resets


def storm(hand: Hand, wrong: str = "") -> tuple[Array, Array, Array, Array]:
    """Algorithm 3; the first sample is the big one at the start."""
    x, y, z, g = hand.x0, np.zeros(len(hand.b)), hand.x0, hand.gradient(hand.x0, 0)
    for t in range(STEPS):
        old_y, y = y, y + ETA * (hand.a @ x - hand.b)
        dual = old_y if wrong == "3A" else y
        rho = 0.0 if wrong == "3A" else RHO
        slope = g + hand.a.T @ dual + rho * hand.a.T @ (hand.a @ x - hand.b) + MU * (x - z)
        old, x = x, hand.clip(x - TAU * slope)
        z = z + BETA * (old - z)
        g = hand.gradient(x, t + 1) + (1.0 - A) * (g - hand.gradient(old, t if wrong == "4A" else t + 1))
    return x, y, z, g


def hand_over(solver: Solver, qp: StochasticQP, steps: int = STEPS) -> Any:
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(qp, streams)
    state = solver.init(qp.initial(streams), oracle, streams)
    for _ in range(steps):
        state, _ = solver.step(state, oracle, streams)
    return state


def close(found: Array, expected: Any) -> None:
    np.testing.assert_allclose(found, np.stack(expected), rtol=0.0, atol=1e-12)


def apart(found: Array, other: Any) -> float:
    return float(np.abs(found - np.stack(other)).max(axis=1).min())


@pytest.mark.parametrize("batch", [1, 4])
def test_algorithm_1_written_out(batch: int) -> None:
    qp = problem()
    state = hand_over(SmoothedALM(batch_size=batch, **SMOOTH), qp)
    hands = [Hand(qp, r, [batch] * STEPS) for r in range(REPLICAS)]
    x, y, z, _ = zip(*(smoothed(hand) for hand in hands), strict=True)
    close(state.x, x), close(state.dual, y), close(state.centre, z)
    np.testing.assert_allclose(state.y[:, :2] - state.y[:, 2:], state.dual)


@pytest.mark.parametrize("wrong", ["14A text", "14A centre", "1A"])
def test_algorithm_1_is_not_the_misprint(wrong: str) -> None:
    qp = problem()
    state = hand_over(SmoothedALM(**SMOOTH), qp)
    x, y, z, _ = zip(*(smoothed(Hand(qp, r, [1] * STEPS), wrong) for r in range(REPLICAS)), strict=True)
    assert max(apart(state.x, x), apart(state.dual, y), apart(state.centre, z)) > 1e-2


@pytest.mark.parametrize("cap", [1e9, 0.5])
def test_algorithm_2_written_out(cap: float) -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    state = hand_over(SampledALM(dual_reset=cap, batch_size=2, **SMOOTH), qp)
    hands = [Hand(qp, r, [2] * STEPS) for r in range(REPLICAS)]
    x, y, z, resets = zip(*(smoothed(hand, cap=cap) for hand in hands), strict=True)
    close(state.x, x), close(state.dual, y), close(state.centre, z)
    assert state.resets.tolist() == list(resets) and (min(resets) > 0) == (cap < 1.0)
    assert qp.measures(state, state.x, None)["dual_resets"] is state.resets


@pytest.mark.parametrize("wrong", ["1A", "2A"])
def test_algorithm_2_is_not_the_misprint(wrong: str) -> None:
    qp = problem(sampled_rows=True, row_noise=0.6)
    state = hand_over(SampledALM(dual_reset=1e9, **SMOOTH), qp)
    x, _, _, _ = zip(*(smoothed(Hand(qp, r, [1] * STEPS), wrong) for r in range(REPLICAS)), strict=True)
    assert apart(state.x, x) > 1e-2


@pytest.mark.parametrize("batch", [1, 3])
def test_algorithm_3_written_out(batch: int) -> None:
    qp = problem()
    solver = StormALM(momentum=A, horizon=100, batch_size=batch, **SMOOTH)
    state = hand_over(solver, qp)
    batches = [5 * batch, *[batch] * STEPS]  # N = ceil(100^(1/3)) = 5
    x, y, z, g = zip(*(storm(Hand(qp, r, batches)) for r in range(REPLICAS)), strict=True)
    close(state.x, x), close(state.dual, y), close(state.centre, z), close(state.momentum, g)


@pytest.mark.parametrize("wrong", ["3A", "4A"])
def test_algorithm_3_is_not_the_misprint(wrong: str) -> None:
    qp = problem()
    state = hand_over(StormALM(momentum=A, horizon=100, **SMOOTH), qp)
    x, *_ = zip(*(storm(Hand(qp, r, [5, *[1] * STEPS]), wrong) for r in range(REPLICAS)), strict=True)
    assert apart(state.x, x) > 1e-2


def test_storm_without_memory_is_algorithm_1() -> None:
    """a = 1, not the paper's 0 (erratum 5A): from the second step on, each step sees its own sample only."""
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
    close(state.x, xs), close(state.dual, ys)


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
    close(state.x, xs), close(state.dual, ys)


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
    close(state.x, xs)
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
        for found, expected in ((state.x, x), (state.slack, t_var), (state.dual, y), (state.centre, z)):
            np.testing.assert_allclose(found[r], expected, rtol=0.0, atol=1e-12)
        np.testing.assert_array_equal(state.y[r], np.maximum(state.dual[r], 0.0))


SPHERE = {"smoothing_radius": 0.05, "batch_size": 4}


class Estimated(Hand):
    """The same with the mean over directions of n [F(x + r d) - F(x)] d / r, or of the central difference."""

    def __init__(self, qp: StochasticQP, replica: int, lot: list[Array], central: bool) -> None:
        super().__init__(qp, replica, [1] * (STEPS + 1))
        self.directions, self.central = [draw[replica] for draw in lot], central

    def gradient(self, x: Array, t: int) -> Array:
        total, r = np.zeros(self.n), SPHERE["smoothing_radius"]
        for u in self.directions[t]:
            d = u / np.linalg.norm(u)
            rise = self.value(x + r * d, t) - self.value(x - r * d if self.central else x, t)
            total += self.n * rise / (2.0 * r if self.central else r) * d
        return total / len(self.directions[t])


@pytest.mark.parametrize("central", [False, True])
def test_zeroth_order_forms_written_out(central: bool) -> None:
    """Algorithms 1 and 3: f alone is estimated, under the iteration's sample; the same directions at both points."""
    qp = problem()
    estimator = (CentralSphere if central else Sphere)(**SPHERE)
    form = {"gradients": "zeroth-order", "estimator": estimator}
    one = hand_over(SmoothedALM(**form, **SMOOTH), qp)
    three = hand_over(StormALM(momentum=A, horizon=1, **form, **SMOOTH), qp)
    draw = Streams(SEED, REPLICAS)
    lot = [draw.normal("directions", 4, 7) for _ in range(STEPS + 1)]
    for r in range(REPLICAS):
        hand = Estimated(qp, r, lot, central)
        for found, expected in zip((one.x, one.dual, one.centre), smoothed(hand), strict=False):
            np.testing.assert_allclose(found[r], expected, rtol=0.0, atol=1e-11)
        for found, expected in zip((three.x, three.dual, three.centre, three.momentum), storm(hand), strict=True):
            np.testing.assert_allclose(found[r], expected, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("cls", [LinearisedALM, PenaltySGD, SampledALM, EliminatedSGD])
def test_zeroth_order_forms_of_the_others_are_theirs_with_an_estimate(cls: type[Solver]) -> None:
    """On a quadratic, central differences along coordinates are the gradient: both forms take the same steps."""
    qp = problem(free_variables=3, null_curvature=0.3, sampled_rows=cls is SampledALM)
    names = {"primal_step": TAU, "dual_step": ETA, "penalty": RHO, "proximal_weight": MU, "proximal_step": BETA}
    settings = {name: value for name, value in names.items() if name in cls.param} | (
        {"dual_reset": 1e9} if cls is SampledALM else {}
    )
    first = hand_over(cls(**settings), qp)
    exact = Coordinate(smoothing_radius=0.5, central=True)
    second = hand_over(cls(gradients="zeroth-order", estimator=exact, **settings), qp)
    np.testing.assert_allclose(first.x, second.x, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(first.dual, second.dual, rtol=0.0, atol=1e-12)


# --- what the misprints do to convergence -----------------------------------------------------------------------------


def test_without_penalty_and_proximal_term_it_does_not_converge() -> None:
    """Erratum 1A: (4.2) as printed has neither; where f curves down along the rows, x runs from bound to bound."""
    qp = StochasticQP(gradient_noise=0.0, curvature_noise=0.0)
    ends = {}
    for name, settings in {"right": {}, "printed": {"proximal_weight": 1e-12, "penalty": 0.0}}.items():
        solver = SmoothedALM(**({"primal_step": 0.02, "dual_step": 0.1, "proximal_step": 0.3} | settings))
        run = Run(problem=qp, solver=solver, replicas=2, iterations=800)
        run.run()
        ends[name] = run.trace["violation"][-1]
    assert ends["right"].max() < 1e-3 and ends["printed"].min() > 0.5, ends


def drift(qp: StochasticQP, x: Array, y: Array, wrong: bool) -> tuple[Array, Array]:
    """Mean of A_1^T (y + eta r_0) + rho A_1^T r_2 over many samples, and its standard error; r_i = A_i x - b_i."""
    xi = qp.draw(0, Streams(1, 1), (len(x),))
    x, y = x[None], y[None]
    first, second, third = (0, 0, 0) if wrong else (0, 1, 2)
    pull = y + ETA * qp.residual(x, xi, first) + RHO * qp.residual(x, xi, third)
    total = qp.adjoint(pull, xi, second)[0]
    return total.mean(axis=0), total.std(axis=0, ddof=1) / np.sqrt(len(total))


def test_samples_of_the_rows_must_be_independent() -> None:
    """Errata 1A and 2A: with one sample for all, the step's mean is not the augmented Lagrangian's gradient."""
    qp = problem(sampled_rows=True, row_noise=1.0)
    x, y = np.tile(qp.domain.upper, (20_000, 1)), np.tile([0.5, -1.0], (20_000, 1))
    exact = qp.adjoint(y[0] + (ETA + RHO) * qp.residual(x[0]))
    mean, error = drift(qp, x, y, wrong=False)
    assert (np.abs(mean - exact) < 5.0 * error).all()
    mean, error = drift(qp, x, y, wrong=True)
    assert (np.abs(mean - exact) > 20.0 * error).any()


def test_storm_needs_the_same_sample_at_both_points() -> None:
    """Erratum 4A: with another sample at the old point the recursion adds noise up instead of averaging it."""
    qp, a, steps = problem(curvature_noise=0.0, gradient_noise=1.0), 0.05, 400
    streams = Streams(0, 200)
    oracle = Oracle(qp, streams)
    solver = StormALM(momentum=a, horizon=1, **SMOOTH)
    state = solver.init(qp.initial(streams), oracle, streams)
    draw, g, sample = oracle.sample, None, None
    errors = []
    for _ in range(steps):
        draw, before = oracle.sample, state
        state, _ = solver.step(state, oracle, streams)
        sample = oracle.sample
        g = state.momentum if g is None else g
        old = qp.stochastic_gradient(before.x, draw)
        g = qp.stochastic_gradient(state.x, sample) + (1.0 - a) * (g - old)
        exact = qp.stochastic_gradient(state.x)
        errors.append([np.square(v - exact).sum(axis=1).mean() for v in (state.momentum, g)])
    right, wrong = np.mean(errors[200:], axis=0)
    # AR(1) with additive noise of variance 1: a^2 / (1 - (1 - a)^2) = a / (2 - a).
    assert right == pytest.approx(a / (2.0 - a), rel=0.1)
    assert wrong > 10.0 * right, (right, wrong)


# --- the last step ----------------------------------------------------------------------------------------------------


def test_what_is_kept_is_uniform_over_the_iterations_and_from_one_of_them() -> None:
    qp, replicas, steps = problem(), 3000, 6
    streams = Streams(0, replicas)
    oracle, solver = Oracle(qp, streams), SmoothedALM(**SMOOTH)
    states = [solver.init(qp.initial(streams), oracle, streams)]
    for _ in range(steps):
        states.append(solver.step(states[-1], oracle, streams)[0])
    kept = states[-1].kept
    where = np.array([(kept.point == state.point).all(axis=1) for state in states[:-1]])
    assert (where.sum(axis=0) == 1).all()
    t = where.argmax(axis=0)
    for r in range(replicas):
        np.testing.assert_array_equal(kept.dual[r], states[t[r] + 1].dual[r])  # y_{t* + 1}
        np.testing.assert_array_equal(kept.anchor[r], states[t[r]].anchor[r])
    counts = np.bincount(t, minlength=steps)
    assert np.square(counts - replicas / steps).sum() / (replicas / steps) < 20.5  # chi-square, 5 degrees, 0.999


@pytest.mark.parametrize("sampled", [False, True])
def test_the_last_step_written_out(sampled: bool) -> None:
    qp = problem(sampled_rows=sampled)
    solver = (SampledALM if sampled else SmoothedALM)(
        polish_batch=50, **SMOOTH, **{"dual_reset": 1e9} if sampled else {}
    )
    run = Run(problem=qp, solver=solver, replicas=REPLICAS, iterations=STEPS, seed=SEED)
    found, kept = run.run().polished, run.state.kept
    for r in range(REPLICAS):
        hand = Hand(qp, r, [1] * STEPS + [50])
        (a1, _), (a2, b2) = hand.pair(STEPS, 1), hand.pair(STEPS, 2)
        x, y, z = kept.point[r], kept.dual[r], kept.anchor[r]
        slope = hand.gradient(x, STEPS) + a1.T @ y + RHO * a1.T @ (a2 @ x - b2) + MU * (x - z)
        np.testing.assert_allclose(found[r], hand.clip(x - TAU * slope), rtol=0.0, atol=1e-12)


def test_other_methods_have_no_last_step() -> None:
    run = Run(problem=problem(), solver=PenaltySGD(), replicas=2, iterations=3)
    assert run.run().polished is None and run.result.calls.tolist() == [3, 3]


def test_many_dual_resets_are_said() -> None:
    for cap, said in ((1e9, False), (0.5, True)):
        solver = SampledALM(dual_reset=cap, **SMOOTH)
        result = Run(problem=problem(), solver=solver, replicas=3, iterations=100).run()
        assert ("reset in more than 1% of the iterations by 3 of 3 replicas" in result.message) == said
