"""Paper salm's theorems in their own measures, small: each holds, and fails or is worse without what it credits."""

from __future__ import annotations

import pytest

from zoviz.papers.salm.theorems import KNOWN, NORMAL, SAMPLED, Corollary32, Theorem57


@pytest.mark.parametrize("rows", [KNOWN, pytest.param(SAMPLED, marks=pytest.mark.slow)])
def test_normal_residuals_fall_as_the_cube_root_with_the_recursion_and_not_without_it(rows: str) -> None:
    experiment = Theorem57(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts() if part.startswith(rows)}
    rate = next(rate for rate in experiment.rates() if (rate.case, rate.measure) == (rows, NORMAL))
    outcome = experiment.comparison(measured, rate)
    assert outcome.holds and outcome.discriminates and outcome.ablation_fails


def test_a_last_step_of_its_own_size_is_better_than_one_of_the_run_s() -> None:
    experiment = Corollary32(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts() if part.startswith(KNOWN)}
    outcome = experiment.comparison(measured, experiment.rates()[0])
    assert outcome.holds and (outcome.levels[:, 0] < 0.97 * outcome.levels[:, 1]).all()
    assert outcome.levels[1, 0] / outcome.levels[1, 1] < outcome.levels[0, 0] / outcome.levels[0, 1]
