"""No call of a user's function goes by uncounted: a counter inside the functions says what the results say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from zoviz import AskTell, Run, minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOCEG

BOX = [(-1.0, 3.0)] * 2


class Counter:
    """A function that counts its calls."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self._function, self.count = function, 0

    def __call__(self, x: Array) -> Any:
        self.count += 1
        return self._function(x)


def rows(x: Array) -> list[float]:
    return [1.0 - float(x[0] + x[1]), float(x[0]) - 2.0]


def functions(kind: str) -> tuple[list[Counter], dict[str, Any]]:
    """Counters, and the arguments of a black box with constraints of this kind."""
    f, h = Counter(lambda x: float(x @ x)), Counter(rows)
    one, two = Counter(lambda x: rows(x)[0]), Counter(lambda x: rows(x)[1])
    pair = Counter(lambda x: (float(x @ x), rows(x)))
    return {
        "none": ([f], {"objective": f}),
        "one function": ([f, h], {"objective": f, "constraints": h}),
        "one function of one row": ([f, one], {"objective": f, "constraints": one}),
        "one function and m": ([f, h], {"objective": f, "constraints": h, "m": 2}),
        "several": ([f, one, two], {"objective": f, "constraints": [one, two]}),
        "joint": ([pair], {"objective": pair, "joint": True, "m": 2}),
    }[kind]


KINDS = ["none", "one function", "one function of one row", "one function and m", "several", "joint"]


@pytest.mark.parametrize("x0", [None, [0.5, 1.5]], ids=["drawn starts", "x0"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_run_and_its_replay_count_every_call(kind: str, x0: list[float] | None) -> None:
    counters, arguments = functions(kind)
    problem = BlackBox(**arguments, bounds=BOX, x0=x0)
    if x0 is not None and kind != "none":
        assert problem.m == 1 + (kind != "one function of one row"), (
            "it takes the run's first call where m is not known"
        )
    made = 0
    for number in range(2):
        run = Run(problem, ZOCEG(), replicas=1 + number, calls=60, seed=number)
        result = run.run()
        made += int(result.calls.sum())
        assert {one.count for one in counters} == {made} and (result.calls <= 60).all()
    again = run.replay()
    np.testing.assert_array_equal(again.run().x, result.x)
    np.testing.assert_array_equal(again.trace["calls"], run.trace["calls"])
    assert {one.count for one in counters} == {made + int(result.calls.sum())}


SCIPY: dict[str, Callable[[Counter], Any]] = {
    "none": lambda h: None,
    "callable": lambda h: h,
    "dict": lambda h: {"type": "ineq", "fun": h},
}


@pytest.mark.parametrize("constraints", SCIPY)
@pytest.mark.parametrize("method", ["ZOCEG", "auto", "SLSQP"])
def test_minimize_counts_every_call(constraints: str, method: str) -> None:
    f, h = Counter(lambda x: float(x @ x)), Counter(rows)
    result = minimize(f, [0.5, 1.5], bounds=BOX, constraints=SCIPY[constraints](h), method=method, max_calls=80)
    assert result.calls == f.count <= 80
    assert h.count == (0 if constraints == "none" else f.count)


@pytest.mark.parametrize("kind", KINDS)
def test_ask_and_tell_counts_every_call_of_who_answers_by_the_problem(kind: str) -> None:
    counters, arguments = functions(kind)
    problem = BlackBox(**arguments, bounds=BOX)
    session = AskTell(problem, ZOCEG(), calls=60)
    while not session.done:
        batch = session.ask()
        session.tell(batch, *problem.evaluate(batch.x))
    assert {one.count for one in counters} == set(session.result.calls.tolist())


def test_an_objective_that_raises_does_not_matter_for_the_count() -> None:
    problem = BlackBox(partial(_defined_beyond, 1.2), rows, bounds=BOX, on_error="fail")
    assert problem.m == 2, "the middle of the box is where it raises"


def _defined_beyond(least: float, x: Array) -> float:
    if x[0] < least:
        raise ArithmeticError("undefined")
    return float(x @ x)


def test_the_value_that_told_the_count_is_not_that_of_another_objective() -> None:
    problem = BlackBox(lambda x: 0.0, lambda x: 1.0 - x[0], bounds=[(-2.0, 2.0)] * 2, x0=[0.0, 0.0])
    assert problem.m == 1
    problem.objective = lambda x: 5.0
    assert problem.evaluate(np.zeros((1, 2))).f[0] == 5.0
