"""Paper salm: rates against the horizon."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.comparison import compared
from zoviz.papers.salm.rates import FIRST, OWN_STEPS, Theorem31, problem_for
from zoviz.studies.experiment import Verdict


def test_the_fit_finds_an_exponent_and_its_error() -> None:
    horizons, rng = [1000, 4000, 16_000, 64_000], np.random.default_rng(0)
    fits = []
    for _ in range(200):
        rows = 3.0 * np.array(horizons)[:, None] ** -0.25 * (1.0 + 0.2 * rng.standard_normal((4, 24)))
        fits.append(compared(-0.25, horizons, np.array([rows, rows])).method)
    assert np.mean([slope.value for slope in fits]) == pytest.approx(-0.25, abs=2e-3)
    assert np.std([slope.value for slope in fits]) == pytest.approx(np.mean([slope.error for slope in fits]), rel=0.15)
    covered = np.mean([low <= -0.25 <= high for low, high in (slope.interval for slope in fits)])
    assert covered > 0.88


@pytest.mark.slow
def test_short_horizons_fall_as_the_theorem_says() -> None:
    experiment = Theorem31(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts() if part.startswith(FIRST)}
    claim = experiment.claims()[0]
    assert claim.test(measured, OWN_STEPS).verdict is Verdict.YES


def test_the_measured_problem_is_nonconvex_with_one_stationary_point() -> None:
    problem = problem_for(sampled=False)
    spectrum = np.linalg.eigvalsh(problem.stochastic_gradient(np.eye(10)) - problem.stochastic_gradient(np.zeros(10)))
    assert spectrum[0] == pytest.approx(-1.0)
    assert problem.near_stationarity(problem.stationary.point[None])[0] < 1e-8
