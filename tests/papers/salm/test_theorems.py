"""Paper salm's theorems in their own measures, small: each holds, and fails or is worse without what it credits."""

from __future__ import annotations

import pytest

from zoviz.papers.salm.theorems import KNOWN, NORMAL, OWN, PLAIN, RECURSION, RUNS, SAMPLED, Corollary32, Theorem57


@pytest.mark.parametrize("rows", [KNOWN, pytest.param(SAMPLED, marks=pytest.mark.slow)])
def test_normal_residuals_fall_as_the_cube_root_with_the_recursion_and_not_without_it(rows: str) -> None:
    experiment = Theorem57(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts() if part.startswith(rows)}
    ours, without = (experiment.fit(measured, rows, method, NORMAL) for method in (RECURSION, PLAIN))
    assert ours.value - 2.0 * ours.error <= -1.0 / 3.0 < without.value - 2.0 * without.error


def test_a_last_step_of_its_own_size_is_better_than_one_of_the_run_s() -> None:
    experiment = Corollary32(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts() if part.startswith(KNOWN)}
    ours, without = (experiment.fit(measured, KNOWN, method, NORMAL) for method in (OWN, RUNS))
    assert ours.value - 2.0 * ours.error <= -1.0 / 4.0 and (ours.levels < 0.97 * without.levels).all()
    assert ours.levels[1] / without.levels[1] < ours.levels[0] / without.levels[0]
