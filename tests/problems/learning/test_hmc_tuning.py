"""Tuning Hamiltonian Monte Carlo: the sampler written out, lock-step against alone, and what settings are good for."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.runs import assert_replays_and_stands_alone
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Gaussian
from zoviz.problems import HMCTuning
from zoviz.problems.learning.hmc_tuning import HIGHEST, LOWEST, START, generated
from zoviz.problems.learning.leapfrog import Posterior, Settings, sample
from zoviz.solvers import SZOConEX

SMALL = {"gradients": 240, "rows": 100}


def at(leaps: float, step: float, mass: float, burn_in: float) -> Array:
    """The point of the box with these settings."""
    return (np.array([*np.log10([leaps, step, mass]), burn_in]) - LOWEST) / (HIGHEST - LOWEST)


def one_chain(posterior: Posterior, leaps: int, step: float, mass: float, gradients: int, seed: int) -> Array:
    """The draws of a trial of one chain, trajectory by trajectory."""
    signed, v, rng = posterior.signed, posterior.prior_variance, np.random.default_rng(seed)
    length, d = gradients // leaps, posterior.signed.shape[1]
    q = 1e-3 * rng.standard_normal(d)
    momenta, thresholds = rng.standard_normal((length + 1, d)), np.log1p(-rng.random(length))

    def energy(q: Array) -> float:
        return float(np.log1p(np.exp(-signed @ q)).sum() + q @ q / (2 * v))

    def slope(q: Array) -> Array:
        return -(1 / (1 + np.exp(signed @ q))) @ signed + q / v

    draws = []
    for t in range(length):
        p = momenta[t] * np.sqrt(mass)
        new, moved = q.copy(), p - step / 2 * slope(q)
        for leap in range(leaps):
            new = new + step / mass * moved
            moved = moved - (step if leap < leaps - 1 else step / 2) * slope(new)
        if thresholds[t] < energy(q) + p @ p / (2 * mass) - energy(new) - moved @ moved / (2 * mass):
            q = new
        draws.append(q)
    return np.array(draws)


def test_lock_step_is_trajectory_by_trajectory() -> None:
    posterior = Posterior.of(*(part[:60] for part in generated(3)), 100.0)
    settings = Settings(np.array([3, 5]), np.array([0.1, 0.2]), np.array([1.0, 2.0]), np.zeros(2))
    generators = [np.random.default_rng(seed) for seed in (7, 8)]
    draws, acceptance = sample(posterior, settings, 62, 1, generators)
    for trial, seed in enumerate((7, 8)):
        leaps = int(settings.leaps[trial])
        expected = one_chain(posterior, leaps, settings.step[trial], settings.mass[trial], 62, seed)
        np.testing.assert_allclose(draws[trial, 0, : 62 // leaps], expected, atol=1e-9)
        assert np.isnan(draws[trial, 0, 62 // leaps :]).all()
        moves = np.abs(np.diff(np.concatenate([np.zeros((1, 25)), expected]), axis=0)).max(axis=1) > 1e-6
        assert acceptance[trial] == pytest.approx(moves.mean(), abs=1.5 / len(expected))


def test_a_trial_is_the_same_to_the_bit_whoever_runs_beside_it() -> None:
    problem, rng = HMCTuning(**SMALL), np.random.default_rng(0)
    x, xi = rng.random((3, 7, 4)), np.arange(21).reshape(3, 7)
    together = problem.evaluate(x, xi)
    for r, q in ((0, 0), (1, 4), (2, 6)):
        alone = problem.evaluate(x[r, q], xi[r, q])
        assert alone.f == together.f[r, q] and (alone.h == together.h[r, q]).all()
    backwards = problem.evaluate(x[::-1, ::-1], xi[::-1, ::-1])
    np.testing.assert_array_equal(backwards.f[::-1, ::-1], together.f)
    other = problem.evaluate(x, xi + 100)
    assert (other.f != together.f).any()


def test_noise_is_fresh_at_every_point_shared_in_an_iteration_or_none() -> None:
    problem, streams = HMCTuning(**SMALL), Streams(0, 2)
    x = np.tile(at(4, 0.1, 1, 0.1), (2, 3, 1))
    own = problem.evaluate(x, problem.draw(0, streams, (3,)))
    shared = problem.evaluate(x, problem.draw(0, streams))
    assert len(np.unique(own.h[..., 1])) == 6 and len(np.unique(shared.h[..., 1])) == 2
    assert len(np.unique(problem.evaluate(x).h[..., 1])) == 1


def test_settings_round_and_ties_fall_either_way() -> None:
    problem = HMCTuning(**SMALL)
    some = problem.settings(np.stack([START, at(4, 0.07, 2, 0.1)]))
    assert some.leaps.tolist() == [6, 4]
    np.testing.assert_allclose([some.step[1], some.mass[1], some.burn_in[1]], [0.07, 2.0, 0.1])
    x = np.tile(at(2.0, 0.1, 1.0, 0.0), (2, 1))
    raw = 10.0 ** (LOWEST[0] + x[0, 0] * (HIGHEST[0] - LOWEST[0]))
    assert raw == pytest.approx(2.0)
    assert problem.settings(np.zeros((1, 4)), np.zeros(1)).leaps.tolist() == [1]


def test_good_settings_are_good_and_a_resonance_is_not() -> None:
    problem = HMCTuning(gradients=500)
    good, start, resonant = (problem.trials(point, 8) for point in (at(4, 0.068, 1, 0.02), START, at(9, 0.07, 1, 0.1)))
    # 220 +- 43 effective draws a trial at 500 gradients where settings are best.
    assert 150.0 < good.size.mean() < 290.0
    assert max(resonant.size.mean(), start.size.mean()) < 0.3 * good.size.mean()
    assert np.median(resonant.score) > problem.score_limit and good.reduction.max() < 1.2


def test_values_are_logarithms_of_the_diagnostics() -> None:
    problem = HMCTuning(**SMALL)
    value, trial = problem.evaluate(START), problem.trial(START)
    (size,), (score,), (reduction,) = trial.diagnostics
    assert value.f == pytest.approx(-np.log(max(size, 10.0) / 100.0))
    np.testing.assert_allclose(value.h, np.log([score / 3.3, reduction / 1.2]))
    printed = HMCTuning(geweke="pymc", **SMALL)
    assert printed.score_limit == 2.0 and printed.evaluate(START).h[0] != value.h[0]
    stuck = problem.evaluate(at(9, 0.3, 0.5, 0.1))
    assert stuck.f == pytest.approx(np.log(10.0)) and (stuck.h > 0).all()


def test_a_run_replays_to_the_bit_and_a_replica_is_alone_what_it_is_among_others() -> None:
    solver = SZOConEX(primal_step=0.002, dual_step=0.05, estimator=Gaussian(smoothing_radius=0.05, batch_size=1))
    assert_replays_and_stands_alone(HMCTuning(**SMALL), solver, 4, START)
