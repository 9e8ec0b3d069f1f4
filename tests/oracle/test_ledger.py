"""The ledger: what calls were for, by shape or as stated, for each replica, over checkpoints and in stages."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle, Purpose
from zoviz.problems import LoadTracking
from zoviz.problems.base import Problem
from zoviz.solvers import COBYLA, ZOSQP


def oracle_of(problem: Problem | None = None, replicas: int = 2) -> Oracle:
    return Oracle(problem or LoadTracking(n=3), Streams(0, replicas))


def test_one_point_is_a_base_point_and_several_are_directions() -> None:
    oracle = oracle_of()
    oracle(np.ones((2, 3)))
    oracle(np.ones((2, 5, 3)))
    oracle(np.ones((2, 5, 3)), np.array([[True] * 5, [True, False, False, False, False]]))
    calls = oracle.account.ledger.sums.calls
    assert calls.keys() == {"base point", "directions"}
    assert calls["base point"].tolist() == [1, 1] and calls["directions"].tolist() == [10, 6]


def test_what_is_stated_counts_and_the_innermost_of_two() -> None:
    oracle = oracle_of()
    with oracle.purpose(Purpose.START):
        oracle(np.ones((2, 3)))
        with oracle.purpose([Purpose.LINE_SEARCH, Purpose.NOISE]):
            oracle(np.ones((2, 4, 3)))
        oracle(np.ones((2, 3)))
    oracle(np.ones((2, 3)))
    calls = oracle.account.ledger.sums.calls
    assert {name: count.tolist() for name, count in calls.items()} == {
        "start": [2, 2],
        "line search": [4, 0],
        "noise": [0, 4],
        "base point": [1, 1],
    }
    with pytest.raises(ZeroDivisionError), oracle.purpose(Purpose.POLISH):
        raise ZeroDivisionError
    oracle(np.ones((2, 3)))
    assert oracle.account.ledger.sums.calls["base point"].tolist() == [2, 2], "an exception ends a purpose"


class Holes(LoadTracking):
    """Values are missing where the first coordinate is negative."""

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        value = super().evaluate(x)
        return Evaluation(np.where(x[..., 0] < 0, np.nan, value.f), value.h)


def test_failed_calls_stand_under_their_purpose_too() -> None:
    oracle = oracle_of(Holes(n=3))
    points = np.ones((2, 4, 3))
    points[1, :3, 0] = -1.0
    with oracle.purpose(Purpose.DESIGN):
        oracle(points)
    calls, failed = oracle.account.ledger.sums
    assert calls["design"].tolist() == [4, 4] and failed["design"].tolist() == [0, 3]
    assert oracle.account.failures.tolist() == [0, 3]


def test_a_ledger_goes_on_from_a_snapshot() -> None:
    oracle, other = oracle_of(), oracle_of()
    oracle(np.ones((2, 3)))
    snapshot = oracle.snapshot()
    other.restore(snapshot)
    other(np.ones((2, 3)))
    assert other.account.ledger.sums.calls["base point"].tolist() == [2, 2]
    assert oracle.account.ledger.sums.calls["base point"].tolist() == [1, 1], "a snapshot is a copy"


def test_solvers_say_what_their_calls_are_for() -> None:
    noisy = LoadTracking(n=3, noise="independent", noise_scale=0.1)
    run = Run(noisy, ZOSQP(), replicas=2, calls=200)
    run.run()
    assert {"start", "noise", "design", "line search"} <= run.result.ledger.calls.keys()
    run = Run(LoadTracking(n=3), COBYLA(), replicas=2, calls=40)
    run.run()
    assert run.result.ledger.calls.keys() == {"peer's own"}
