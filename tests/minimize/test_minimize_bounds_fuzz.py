"""A sample of the fuzz of boxes that no call may leave; ``python -m helpers.fuzz_bounds`` has more, and programs."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers.fuzz_bounds import Case, judged

CASES = 60


def quick(number: int) -> Case:
    return Case.draw(10**6 + number, quick=True)


@pytest.mark.parametrize("number", range(CASES))
def test_no_call_is_outside_and_every_end_is_an_answer_or_a_sentence(number: int) -> None:
    verdict = judged(quick(number))
    assert not verdict.faults, f"{verdict.faults}: {quick(number)}"


@pytest.mark.slow
@pytest.mark.parametrize("road", ["Executable", "CLI"])
def test_no_call_of_a_program_is_outside(road: str) -> None:
    cases = [case for case in map(Case.draw, range(400)) if case.road == road][:6]
    assert [judged(case).faults for case in cases] == [()] * 6


def test_the_sample_has_every_road_and_most_methods() -> None:
    cases = [quick(number) for number in range(CASES)]
    assert Counter(case.road for case in cases).keys() == {"minimize", "Run", "AskTell"}
    assert len({case.method for case in cases}) > 10 and {case.m for case in cases} == {0, 1, 2, 3}
