"""Steps within the stable end do not diverge, and far beyond it they do: a few instances of the script's hundred."""

from __future__ import annotations

from zoviz.diagnosis.stable_steps import diverges, instances


def test_within_the_stable_end_nothing_diverges_and_far_beyond_it_all_does() -> None:
    chosen = instances(2)
    assert [diverges(problem, 0.9) for problem in chosen] == [False, False]
    assert [diverges(problem, 4.0) for problem in chosen] == [True, True]
