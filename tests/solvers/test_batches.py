"""Loops that ask for values: steps, forks and resumed runs in mid-iteration, and states that stay as they are."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from zoviz.core.encoding.binary import pack, unpack
from zoviz.core.errors import BudgetSpent
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle, Purpose
from zoviz.problems import BlackBox
from zoviz.solvers.batches import ANEW, Course, Loop, Loops, Turn
from zoviz.solvers.replica_batches import evaluate_each

PURPOSES = {"start": Purpose.START, "look around": Purpose.DIRECTIONS, "trial": Purpose.LINE_SEARCH}


@dataclass
class Walk:
    """Steps towards the lower of two neighbours, each tried at half the length until it gains."""

    x: Array
    value: float
    length: float = 1.0
    rounds: int = 0

    def loop(self) -> Loop:
        while self.rounds < 4:
            length = yield ANEW
            sides = self.x + length * np.array([[-1.0], [1.0]])
            values = yield "look around", sides
            side = int(np.argmin(values[:, 0]))
            point = self.x
            for part in (1.0, 0.5, 0.25):
                yield
                point = self.x + part * (sides[side] - self.x)
                values = yield "trial", point[None]
                self.length = part
                if values[0, 0] < self.value:
                    self.x, self.value = point, float(values[0, 0])
                    break
            self.rounds += 1


CLASSES = {one.__name__: one for one in (Course, Turn)}


class Walker:
    """Loops on a black box of one variable, (x - 3)^2 where |x - 3| > 0.4."""

    def __init__(self, calls: int = 100, replicas: int = 2) -> None:
        problem = BlackBox(lambda x: float((x[0] - 3.0) ** 2), x0=[0.0], scaled=False)
        self.loops, self.oracle = Loops(), Oracle(problem, Streams(0, replicas), {"calls": calls})
        self.begun: list[Walk] = []
        self.asked: list[Array] = []

    def begin(self, memory: Any) -> Loop:
        self.begun.append(memory)
        loop: Loop = memory.loop()
        return loop

    def start(self) -> list[Course]:
        x = np.zeros((self.oracle.calls.size, 1))
        value = self.oracle(x)
        return self.loops.begin(
            [Walk(one, float(f)) for one, f in zip(x, value.f, strict=True)], self.begin, x, "start"
        )

    def step(self, courses: list[Course], contexts: list[float | None] | None = None) -> list[Course]:
        def evaluate(points: list[Array]) -> Array:
            self.asked += points
            whole = [own.reshape(len(own), 1) for own in points]
            return evaluate_each(self.oracle, whole, np.zeros((len(points), 1))).value.stacked

        contexts = [1.0] * len(courses) if contexts is None else contexts
        return self.loops.step(courses, contexts, self.begin, self.oracle, PURPOSES, evaluate)


def assert_same(one: list[Course], two: list[Course]) -> None:
    assert pack([course._asdict() for course in one]) == pack([course._asdict() for course in two])


def courses(steps: int) -> Iterator[list[Course]]:
    walker = Walker()
    state = walker.start()
    yield state
    for _ in range(steps):
        state = walker.step(state)
        yield state


def test_a_step_serves_one_batch_of_every_replica_and_begins_no_loop_twice() -> None:
    walker = Walker()
    state = walker.start()
    purposes = []
    while not state[0].over:
        before = walker.oracle.calls[0]
        state = walker.step(state)
        purposes.append(state[0].purpose)
        assert walker.oracle.calls[0] - before == len(state[0].probes)
    assert purposes == ["look around", "trial"] * 3 + ["look around", "trial", "trial", "trial"]
    assert len(walker.begun) == 2 and state[0].now.x[0] == 3.0 and state[0].calls == walker.oracle.calls[0]


def test_a_state_holds_the_memory_at_the_iterations_beginning_and_the_steps_since() -> None:
    states = list(courses(4))
    assert [len(state[0].turns) for state in states] == [0, 1, 0, 1, 0]
    assert states[2][0].base is states[2][0].now and states[3][0].base is states[2][0].base
    assert states[3][0].turns[0].values.shape == (2, 1)


@pytest.mark.parametrize("steps", range(10))
def test_a_fork_and_a_stored_state_go_on_as_the_course_itself(steps: int) -> None:
    whole = list(courses(10))
    stored = unpack(pack(whole[steps]), CLASSES)
    for state in (whole[steps], stored):
        other = Walker()
        for expected in whole[steps + 1 :]:
            state = other.step(state)
            assert_same(state, expected)
        assert len(other.begun) == 2 * (steps < 10)


def test_two_steps_from_one_state_are_the_same_and_leave_it_as_it_was() -> None:
    walker = Walker()
    state = walker.step(walker.start())
    kept = pack([course._asdict() for course in state])
    assert_same(walker.step(state), walker.step(state))
    assert pack([course._asdict() for course in state]) == kept
    assert_same(walker.step(copy.copy(state)), walker.step(state))


def test_a_step_that_is_broken_off_is_taken_again() -> None:
    walker = Walker(calls=3)
    state = walker.step(walker.start())
    with pytest.raises(BudgetSpent):
        walker.step(state)
    assert_same(Walker().step(state), list(courses(2))[-1])


def test_a_replica_without_a_context_is_held_and_the_others_go_on() -> None:
    walker = Walker()
    state = walker.start()
    after = walker.step(state, [None, 0.5])
    assert after[0] is state[0] and after[1].turns[0].context == 0.5
    assert [len(points) for points in walker.asked] == [0, 2]
    np.testing.assert_array_equal(after[1].probes, [[-0.5], [0.5]])


def test_forgotten_loops_are_begun_again_where_they_stood() -> None:
    walker, expected = Walker(), list(courses(2))[-1]
    state = walker.step(walker.start())
    walker.loops.close()
    assert_same(walker.step(state), expected)
