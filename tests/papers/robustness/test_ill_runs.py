"""Remedies on thirty runs that are ill by design: what a trial proposes is better than none, also on another seed."""

from __future__ import annotations

import itertools

import pytest

from zoviz.papers.robustness.ill_runs import COUNT, KINDS, IllRuns, ill_runs


def test_ill_runs_are_of_every_kind_and_drawn_again_alike() -> None:
    drawn = [one.name for one in itertools.islice(ill_runs(), 2)]
    assert drawn == [one.name for one in itertools.islice(ill_runs(), 2)] and len(set(drawn)) == 2
    assert len(KINDS) == 6


@pytest.mark.slow
def test_what_a_trial_proposes_is_better_than_none() -> None:
    study = IllRuns()
    measured = {part: study.measure(part) for part in study.parts()}
    print(study.tables(measured))
    proposed = [row["again"] for row in study.rows(measured) if row["again"] is not None]
    assert len(measured) == COUNT
    assert sum(gain > 0.0 for gain, _ in proposed) >= 0.8 * COUNT
    assert not [gain for gain, error in proposed if gain < -error]
