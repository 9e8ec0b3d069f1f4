"""Paper salm: rates against the horizon, and multipliers against a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.salm.rates import THEOREM, fit, problem_for, rates, violations


def test_the_fit_finds_an_exponent_and_its_error() -> None:
    horizons, rng = [1000, 4000, 16_000, 64_000], np.random.default_rng(0)
    fits = []
    for _ in range(200):
        noise = 1.0 + 0.2 * rng.standard_normal((4, 24))
        fits.append(fit(horizons, 3.0 * np.array(horizons)[:, None] ** -0.25 * noise))
    assert np.mean([slope.value for slope in fits]) == pytest.approx(-0.25, abs=2e-3)
    assert np.std([slope.value for slope in fits]) == pytest.approx(np.mean([slope.error for slope in fits]), rel=0.15)
    covered = np.mean([low <= -0.25 <= high for low, high in (slope.interval for slope in fits)])
    assert covered > 0.88


@pytest.mark.slow
def test_short_horizons_fall_as_the_theorem_says() -> None:
    """A small relative of the slow one: its interval, too, lies below the exponent."""
    slope, _, levels = rates("SmoothedALM", [400, 1600, 6400], replicas=20, draws=10)
    assert slope.interval[1] <= THEOREM["SmoothedALM"] and (np.diff(levels[:, 0]) < 0.0).all(), slope


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", THEOREM)
def test_the_rate_is_the_theorems_or_better(name: str) -> None:
    """Four horizons, a factor of 4 apart, 24 replicas."""
    slope, root, levels = rates(name, [1000, 4000, 16_000, 64_000])
    print(name, levels[:, 0], slope, slope.interval, root)
    assert (np.diff(levels[:, 0]) < 0.0).all()
    assert slope.interval[1] <= THEOREM[name], slope


def test_the_measured_problem_is_nonconvex_with_one_stationary_point() -> None:
    problem = problem_for("SmoothedALM")
    spectrum = np.linalg.eigvalsh(problem.stochastic_gradient(np.eye(10)) - problem.stochastic_gradient(np.zeros(10)))
    assert spectrum[0] == pytest.approx(-1.0)
    assert problem.near_stationarity(problem.stationary.point[None])[0] < 1e-8


def test_multipliers_reach_feasibility_where_the_same_penalty_does_not() -> None:
    """||Ax - b|| relative to its start, rho = 5 for all: 1e-3 with multipliers, never below 1e-2 without."""
    course = violations(iterations=1500, replicas=4)
    for name in ("SmoothedALM", "LinearisedALM", "StormALM"):
        assert course[name][-1].mean() < 1e-3, (name, course[name][-1])
    assert course["PenaltySGD"].min(axis=0).mean() > 1e-2, course["PenaltySGD"][-1]
