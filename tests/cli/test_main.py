"""Values that begin with a minus, on the command line."""

from __future__ import annotations

import pytest

from zoviz.cli.main import parser, with_negative_values


@pytest.mark.parametrize("value", ["-3:3*4", "-inf:0", "-.5:1,-2:2", "-1e-3:1"])
def test_bounds_may_begin_with_a_minus(value: str) -> None:
    words = ["run", "--exe", "true", "--bounds", value, "--calls", "10", "COBYLA"]
    args = parser().parse_args(with_negative_values(words))
    assert (args.bounds, args.calls, args.words) == (value, 10, ["COBYLA"])


def test_a_start_may_begin_with_a_minus() -> None:
    args = parser().parse_args(with_negative_values(["run", "--exe", "true", "--x0", "-1,2"]))
    assert args.x0 == "-1,2"


@pytest.mark.parametrize("words", [["runs"], ["run", "--bounds=-3:3", "-h"], ["run", "x0=-1"], []])
def test_other_words_stay_as_they_are(words: list[str]) -> None:
    assert with_negative_values(words) == words
