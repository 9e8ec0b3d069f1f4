"""Diagnostics of chains: against closed forms, against formulas written out, and against ArviZ."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.problems.learning.chain_diagnostics import CAP, autocorrelation, diagnose, spectrum


def autoregression(rho: float, length: int, chains: int, seed: int = 0, count: int = 1) -> Array:
    """Stationary series x_t = rho x_{t-1} + e_t of unit innovations, (1, chains, length, count)."""
    noise = np.random.default_rng(seed).standard_normal((length, chains, count))
    x = np.empty_like(noise)
    x[0] = noise[0] / np.sqrt(1 - rho**2)
    for t in range(1, length):
        x[t] = rho * x[t - 1] + noise[t]
    return np.moveaxis(x, 0, 1)[None]


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.4])
def test_the_density_at_0_is_that_of_the_autoregression(rho: float) -> None:
    draws = autoregression(rho, 20_000, 2)
    result = spectrum(draws, np.ones((1, 20_000), dtype=bool))
    np.testing.assert_allclose(result.density, 1.0 / (1.0 - rho) ** 2, rtol=0.2)
    np.testing.assert_allclose(result.variance, 1.0 / (1.0 - rho**2), rtol=0.05)
    size = diagnose(draws, np.array([20_000]), np.zeros(1)).size
    assert size[0] == pytest.approx(2 * 20_000 * (1 - rho) / (1 + rho), rel=0.2)


def test_reduction_and_both_scores_are_their_formulas() -> None:
    draws = autoregression(0.3, 200, 2, count=3)
    kept = draws[0, :, 50:]
    n = kept.shape[1]
    within = kept.var(axis=1, ddof=1).mean(axis=0)
    reduction = np.sqrt((n - 1) / n + kept.mean(axis=1).var(axis=0, ddof=1) / within).max()
    first, last = kept[:, : int(0.1 * n)], kept[:, n - n // 2 :]
    plain = np.sqrt(first.var(axis=1, ddof=1) + last.var(axis=1, ddof=1))
    apart = np.abs(first.mean(axis=1) - last.mean(axis=1))
    told = diagnose(draws, np.array([200]), np.array([0.25]), spectral=False)
    assert told.reduction[0] == pytest.approx(reduction, rel=1e-12)
    assert told.score[0] == pytest.approx((apart / plain).max(), rel=1e-12)


def test_the_spectral_score_of_converged_chains_is_standard_normal() -> None:
    draws = np.moveaxis(autoregression(0.4, 1500, 2, count=400)[0], -1, 0)[..., None]  # 400 trials of one variable
    scores = diagnose(draws, np.full(400, 1500), np.zeros(400)).score
    # The larger of two absolute normal numbers: P(<= 1.96) = 0.9025; the fit of short windows makes it a little less.
    assert 0.84 < (scores <= 1.96).mean() < 0.94, (scores <= 1.96).mean()


def test_chains_that_never_moved_or_are_short_are_capped() -> None:
    draws = autoregression(0.0, 100, 2)
    still = np.zeros_like(draws)
    both = np.concatenate([draws, still, draws])
    told = diagnose(both, np.array([100, 100, 100]), np.array([0.0, 0.0, 0.9]))
    assert told.size[0] > 0 and told.size[1:].tolist() == [0.0, 0.0]
    assert told.score[1:].tolist() == told.reduction[1:].tolist() == [CAP, CAP]
    few = diagnose(draws[:, :, :10], np.array([10]), np.zeros(1))
    assert few.size[0] == 0.0 and few.score[0] == few.reduction[0] == CAP


def test_autocorrelation_is_that_of_the_series() -> None:
    x = autoregression(0.6, 5000, 1)[0, :, :, 0]
    told = autocorrelation(x, 3)
    np.testing.assert_allclose(told[0], [1.0, 0.6, 0.36, 0.216], atol=0.06)


@pytest.mark.slow  # its import takes seconds
def test_against_arviz() -> None:
    array_stats = pytest.importorskip("arviz_stats.base", reason='python -m pip install "zoviz[test]"').array_stats
    sizes = []
    for seed in range(6):
        draws = autoregression(0.5, 1000, 2, seed=seed)
        told = diagnose(draws, np.array([1000]), np.zeros(1))
        series = draws[0, :, :, 0]
        assert told.reduction[0] == pytest.approx(float(array_stats.rhat(series, method="identity")), rel=1e-12)
        sizes.append((told.size[0], float(array_stats.ess(series, method="mean"))))
    ours, theirs = np.array(sizes).T
    assert np.abs(ours.mean() / theirs.mean() - 1.0) < 0.15, sizes
