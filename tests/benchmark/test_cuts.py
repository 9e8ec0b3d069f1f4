"""Parts of a benchmark's problems by hand."""

from __future__ import annotations

from zoviz.benchmark.cuts import by_dimension, by_kind
from zoviz.studies.definition import ProblemFacts

FACTS = {
    "P": ProblemFacts(5, None, "Quadratic"),
    "Q": ProblemFacts(2, None, "Power grids"),
    "R": ProblemFacts(5, None, "Quadratic"),
    "S": ProblemFacts(2, None),
}


def test_kinds_in_their_order_and_those_of_old_studies() -> None:
    assert by_kind(FACTS) == {"Quadratic": ["P", "R"], "Power grids": ["Q"], "other": ["S"]}


def test_few_numbers_of_variables_are_parts_and_of_many_ranges() -> None:
    assert by_dimension(FACTS) == {"n = 2": ["Q", "S"], "n = 5": ["P", "R"]}
    many = {str(n): ProblemFacts(n, None) for n in (1, 5, 6, 10, 12, 100, 2000)}
    assert by_dimension(many) == {
        "n = 1 to 5": ["1", "5"],
        "n = 6 to 10": ["6", "10"],
        "n = 11 to 20": ["12"],
        "n = 51 to 100": ["100"],
        "n ≥ 1001": ["2000"],
    }
