"""Windows under rapid drift, small: they cost regret where a stream can be followed, and only they do."""

from __future__ import annotations

from zoviz.papers.sogd.windows import RapidDrift
from zoviz.studies.verdict import Verdict


def test_a_window_of_five_costs_regret_where_one_can_follow() -> None:
    experiment = RapidDrift(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    claims = experiment.claims()
    assert [claim.evidence(measured, claim.method).verdict for claim in claims] == [Verdict.YES] * 2
    without = [claim.evidence(measured, claim.ablation).verdict for claim in claims]
    assert without == [Verdict.NO] * 2, "it is the window"
