"""Losses on load tracking over independent draws, and CMA-ES's mean."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.robustness.noisy_load_tracking import NoisyLoadTracking, drawn, loss_at
from zoviz.papers.zoeg.load_tracking import posed


def test_the_loss_is_nought_at_the_solution_and_counts_a_violation_at_its_price() -> None:
    problem = posed(0, 5, False)
    optimum = problem.known_optimum
    assert loss_at(optimum.point[None], problem) == pytest.approx(0.0, abs=1e-9)
    rng = np.random.default_rng(0)
    points = rng.uniform(problem.domain.lower, problem.domain.upper, (200, 5))
    assert min(loss_at(point[None], problem) for point in points) > -1e-12


def test_cma_es_has_a_mean_where_points_are_in_the_users_units() -> None:
    pytest.importorskip("cma", reason="CMA-ES needs the extra peers")
    hidden, scaled = (drawn("CMAES", view, 1, n=5, calls=600, replicas=2) for view in ("hidden", "scaled"))
    assert 0.0 <= hidden[1] < hidden[0] and np.isnan(scaled[1])
    assert np.isnan(drawn("ZOCEG", "hidden", 1, n=5, calls=600, replicas=2)[1])


def test_draws_are_independent_and_a_line_has_their_mean_and_error() -> None:
    one, other = (drawn("ZOCEG", "hidden", seed, n=5, calls=600, replicas=2)[0] for seed in (1, 2))
    assert one != other
    study = NoisyLoadTracking(size="quick", only={"method": ["ZOCEG", "CMAES"]})
    figures = iter([(0.001, np.nan), (0.003, np.nan), (0.002, 0.001), (0.004, 0.001)])
    (table,) = study.tables({part: dict(zip(("loss", "mean"), next(figures), strict=True)) for part in study.parts()})
    assert table.rows == [
        ("hidden", "ZOCEG", "0.200", "0.100", "0.200", "0.300", "holds"),
        ("hidden", "CMAES", "0.300", "0.100", "0.300", "0.400", ""),
        ("hidden", "CMAES, mean iterate", "0.100", "0.000", "0.100", "0.100", "holds"),
    ]
