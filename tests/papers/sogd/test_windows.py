"""Windows under rapid drift, small: they cost regret where a stream can be followed, and only they do."""

from __future__ import annotations

import numpy as np

from zoviz.papers.experiment import Verdict
from zoviz.papers.sogd.windows import RapidDrift, variations
from zoviz.problems import QuadraticBilevel


def test_slow_drift_has_bounded_path_lengths_and_rapid_drift_has_not() -> None:
    slow, rapid = (
        [variations(QuadraticBilevel(n=3, d=3, drift=drift), T) for T in (1000, 4000)] for drift in ("slow", "rapid")
    )
    np.testing.assert_allclose(slow[1], slow[0], rtol=0.01)
    np.testing.assert_allclose(np.array(rapid[1]) / rapid[0], 4.0, rtol=0.05)


def test_a_window_of_five_costs_regret_where_one_can_follow() -> None:
    experiment = RapidDrift(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    claims = experiment.claims()
    assert [claim.test(measured, claim.method).verdict for claim in claims] == [Verdict.YES] * 2
    assert [claim.test(measured, claim.ablation).verdict for claim in claims] == [Verdict.NO] * 2, "it is the window"
