"""Paper salm's theorems in their own measures, small: each holds, and fails or is worse without what it credits."""

from __future__ import annotations

import pytest

from zoviz.papers.salm.theorems import corollary_3_2, theorem_5_7


@pytest.mark.parametrize("sampled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_normal_residuals_fall_as_the_cube_root_with_the_recursion_and_not_without_it(sampled: bool) -> None:
    outcome = theorem_5_7([400, 1600], 12, sampled=sampled)["||v||"]
    assert outcome.holds and outcome.discriminates and outcome.ablation_fails


def test_a_last_step_of_its_own_size_is_better_than_one_of_the_run_s() -> None:
    outcome = corollary_3_2([400, 1600], 60)
    assert outcome.holds and (outcome.levels[:, 0] < 0.97 * outcome.levels[:, 1]).all()
    assert outcome.levels[1, 0] / outcome.levels[1, 1] < outcome.levels[0, 0] / outcome.levels[0, 1]
