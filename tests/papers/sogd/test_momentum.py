"""Lemma 3.1 of paper sogd: a window over all rounds is a momentum, and windows that end are not."""

from __future__ import annotations

import numpy as np

from zoviz.papers.sogd.momentum import ALL, WEIGHT, WindowIsMomentum, momentum
from zoviz.studies.experiment import Verdict


def test_the_recursion_is_the_one_written_out() -> None:
    slopes = np.random.default_rng(0).standard_normal((3, 2, 4))
    first = WEIGHT * slopes[0]
    second = WEIGHT * slopes[1] + (1.0 - WEIGHT) * first
    np.testing.assert_allclose(momentum(slopes)[2], WEIGHT * slopes[2] + (1.0 - WEIGHT) * second)


def test_only_a_window_over_all_rounds_is_a_momentum() -> None:
    experiment = WindowIsMomentum(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()[:1]}
    claims = experiment.claims()
    assert len(claims) == 3 and {claim.method for claim in claims} == {ALL}
    assert {claim.test(measured, ALL).verdict for claim in claims} == {Verdict.YES}
    assert {claim.test(measured, claim.ablation).verdict for claim in claims} == {Verdict.NO}
