"""What the methods for linear constraints need: penalty, independent samples, one sample at both points."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.linear_by_hand import ETA, RHO, SMOOTH, problem
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import StochasticQP
from zoviz.runs.run import Run
from zoviz.solvers import SmoothedALM, StormALM

# --- what the misprints do to convergence -----------------------------------------------------------------------------


def test_without_penalty_and_proximal_term_it_does_not_converge() -> None:
    """Errata 8: (4.2) as printed has neither; where f curves down along the rows, x runs from bound to bound."""
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
    """Errata 8 and 9: with one sample for all, the step's mean is not the augmented Lagrangian's gradient."""
    qp = problem(sampled_rows=True, row_noise=1.0)
    x, y = np.tile(qp.domain.upper, (20_000, 1)), np.tile([0.5, -1.0], (20_000, 1))
    exact = qp.adjoint(y[0] + (ETA + RHO) * qp.residual(x[0]))
    mean, error = drift(qp, x, y, wrong=False)
    assert (np.abs(mean - exact) < 5.0 * error).all()
    mean, error = drift(qp, x, y, wrong=True)
    assert (np.abs(mean - exact) > 20.0 * error).any()


def test_storm_needs_the_same_sample_at_both_points() -> None:
    """Errata 11: with another sample at the old point the recursion adds noise up instead of averaging it."""
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


def test_the_first_batch_of_storm_has_the_cube_root_of_the_horizon() -> None:
    """Errata 13: 64^(1/3) = 4 samples, where the printed 64^(1/6) is 2: the first error's mean square is a quarter."""
    qp, errors = problem(), []
    for horizon in (1, 64):
        streams = Streams(0, 4000)
        oracle = Oracle(qp, streams)
        state = StormALM(momentum=0.5, horizon=horizon, **SMOOTH).init(qp.initial(streams), oracle, streams)
        errors.append(np.square(state.momentum - qp.stochastic_gradient(state.x)).sum(axis=1).mean())
    assert errors[1] / errors[0] == pytest.approx(0.25, rel=0.1)


# --- the last step ----------------------------------------------------------------------------------------------------


def test_what_is_kept_is_uniform_over_the_iterations_and_from_one_of_them() -> None:
    qp, replicas, steps = problem(), 3000, 6
    streams = Streams(0, replicas)
    oracle, solver = Oracle(qp, streams), SmoothedALM(**SMOOTH)
    states = [solver.init(qp.initial(streams), oracle, streams)]
    for _ in range(steps):
        states.append(solver.step(states[-1], oracle, streams)[0])
    candidate = states[-1].candidate
    where = np.array([(candidate.point == state.point).all(axis=1) for state in states[:-1]])
    assert (where.sum(axis=0) == 1).all()
    t = where.argmax(axis=0)
    for r in range(replicas):
        np.testing.assert_array_equal(candidate.dual[r], states[t[r] + 1].dual[r])  # y_{t* + 1}
        np.testing.assert_array_equal(candidate.anchor[r], states[t[r]].anchor[r])
    counts = np.bincount(t, minlength=steps)
    assert np.square(counts - replicas / steps).sum() / (replicas / steps) < 20.5  # chi-square, 5 degrees, 0.999
