"""Path lengths of paper sogd's examples: bounded as printed, by hand too, and not with coefficients to and fro."""

from __future__ import annotations

import numpy as np

from zoviz.papers.sogd.path_lengths import PathLengths, example_10, example_11
from zoviz.papers.sogd.windows import variations
from zoviz.problems import QuadraticBilevel
from zoviz.studies.verdict import Verdict


def test_slow_drift_has_bounded_path_lengths_and_rapid_drift_has_not() -> None:
    slow, rapid = (
        [variations(QuadraticBilevel(n=3, d=3, drift=drift), T) for T in (1000, 4000)] for drift in ("slow", "rapid")
    )
    np.testing.assert_allclose(slow[1], slow[0], rtol=0.01)
    np.testing.assert_allclose(np.array(rapid[1]) / rapid[0], 4.0, rtol=0.05)


def test_sums_are_those_written_out() -> None:
    t = np.arange(2.0, 51.0)
    changes = t**-0.5 - (t - 1.0) ** -0.5
    assert np.isclose(example_11(50, True)["H_2,T"], np.square(changes).sum())
    assert np.isclose(example_10(50, True)["V_T"], 49.0 * np.sqrt(2.0) / 50.0)


def test_every_example_is_bounded_as_printed_only() -> None:
    experiment = PathLengths(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    claims = experiment.claims()
    assert [claim.evidence(measured, claim.method).verdict for claim in claims] == [Verdict.YES] * len(claims)
    assert [claim.evidence(measured, claim.ablation).verdict for claim in claims] == [Verdict.NO] * len(claims)
