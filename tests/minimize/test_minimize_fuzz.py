"""The quick form of the fuzz: odd black boxes for every method; ``python -m helpers.fuzz_minimize`` is the long one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers.odd_black_boxes import BOUNDS, FORMS, KINDS, Case, is_bayesian, methods, verdict

NAMES = sorted(set(methods()))
CASES = 150


def quick(i: int) -> Case:
    """A case in this process, its method, kind and bounds in turn and the rest drawn; most budgets are small."""
    valid = [word for word in dict.fromkeys(BOUNDS) if word not in ("reversed", "nan", "wrong length")]
    case = Case.draw(10**6 + i, NAMES)
    case = replace(case, method=NAMES[i % len(NAMES)], kind=KINDS[i % len(KINDS)], form=FORMS[i % len(FORMS)])
    most = 6 if is_bayesian(case.method) else 120  # a step of these takes as long as a hundred of another
    case = replace(case, budget=min(case.budget, most), n=min(case.n, 8), workers="none")
    if case.method != "NOMAD":
        case.options.pop("options", None)
    return case if i % 5 == 0 else replace(case, bounds=valid[i % len(valid)], start="inside")


@pytest.mark.parametrize("i", range(CASES))
def test_whatever_is_asked_ends_in_an_answer_or_a_sentence(i: int) -> None:
    kind, reason = verdict(quick(i))
    assert kind != "bad", f"{reason}: {quick(i)}"


def test_the_quick_form_has_every_method_and_kind_and_most_of_it_reaches_a_solver() -> None:
    cases = [quick(i) for i in range(CASES)]
    assert {case.method for case in cases} == set(NAMES)
    assert {case.kind for case in cases} == set(KINDS)
    assert len({case.bounds for case in cases}) == len(set(BOUNDS))
