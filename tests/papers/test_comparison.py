"""The comparison of exponents finds what was put in."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.comparison import compared


def test_a_comparison_of_paired_replicas_finds_what_was_put_in() -> None:
    rng, T = np.random.default_rng(0), np.array([100, 400, 1600])
    noise = rng.uniform(0.2, 1.8, 200)
    rows = np.array([[T[h] ** -p * noise * rng.uniform(0.95, 1.05, 200) for h in range(3)] for p in (0.4, 0.2)])
    outcome = compared(-1.0 / 3.0, list(T), rows)
    assert outcome.method.value == pytest.approx(-0.4, abs=0.02)
    assert outcome.holds and outcome.discriminates and outcome.ablation_fails and outcome.lower
    same = compared(-1.0 / 3.0, list(T), rows[[0, 0]])
    assert not same.discriminates and not same.ablation_fails and not same.lower
    half = compared(-1.0 / 3.0, list(T), np.stack([0.5 * rows[1] * rng.uniform(0.9, 1.1, rows[1].shape), rows[1]]))
    assert half.lower and not half.discriminates, "a constant factor is no rate"
    crossing = rows[1] * np.array([0.5, 1.0, 2.0])[:, None]
    assert not compared(-1.0 / 3.0, list(T), np.stack([crossing, rows[1]])).lower
