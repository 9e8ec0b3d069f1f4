"""The problems of the certainty's coverage: their minima are Kuhn-Tucker points, and no problem is in both halves."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.robustness.certainty_problems import JUDGED, MADE, PROBLEMS, truth_of


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_minimum_is_feasible_and_stationary(name: str) -> None:
    posed = PROBLEMS[name]
    true = truth_of(posed, 2)
    size = posed.units.size if posed.units else np.ones(len(true.x))
    steps = 1e-5 * np.diag(size)
    slopes = np.stack([(posed.values(true.x + step) - posed.values(true.x - step)) / 2e-5 for step in steps], axis=1)
    free = (true.x > posed.lower + 1e-6 * size) & (true.x < posed.upper - 1e-6 * size)
    residual = slopes[0] + true.multipliers @ slopes[1:]
    assert np.abs(residual[free]).max(initial=0.0) < 1e-5 and posed.values(true.x)[1:].max() < 1e-6
    assert (true.multipliers[~true.active] == 0.0).all() and posed.values(true.x)[0] == pytest.approx(true.f)


def test_those_that_judge_had_no_part_in_the_rules() -> None:
    assert not set(MADE) & set(JUDGED) and len(PROBLEMS) == 29
    assert {len(one.start) for one in JUDGED.values()} == {1, 3, 4, 6, 8}
