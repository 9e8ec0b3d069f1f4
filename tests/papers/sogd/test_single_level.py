"""Remark 4.4 of paper sogd, small: its rate is that of the growing batches, with or without the recursion."""

from __future__ import annotations

from zoviz.papers.sogd.single_level import ONE_SAMPLE, RECURSION, WEIGHTS_1, Remark44
from zoviz.studies.experiment import Verdict


def test_the_rate_is_met_and_is_that_of_the_batches() -> None:
    experiment = Remark44(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    claim, *_, others = experiment.claims()
    verdicts = [claim.test(measured, method).verdict for method in (RECURSION, WEIGHTS_1, ONE_SAMPLE)]
    assert verdicts == [Verdict.YES, Verdict.YES, Verdict.NO]
    assert others.test(measured, ONE_SAMPLE).verdict is Verdict.OPEN, "-0.5 is met, and four replicas do not show it"
    one = experiment.comparison(measured, experiment.rates()[2])
    assert one.levels[-1, 1] > 2.0 * one.levels[-1, 0], "with one sample a round the regret stays behind"
