"""Fig. 1 of paper sogd, small: a window hides regret, more of the rapid stream's, and no window hides none."""

from __future__ import annotations

from zoviz.papers.sogd.figure_1 import PLAIN, WINDOWED, Windows, methods
from zoviz.studies.experiment import array
from zoviz.studies.verdict import Verdict


def test_a_window_hides_more_of_the_regret_of_the_rapid_stream() -> None:
    experiment = Windows(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    assert all((array(one[PLAIN]) > array(one[WINDOWED])).all() for one in measured.values())
    in_size = [claim for claim in experiment.claims() if claim.says.endswith("in size")]
    assert len(in_size) == len(methods())
    assert all(claim.evidence(measured, "rapid").verdict is Verdict.YES for claim in in_size)
    assert all(claim.evidence(measured, "smooth").verdict is Verdict.NO for claim in in_size)
