"""Paper salm: multipliers against a penalty of the same weight."""

from __future__ import annotations

from zoviz.papers.salm.multipliers import METHODS, PENALTY, Multipliers
from zoviz.studies.verdict import Verdict


def test_multipliers_reach_feasibility_where_the_same_penalty_does_not() -> None:
    experiment = Multipliers(size="quick")
    measured = {part: experiment.measure(part) for part in METHODS}
    claims = experiment.claims()
    assert [claim.method for claim in claims] == [name for name in METHODS if name != PENALTY]
    assert [claim.evidence(measured, claim.method).verdict for claim in claims] == [Verdict.YES] * 3
    assert [claim.evidence(measured, claim.ablation).verdict for claim in claims] == [Verdict.NO] * 3
