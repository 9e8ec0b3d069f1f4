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


def test_there_are_as_many_of_each_as_the_study_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(guard.bad())) == 50 and len(list(guard.good())) >= 200
    guard.main(["--bad", "1"])
    assert "1 bad runs: 0 not stopped" in capsys.readouterr().out
