"""The oracle's guarantee: no point outside bounds that hold for every call is evaluated, on any road."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from zoviz import AskTell, Run
from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box, Product, Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.core.units import coordinates
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox
from zoviz.problems.base import Problem
from zoviz.solvers import Solver
from zoviz.solvers.theory import Info

UPPER = 0.3
OVER = 0.1 + 0.2
"""The next number above 0.3."""


class Plane(Problem):
    """f = the sum of x on a set, which no call may leave."""

    __abstract = True
    keeps_bounds = True
    m = 0

    def __init__(self, domain: Set) -> None:
        super().__init__(noise="deterministic")
        self.domain, self.n, self.seen = domain, domain.n, np.empty((0, domain.n))

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        self.seen = np.concatenate([self.seen, x.reshape(-1, self.n)])
        return Evaluation(x.sum(axis=-1), np.empty((*x.shape[:-1], 0)))


class State(NamedTuple):
    x: Array
    y: Array
    value: Evaluation


class Strider(Solver):
    """A solver of a step that goes a little farther each time, as no rule forbids it to."""

    __abstract = True
    title = "Strider"

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> State:
        return State(x0, np.empty((len(x0), oracle.m)), oracle(x0))

    def step(self, state: State, oracle: Oracle, streams: Streams) -> tuple[State, Info]:
        x = state.x + 0.2
        return State(x, state.y, oracle(x)), Info(np.full(len(x), np.nan), x, state.y, np.nan)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_method_that_leaves_the_box_is_refused_in_a_sentence(scaled: bool) -> None:
    seen: list[float] = []
    problem = BlackBox(lambda x: seen.append(x[0]) or x[0], bounds=[(0.0, 1.0)], x0=[0.5], scaled=scaled)
    with pytest.raises(
        ZovizError, match=r"Expected points inside the bounds, got x\[0\] = 1\.0999.* keeps_bounds=False"
    ):
        Run(problem=problem, solver=Strider(), iterations=9).run()
    assert max(seen) <= 1.0 and len(seen) > 1


def test_a_session_does_not_ask_outside_the_box() -> None:
    session = AskTell(solver=Strider(), bounds=[(0.0, 1.0)], x0=[0.9])
    first = session.ask()
    assert (first.x <= 1.0).all()
    with pytest.raises(ZovizError, match="Expected points inside the bounds"):
        while not session.done:
            batch = session.ask()
            assert (batch.x <= 1.0).all()
            session.tell(batch, batch.x.sum(axis=1))


@pytest.mark.parametrize(
    "domain",
    [Box([-1.0, 0.0], [UPPER, 1.0]), Product([Box([-1.0], [UPPER]), Box([0.0], [1.0])])],
    ids=["box", "product"],
)
@pytest.mark.parametrize("scaled", [False, True])
def test_round_off_is_taken_back_to_the_bound_and_more_is_not(domain: Set, scaled: bool) -> None:
    problem = Plane(domain)
    oracle = Oracle(problem, Streams(0, 1))
    if scaled:
        oracle.set_units(coordinates(domain, np.array([[0.1, 0.1]]), 0))
    units = oracle.units
    points = np.array([[[OVER, 0.5], [0.1, -1e-15]]])
    oracle(points if units is None else (points - units.offset) / units.width)
    assert OVER > UPPER and problem.seen[0, 0] == UPPER and problem.seen[1, 1] == 0.0
    far = np.array([[UPPER + 1e-9, 0.5]])
    with pytest.raises(ZovizError, match=r"x\[0\] = 0\.30000000[01]"):
        oracle(far if units is None else (far - units.offset) / units.width)
    assert len(problem.seen) == 2 and oracle.calls.tolist() == [2]


def test_the_box_is_kept_by_what_is_asked_besides_values() -> None:
    problem = Plane(Box([0.0], [UPPER]))
    oracle = Oracle(problem, Streams(0, 1))
    (place,) = oracle.ask("gradient", lambda x, xi: x, ((1, 1),), (np.array([[OVER]]),), None)
    assert place.tolist() == [[UPPER]]
    with pytest.raises(ZovizError, match="Expected points inside the bounds"):
        oracle.ask("gradient", lambda x, xi: x, ((1, 1),), (np.array([[0.4]]),), None)


def test_points_that_are_not_evaluated_may_be_anywhere() -> None:
    problem = Plane(Box([0.0], [1.0]))
    oracle = Oracle(problem, Streams(0, 2))
    oracle.freeze(np.array([False, True]))
    oracle(np.array([[0.5], [7.0]]))
    oracle(np.array([[[0.5], [9.0]], [[np.nan], [3.0]]]), np.array([[True, False], [True, True]]))
    assert problem.seen.max() <= 1.0 and oracle.calls.tolist() == [2, 0]


def test_bounds_are_those_of_the_problem_where_it_keeps_them() -> None:
    kept, free = (BlackBox(sum, bounds=[(2.0, 4.0)], x0=[3.0], keeps_bounds=keeps) for keeps in (True, False))
    oracle = Oracle(kept, Streams(0, 1))
    assert oracle.bounds is not None and oracle.bounds.upper.tolist() == [4.0]
    oracle.set_units(coordinates(kept.domain, np.array([[3.0]]), 0))
    assert oracle.bounds.upper.tolist() == [1.0]
    assert Oracle(free, Streams(0, 1)).bounds is None
    assert Oracle(free, Streams(0, 1))(np.array([[5.0]])).f.tolist() == [5.0]
