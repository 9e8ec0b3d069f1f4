"""Robustness to wrong labels: who is judged, and what the verdicts follow from."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz.papers.salm.outliers import NOISES, Judged, judged, verdicts  # noqa: E402
from zoviz.problems.margin_losses import LOSSES  # noqa: E402


def test_training_helps_those_who_were_left_out() -> None:
    start, end = (judged("breast cancer", LOSSES[0], 0.1, 2, iterations) for iterations in (0, 150))
    assert end.accuracy.mean() > start.accuracy.mean() + 0.05
    assert (end.excess < 0.5 * start.excess).all() and (end.excess > -1e-3).all()
    assert (end.violation < start.violation).all() and (end.p_rule < 1.0).all() and (end.parity > 0.0).all()


def test_a_verdict_is_of_paired_differences_and_may_be_open() -> None:
    base = np.array([0.7, 0.8, 0.9, 0.6])

    def row(shift: float, spread: float) -> Judged:
        accuracy = base + shift + spread * np.array([1.0, -1.0, 1.0, -1.0])
        return Judged(accuracy, base, base, base, base, base)

    low, high = min(NOISES), max(NOISES)
    table = {LOSSES[0]: {low: row(0.0, 0.0), high: row(0.0, 0.0)}}
    table[LOSSES[1]] = {low: row(0.05, 0.01), high: row(-0.05, 0.01)}
    table[LOSSES[2]] = {low: row(0.01, 0.05), high: row(0.01, 0.0)}
    assert list(verdicts(table).values()) == [True, False, None, True]
    assert set(verdicts(table, "solved_accuracy").values()) == {None}
