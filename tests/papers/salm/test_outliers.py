"""Robustness to wrong labels: who is judged, and what the verdicts follow from."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz.papers.salm.outliers import Judged, Outliers, apart, judged  # noqa: E402
from zoviz.problems.margin_losses import LOSSES  # noqa: E402
from zoviz.studies.experiment import plain  # noqa: E402
from zoviz.studies.verdict import Verdict  # noqa: E402


def test_training_helps_those_who_were_left_out() -> None:
    start, end = (judged("breast cancer", LOSSES[0], 0.1, range(2), iterations) for iterations in (0, 150))
    assert end.accuracy.mean() > start.accuracy.mean() + 0.05
    assert (end.excess < 0.5 * start.excess).all() and (end.excess > -1e-3).all()
    assert (end.violation < start.violation).all() and (end.p_rule < 1.0).all() and (end.parity > 0.0).all()


def test_splits_overlap_so_that_errors_are_larger_than_of_independent_ones() -> None:
    gaps = np.array([1.2, 2.8])
    error = apart(gaps).std(ddof=1) / np.sqrt(2.0)
    assert error == pytest.approx(gaps.std(ddof=1) * np.sqrt(0.5 + 3.0 / 7.0)) and apart(gaps).mean() == 2.0


def test_robust_is_what_does_better_with_wrong_labels_only() -> None:
    experiment, base = Outliers(size="quick"), np.array([0.7, 0.8, 0.9, 0.6])
    measured = {part: {"accuracy": plain(base)} for part in experiment.parts()}
    measured["smoothed 0-1 / 30 % wrong"] = {"accuracy": plain(base + np.array([0.1, 0.11, 0.1, 0.11]))}
    generalises, robust = (claim for claim in experiment.claims() if claim.says.startswith("smoothed"))
    assert generalises.evidence(measured, generalises.method).verdict is Verdict.OPEN
    assert robust.evidence(measured, robust.method).verdict is Verdict.YES
    assert robust.evidence(measured, robust.ablation).verdict is Verdict.OPEN
    measured["smoothed 0-1 / 0 % wrong"] = {"accuracy": plain(base + np.array([0.1, 0.11, 0.1, 0.11]))}
    assert robust.evidence(measured, robust.ablation).verdict is Verdict.YES, "then the claim cannot be decided"


def test_the_tables_have_every_loss_and_share() -> None:
    experiment = Outliers()
    rows = np.linspace(0.0, 0.1, 10)
    measured = {part: dict.fromkeys(Judged._fields, plain(rows)) for part in experiment.parts()}
    own, gaps = experiment.tables(measured)
    assert len(own.rows) == 12 and len(gaps.rows) == 4 and gaps.rows[0][1:] == ("+0.00 ± 0.00",) * 4
    assert [len(panel.lines) for panel in experiment.panels(measured)] == [3, 3]
