"""The form of a benchmark: what it says to the command, and that a command sets it again."""

from __future__ import annotations

import pytest

from zoviz.core.errors import MissingExtra
from zoviz.problems import Suite
from zoviz.views.benchmark.set_up_form import SetUpForm, lists_of_problems, words_of

WORDS = "--name s --problems PressureVessel LoadTracking:n=6,curtailment=40 --solvers ZOCEG ZOSPLM:primal_step=0.1"
NUMBERS = "--sweeps 20.0 --replicas 3 --seed 4 --noise 0.0 --workers 1"


def test_a_command_sets_the_form_that_says_it_again() -> None:
    form = SetUpForm()
    form.set_command([*WORDS.split(), *NUMBERS.split()])
    assert form.problems == ["PressureVessel"] and form.more_problems == "LoadTracking:n=6,curtailment=40"
    assert form.solvers == ["ZOCEG"] and form.replicas == 3 and form.sweeps == 20.0
    assert form.command() == [*WORDS.split(), *NUMBERS.split()]


@pytest.mark.parametrize(
    "text, words",
    [
        ("A:n=6,m=2 B", ["A:n=6,m=2", "B"]),
        ("A:n=6, B,C:x=1", ["A:n=6", "B", "C:x=1"]),
        ("A:n=6,B:x=1,y=2", ["A:n=6", "B:x=1,y=2"]),
        ("module:object", ["module:object"]),
        ("  ", []),
    ],
)
def test_words_are_parted_by_blanks_and_commas_that_part_no_parameters(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    "values, sentence",
    [
        ({}, "at least one problem"),
        ({"problems": ["PressureVessel"], "solvers": []}, "at least one solver"),
        ({"more_problems": "os:system"}, "a problem of zoviz, got 'os'"),
        ({"problems": ["PressureVessel"], "more_solvers": "my_module:method"}, "a solver of zoviz"),
    ],
)
def test_what_the_server_must_not_import_is_refused(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        SetUpForm(**values).command()


def test_a_list_is_added_once_to_what_is_chosen() -> None:
    form = SetUpForm(problems=["PressureVessel", "LoadTracking"])
    form.problem_list = "Engineering designs"
    assert form.problems[:2] == ["PressureVessel", "LoadTracking"] and "WeldedBeam" in form.problems
    assert len(set(form.problems)) == len(form.problems) and form.problem_list is None


def test_cocos_functions_are_listed_by_size_and_taken_by_the_command() -> None:
    pytest.importorskip("cocoex")
    form = SetUpForm()
    form.problem_list = "COCO, constrained, n = 10"
    assert len(form.problems) == 54 and form.problems[6] == "BBOBConstrained:function=7,dimension=10"
    assert form.problems[6] in form.command()


def test_published_problems_are_listed_by_kind_and_size() -> None:
    try:
        entries = {f"Suite:problem_name={one.name}" for one in Suite.names(2, 10, kinds="n")}
    except MissingExtra:
        pytest.skip("without the collection")
    lists = lists_of_problems()
    assert set(lists["CUTEst, nonlinear constraints, n = 2 to 10"]) == entries and len(entries) > 50
