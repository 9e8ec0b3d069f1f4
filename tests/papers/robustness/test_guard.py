"""The guard on trial, in a quick form: a few of the bad runs, and a few of the good ones."""

from __future__ import annotations

import pytest

from zoviz.papers.robustness import guard

MOST = 50
"""Iterations from a blow-up to the stop, at most."""


@pytest.mark.parametrize("case", list(guard.bad())[::7], ids=lambda case: case.name)
def test_a_run_that_is_made_to_diverge_is_stopped_soon_and_says_so(case: guard.Case) -> None:
    run = case.run()
    assert run.status == "diverged" and len(run.divergences) == guard.REPLICAS, run.message
    assert guard.delay(run) <= MOST and not run.result.success.any()


@pytest.mark.parametrize("case", list(guard.good())[::29], ids=lambda case: case.name)
def test_a_run_that_converges_is_left_alone(case: guard.Case) -> None:
    run = case.run()
    assert run.status == "finished" and not run.divergences, run.message


def test_there_are_as_many_of_each_as_the_study_says() -> None:
    assert len(list(guard.bad())) == len(guard.Diverging().parts()) == 50
    assert len(list(guard.good())) == len(guard.Converging().parts()) >= 200
    study = guard.Diverging(size="quick")
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    assert len(table.rows) == 1 and table.rows[0][1].startswith("0 wrong, 0 far from feasible; the others at most")
    said = {"name": "one", "message": "Ended far from feasible.", "wrong": False, "far": True, "delay": 0.0}
    (table,) = guard.Converging(size="quick").tables({"0": said})
    assert table.rows == [("one", "Ended far from feasible."), ("1 runs", "0 wrong, 1 far from feasible")]
