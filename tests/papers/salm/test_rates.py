"""Paper salm: rates against the horizon."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.salm.rates import problem_for
from zoviz.studies.verdict import fit


def test_the_fit_finds_an_exponent_and_its_error() -> None:
    horizons, rng = [1000, 4000, 16_000, 64_000], np.random.default_rng(0)
    fits = []
    for _ in range(200):
        rows = 3.0 * np.array(horizons)[:, None] ** -0.25 * (1.0 + 0.2 * rng.standard_normal((4, 24)))
        fits.append(fit(horizons, rows))
    assert np.mean([slope.value for slope in fits]) == pytest.approx(-0.25, abs=2e-3)
    assert np.std([slope.value for slope in fits]) == pytest.approx(np.mean([slope.error for slope in fits]), rel=0.15)
    assert np.mean([slope.lack < 0.05 for slope in fits]) < 0.12, "a line that fits is seldom refused"


def test_the_measured_problem_is_nonconvex_with_one_stationary_point() -> None:
    problem = problem_for(sampled=False)
    spectrum = np.linalg.eigvalsh(problem.stochastic_gradient(np.eye(10)) - problem.stochastic_gradient(np.zeros(10)))
    assert spectrum[0] == pytest.approx(-1.0)
    assert problem.near_stationarity(problem.stationary.point[None])[0] < 1e-8
