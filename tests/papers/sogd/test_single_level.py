"""Remark 4.4 of paper sogd, small: its rate is that of the growing batches, with or without the recursion."""

from __future__ import annotations

from zoviz.papers.sogd.single_level import LATER_SLOPES, ONE_SAMPLE, RECURSION, WEIGHTS_1, Remark44


def test_the_rate_is_met_and_is_that_of_the_batches() -> None:
    experiment = Remark44(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    fits = {
        name: experiment.fit(measured, "no leader", name, LATER_SLOPES) for name in (RECURSION, WEIGHTS_1, ONE_SAMPLE)
    }
    assert fits[RECURSION].value < -2.0 / 3.0 and fits[WEIGHTS_1].value < -2.0 / 3.0 < fits[ONE_SAMPLE].value
    assert fits[ONE_SAMPLE].levels[-1] > 2.0 * fits[RECURSION].levels[-1], "with one sample the regret stays behind"
