"""Table 2 of paper zoeg: how "reach" is read, and what the printed numbers are compared with."""

from __future__ import annotations

import numpy as np

from zoviz.papers.zoeg.table_2 import FIRST, LAST, PAPER, Evaluations, last_entry, solve
from zoviz.problems import LoadTracking
from zoviz.studies.experiment import plain
from zoviz.studies.verdict import Verdict


def test_the_last_entry_is_where_a_measure_stays_within_its_level() -> None:
    iteration = np.array([0.0, 1.0, 2.0, 3.0])
    values = np.array([[0.5, 0.5, 2.0], [2.0, 0.5, 2.0], [0.5, 0.5, 2.0], [0.5, 0.5, 2.0]])
    np.testing.assert_array_equal(last_entry(iteration, values, 1.0), [2.0, 0.0, np.nan])


def test_an_entry_is_no_earlier_than_the_first_hit_and_both_count_as_the_paper_does() -> None:
    first, last = solve(5, 0.2, LoadTracking(), 150, 3, 0)
    there = np.isfinite(last)
    assert there.any() and (last[there] >= first[there]).all()
    assert (first[np.isfinite(first)] % 14.0 == 0.0).all(), "2 (5 + 1 + 1) evaluations an iteration"


def test_printed_numbers_are_met_within_a_quarter() -> None:
    experiment = Evaluations(size="quick")
    rows = {
        block: np.array(PAPER[int(block)])[:, None] * np.array([[0.98, 0.98, 1.02, 1.02, 1.0, 1.0]])
        for block in ("5", "100")
    }
    measured = {f"block {name}": {FIRST: plain(row), LAST: plain(1.5 * row)} for name, row in rows.items()}
    claims = experiment.claims()
    verdicts = [claim.evidence(measured, claim.method).verdict for claim in claims]
    assert verdicts == [Verdict.YES, Verdict.NO, Verdict.NO] * 2 + [Verdict.YES]
    measured["block 5"] = {FIRST: plain(rows["5"]), LAST: plain(3.0 * rows["5"])}
    assert claims[-1].evidence(measured, "5").verdict is Verdict.NO
