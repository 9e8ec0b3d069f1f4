"""The bound (8) of paper zoeg: it holds, and without its factors it does not."""

from __future__ import annotations

from zoviz.papers.zoeg.variance import NO_DIMENSION, NO_NINE, PRINTED, VarianceBound, below_the_bound
from zoviz.studies.verdict import Verdict


def test_the_bound_holds_and_both_factors_are_needed() -> None:
    experiment = VarianceBound(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    verdicts = [below_the_bound(measured, name).verdict for name in (PRINTED, NO_NINE, NO_DIMENSION)]
    assert verdicts == [Verdict.YES, Verdict.NO, Verdict.NO]
    assert below_the_bound({"r = 1": {"b": [0.5, 1.5, 0.9, 1.2]}}, "b").verdict is Verdict.OPEN
