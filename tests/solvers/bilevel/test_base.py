"""Random numbers that several estimates share."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.streams import RandomSource, Streams
from zoviz.solvers.bilevel.base import RepeatedNumbers


def drawn(source: RandomSource) -> list[np.ndarray]:
    return [source.normal("a", 3), source.uniform("b", 2), source.normal("a", 1, 2), source.subset("c", 9, 4, 2)]


def test_every_pass_gives_the_numbers_of_the_first_which_are_the_sources() -> None:
    numbers, expected = RepeatedNumbers(Streams(3, 2)), drawn(Streams(3, 2))
    assert numbers.replicas == 2 and len(expected) == 4
    for _ in range(3):
        for mine, its in zip(drawn(numbers.again()), expected, strict=True):
            np.testing.assert_array_equal(mine, its)


def test_a_pass_that_asks_for_something_else_is_refused() -> None:
    numbers = RepeatedNumbers(Streams(3, 2))
    numbers.normal("a", 3)
    with pytest.raises(ValueError, match="as the first did"):
        numbers.again().normal("a", 4)
