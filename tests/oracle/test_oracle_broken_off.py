"""A request that is broken off: what was evaluated of it by then is charged and entered, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz.core.errors import TimeSpent
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle, Purpose
from zoviz.oracle.value_source import FoundValues
from zoviz.problems import BlackBox
from zoviz.runs.engine.evaluation_log import Log, LoggedValues


def limited(function: Callable[[Array], float], most: int, error: BaseException) -> Callable[[Array], float]:
    """The function, which raises instead of the call after the most."""
    calls: list[Array] = []

    def call(x: Array) -> float:
        if len(calls) == most:
            raise error
        calls.append(x)
        return function(x)

    return call


def square(x: Array) -> float:
    return float(x @ x)


def batch(replicas: int) -> Array:
    """Six probes of each replica, ever nearer to the origin."""
    lengths = np.linspace(0.9, 0.1, 6 * replicas).reshape(6, replicas).T
    return np.repeat(lengths[..., None], 2, axis=2)


@pytest.mark.parametrize("logged", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError("no licence"), KeyboardInterrupt()])
def test_values_found_before_an_error_are_charged_and_entered(
    error: BaseException, replicas: int, logged: bool
) -> None:
    box = BlackBox(limited(square, 4, error), bounds=[(-1, 1)] * 2, x0=[0.5, 0.5], m=0)
    seen: list[Array] = []
    oracle = Oracle(
        box,
        Streams(0, replicas),
        {"calls": 100},
        source=LoggedValues(box, Log()) if logged else None,
        listeners=[lambda x, value: seen.extend(x)],
    )
    points = batch(replicas)
    with oracle.purpose(Purpose.LINE_SEARCH), pytest.raises(type(error)) as raised:
        oracle(points)
    assert raised.value is error
    flat = points.reshape(-1, 2)[:4]
    assert oracle.calls.sum() == 4 and np.array_equal(np.array(seen), flat)
    assert oracle.calls.tolist() == [4] if replicas == 1 else [4, 0]
    assert oracle.best.f[0] == square(flat[3]) and np.array_equal(oracle.best.x[0], flat[3])
    assert oracle.account.ledger.sums is not None and oracle.account.ledger.sums.calls["line search"].sum() == 4


def test_time_that_ends_in_a_batch_ends_it_after_the_call_in_progress_but_not_after_the_last() -> None:
    calls: list[Array] = []

    def proceed() -> None:
        if len(calls) >= 6:
            raise TimeSpent("The budget of 1 s is spent.")

    def function(x: Array) -> float:
        calls.append(x)
        return square(x)

    box = BlackBox(function, bounds=[(-1, 1)] * 2, x0=[0.5, 0.5], m=0)
    oracle = Oracle(box, Streams(0, 1), proceed=proceed)
    assert oracle(batch(1)).f.shape == (1, 6), "whole, although no time is left after it"
    with pytest.raises(TimeSpent, match="1 s"):
        oracle(batch(1)[:, 0])
    assert len(calls) == 6 == oracle.calls
    calls.clear()
    calls.extend(batch(1)[0, :3])
    with pytest.raises(TimeSpent):
        oracle(batch(1))
    assert len(calls) == 6 and oracle.calls == 9


def test_no_stage_takes_the_end_of_time_for_its_own_limit() -> None:
    def proceed() -> None:
        raise TimeSpent("The budget of 1 s is spent.")

    box = BlackBox(square, bounds=[(-1, 1)] * 2, x0=[0.5, 0.5], m=0)
    oracle = Oracle(box, Streams(0, 1), {"calls": 50}, proceed=proceed)
    with pytest.raises(TimeSpent), oracle.stage(np.array([20.0]), np.array([True])):
        oracle(batch(1))
    assert oracle.calls == 0


def test_where_nothing_was_found_nothing_is_charged() -> None:
    box = BlackBox(limited(square, 0, RuntimeError("no licence")), bounds=[(-1, 1)] * 2, x0=[0.5, 0.5], m=0)
    oracle = Oracle(box, Streams(0, 1))
    with pytest.raises(RuntimeError, match="no licence"):
        oracle(batch(1))
    assert oracle.calls == 0 and np.isinf(oracle.best.f).all()


def test_values_are_placed_among_the_points_that_were_due() -> None:
    found = FoundValues(3, 1, None)
    assert not found
    found.enter(2, Evaluation(np.array(7.0), np.array([-1.0])))
    found.enter(0, Evaluation(np.array(5.0), np.array([2.0])))
    due = np.array([[True, False], [True, True]])
    value, where = found.placed(due)
    assert where.tolist() == [[True, False], [False, True]]
    assert np.array_equal(value.f, [[5.0, np.nan], [np.nan, 7.0]], equal_nan=True)
    assert value.h.shape == (2, 2, 1) and value.h[1, 1, 0] == -1.0
