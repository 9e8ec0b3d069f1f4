"""The views of an oracle that know a kind of problem refuse the others with a sentence."""

from __future__ import annotations

import pytest

from zoviz.core.errors import ZovizError
from zoviz.core.streams import Streams
from zoviz.oracle import BilevelOracle, FirstOrder, Oracle
from zoviz.problems import NonconvexQCQP, QuadraticBilevel, StochasticQP


@pytest.mark.parametrize(
    ("view", "problem", "sentence"),
    [
        (FirstOrder, NonconvexQCQP(n=3), "Expected a problem with linear constraints, got NonconvexQCQP"),
        (BilevelOracle, StochasticQP(), "Expected an online bilevel problem, got StochasticQP"),
    ],
)
def test_another_problem_is_refused(view: type, problem: NonconvexQCQP | StochasticQP, sentence: str) -> None:
    with pytest.raises(ZovizError, match=sentence):
        view(Oracle(problem, Streams(0, 1)))


def test_their_own_is_taken() -> None:
    assert FirstOrder(Oracle(StochasticQP(), Streams(0, 1))).rows == StochasticQP().rows
    assert BilevelOracle(Oracle(QuadraticBilevel(), Streams(0, 1))).inner_domain.n == QuadraticBilevel().inner_domain.n
