"""The bound (5) of paper splm: the variance vanishes with the radius only where the slope is 0."""

from __future__ import annotations

from zoviz.papers.splm.variance import AT_REST, AT_START, SphereVariance
from zoviz.studies.verdict import Verdict


def test_the_variance_vanishes_only_where_the_slope_is_zero() -> None:
    experiment = SphereVariance(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    printed, ours = experiment.claims()
    assert printed.evidence(measured, AT_START).verdict is Verdict.NO
    assert ours.evidence(measured, AT_REST).verdict is Verdict.YES
    assert ours.evidence(measured, ours.ablation).verdict is Verdict.NO
