"""Remedies on thirty runs that are ill by design: what a trial proposes is better than none, also on another seed."""

from __future__ import annotations

import pytest

from zoviz.diagnosis.ill_runs import COUNT, KINDS, ill_runs, report


def test_ill_runs_are_of_every_kind_and_drawn_again_alike() -> None:
    drawn = [one.name for one, _ in zip(ill_runs(2), range(2), strict=True)]
    assert drawn == [one.name for one in ill_runs(2)] and len(set(drawn)) == 2
    assert len(KINDS) == 6


@pytest.mark.slow
def test_what_a_trial_proposes_is_better_than_none() -> None:
    made = report(ill_runs())
    proposed = [one.again for one in made if one.again is not None]
    assert len(made) == COUNT
    assert sum(one.gain.value > 0.0 for one in proposed) >= 0.8 * COUNT
    assert not [one for one in proposed if one.gain.value < -one.error]
