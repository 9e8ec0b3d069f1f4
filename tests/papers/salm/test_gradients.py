"""Remark 5.1 of paper salm: two gradients an iteration, and a first batch of N = ceil(T^(1/3)) samples."""

from __future__ import annotations

from zoviz.papers.salm.centre import AFTER, BEFORE, NEAR, Centre
from zoviz.papers.salm.gradients import FIRST, GradientsOfAnIteration
from zoviz.studies.experiment import Verdict


def test_counts_are_those_of_the_remark() -> None:
    experiment = GradientsOfAnIteration(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    two, share = experiment.claims()
    assert two.test(measured, two.method).verdict is Verdict.YES
    assert two.test(measured, two.ablation).verdict is Verdict.NO
    assert share.test(measured, share.method).verdict is Verdict.YES
    assert measured[two.method][FIRST] == [4.0, 8.0]


def test_the_two_centres_are_two_methods() -> None:
    experiment = Centre(size="quick")
    before, after = (experiment.values("known rows", name, 50)[NEAR] for name in (BEFORE, AFTER))
    assert (before != after).all() and (before > 0.0).all()
