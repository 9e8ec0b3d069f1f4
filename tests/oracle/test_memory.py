"""The memory of values: a point that repeats to the bit is not paid for again where values are deterministic."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from helpers.minimizing import Diary
from zoviz import AskTell, Run, minimize
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle, Purpose
from zoviz.oracle.memory import Memory
from zoviz.problems import BlackBox
from zoviz.runs.engine.checkpoint import restore, snapshot
from zoviz.solvers import ZOBCEG, SZOConEX

BOX = [(0.0, 2.0)] * 3


def bowl(x: Array) -> float:
    return float(((x - 0.3) ** 2 * np.arange(1, 4)).sum())


def half(x: Array) -> Array:
    return np.array([0.5 - x[0], x[1] - 1.5])


def repeated(diary: Diary) -> int:
    """Return how many of the diary's calls were made at a point of an earlier one."""
    return sum(count - 1 for count in Counter(x.tobytes() for x in diary.points).values())


@pytest.mark.parametrize("method", ["auto", "SZOConEX", "ALSPG", "ZOBCEG", "ZOSPLM", "COBYLA", "SLSQP", "ZOSQP"])
def test_no_method_pays_twice_for_a_point(method: str) -> None:
    diary = Diary(bowl)
    result = minimize(
        diary, [1.0] * 3, bounds=BOX, constraints=half, method=method, max_calls=300, noise="deterministic"
    )
    assert result.calls == len(diary.points) and repeated(diary) == 0


def test_under_noise_and_off_the_memory_every_call_is_made() -> None:
    problem, x = BlackBox(bowl, half, bounds=BOX, noise="deterministic"), np.full((2, 3, 3), 0.7)
    for own, remembers, calls in (("independent", True, 3), ("deterministic", False, 3)):
        problem.noise = own
        oracle = Oracle(problem, Streams(0, 2), remembers=remembers)
        oracle(x)
        assert oracle.calls.tolist() == [calls] * 2


def test_known_points_are_given_at_no_call_and_noise_is_asked_for_all_the_same() -> None:
    diary = Diary(bowl)
    oracle = Oracle(BlackBox(diary, half, bounds=BOX, m=2), Streams(0, 2), budgets={"calls": 3}, remembers=True)
    x = np.random.default_rng(0).uniform(0, 2, (2, 2, 3))
    first = oracle(x)
    again = oracle(x)
    np.testing.assert_array_equal(first.f, again.f)
    np.testing.assert_array_equal(first.h, again.h)
    np.testing.assert_array_equal(oracle(x[:, 0]).f, first.f[:, 0])
    assert oracle.calls.tolist() == [2, 2] and oracle.recalled.tolist() == [3, 3] and len(diary.points) == 4
    with oracle.purpose(Purpose.NOISE):
        oracle(x[:, 0])
    assert oracle.calls.tolist() == [3, 3] and oracle.idle.tolist() == [0, 0] and len(diary.points) == 6


def test_the_points_asked_for_longest_ago_are_dropped() -> None:
    memory, mask = Memory(1, 40000, 0, lasting=True), np.ones((1, 1), dtype=bool)
    points = [np.full((1, 1, 40000), float(i)) for i in range(20)]
    for i, x in enumerate(points):
        memory.enter(x, Evaluation(np.full((1, 1), float(i)), np.empty((1, 1, 0))), mask)
        memory.recall(points[0], mask)
    known = [bool(memory.recall(x, mask)[0]) for x in points]
    assert known == [True] + [False] * 4 + [True] * 15
    other = Memory(1, 40000, 0, lasting=True)
    other.restore(memory.snapshot())
    assert other.recall(points[19], mask)[1].item() == 19.0 and not other.recall(points[1], mask)[0].any()


def test_a_resumed_run_remembers() -> None:
    spec: dict[str, Any] = {"replicas": 2, "calls": 200}
    whole = Run(BlackBox(bowl, half, bounds=BOX, noise="deterministic"), SZOConEX(), **spec)
    data: list[tuple[bytes | None, int]] = []
    whole.run(lambda: data.append((snapshot(whole.worker), whole.progress.calls)))
    middle = data[len(data) // 2]
    worker = Run(BlackBox(bowl, half, bounds=BOX, noise="deterministic"), SZOConEX(), **spec).prepare()
    restore(worker, middle[0])
    worker.work()
    np.testing.assert_array_equal(worker.result.x, whole.result.x)
    assert worker.result.calls.tolist() == whole.result.calls.tolist() and worker.oracle.recalled.sum() > 0


def test_a_session_asks_for_what_a_run_asks_for() -> None:
    diary = Diary(bowl)
    run = Run(
        BlackBox(diary, half, bounds=BOX, x0=[1.0] * 3, noise="deterministic"), SZOConEX(), calls=100, replicas=1
    ).run()
    session = AskTell(solver=SZOConEX(), bounds=BOX, x0=[1.0] * 3, m=2, calls=100, noise="deterministic")
    told = list[Array]()
    while not session.done:
        batch = session.ask()
        told.extend(batch.x)
        session.tell(batch, [bowl(x) for x in batch.x], np.array([half(x) for x in batch.x]))
    np.testing.assert_array_equal(np.array(told), np.array(diary.points))
    np.testing.assert_array_equal(session.result.x, run.x)


def test_a_method_that_stands_still_is_ended_with_a_sentence() -> None:
    """At a corner where nothing moves any more, differences ask for the same points for ever."""
    problem = BlackBox(lambda x: float(x.sum()), bounds=[(0.0, 1.0)], noise="deterministic")
    result = Run(problem, ZOBCEG(), calls=5000, replicas=1).run()
    assert result.status == "finished" and result.calls.item() < 500 and result.best_fun.item() == 0.0
    assert "The method requests only points whose values are known." in result.message


@pytest.mark.parametrize("solver", ["SlackAL", "ZOCEG", "ZOSPLM", "CMAES", "COBYLA"])
def test_bounds_that_fix_every_variable_end_a_run_at_once(solver: str) -> None:
    """However long a step takes: all is known after one call."""
    calls = []
    problem = BlackBox(
        lambda x: (calls.append(x), float(x @ x))[1], bounds=[(0.5, 0.5)], x0=[0.5], noise="deterministic"
    )
    if solver in {"SlackAL"}:
        pytest.importorskip("botorch")
    run = Run(problem, solver, replicas=1, calls=7)
    run.run()
    assert len(calls) == 1 and run.progress.iteration < 5


def test_a_small_budget_is_not_waited_for_longer_than_ten_times_its_calls() -> None:
    oracle = Oracle(
        BlackBox(lambda x: float(x @ x), bounds=[(0, 1)], noise="deterministic"),
        Streams(0, 1),
        {"calls": 30},
        remembers=True,
    )
    oracle(np.full((1, 1), 0.5))
    for count, over in ((300, False), (301, True)):
        while int(oracle.idle[0]) < count:
            oracle(np.full((1, 1), 0.5))
        assert oracle.stands_still is over
