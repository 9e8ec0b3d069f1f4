"""Paper salm's theorems in their own measures, small: each holds, and fails or is worse without what it credits."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.salm.theorems import compared, corollary_3_2, theorem_5_7


@pytest.mark.parametrize("sampled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_normal_residuals_fall_as_the_cube_root_with_the_recursion_and_not_without_it(sampled: bool) -> None:
    outcome = theorem_5_7([400, 1600], 12, sampled=sampled)["||v||"]
    assert outcome.holds and outcome.discriminates and outcome.ablation_fails


def test_a_last_step_of_its_own_size_is_better_than_one_of_the_run_s() -> None:
    outcome = corollary_3_2([400, 1600], 60)
    assert outcome.holds and (outcome.levels[:, 0] < 0.97 * outcome.levels[:, 1]).all()
    assert outcome.levels[1, 0] / outcome.levels[1, 1] < outcome.levels[0, 0] / outcome.levels[0, 1]


def test_a_comparison_of_paired_replicas_finds_what_was_put_in() -> None:
    rng, T = np.random.default_rng(0), np.array([100, 400, 1600])
    noise = rng.uniform(0.2, 1.8, 200)
    rows = np.array([[T[h] ** -p * noise * rng.uniform(0.95, 1.05, 200) for h in range(3)] for p in (0.4, 0.2)])
    outcome = compared(-1.0 / 3.0, list(T), rows)
    assert outcome.method.value == pytest.approx(-0.4, abs=0.02)
    assert outcome.holds and outcome.discriminates and outcome.ablation_fails
    same = compared(-1.0 / 3.0, list(T), rows[[0, 0]])
    assert not same.discriminates and not same.ablation_fails
