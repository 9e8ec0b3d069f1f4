"""Turns at the processor: fair between people, and no way to gain by absence, by many runs, or by commands."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.runs.engine.steering import Inbox
from zoviz.runs.turns import LONGEST, SLICE, Turns, TurnTaker
from zoviz.solvers import ZOCEG

LONG = 0.03125
"""Seconds of a turn that is over, exact in binary."""


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def taken(turns: Turns, takers: list[TurnTaker], clock: Clock, rounds: int) -> Counter[str]:
    """Turns that each person has had when every holder keeps its own for just a slice."""
    count: Counter[str] = Counter()
    for taker in takers:
        turns.enter(taker)
    for _ in range(rounds):
        (holder,) = [one for one in takers if one.turn.is_set()]
        count[holder.person] += 1
        clock.now += LONG
        assert turns.due(holder) == (len(takers) > 1)
        holder.turn.clear()
        turns.pass_on(holder)
    return count


def waiting(*people: str) -> tuple[Turns, Clock, list[TurnTaker]]:
    """One turn, and a run of each person: the first has it, the others wait for it."""
    clock = Clock()
    turns = Turns(1, clock)
    takers = [turns.observer(person) for person in people]
    for taker in takers:
        turns.enter(taker)
    return turns, clock, takers


def test_a_turn_is_over_after_its_slice() -> None:
    assert 0 < SLICE < LONG


def test_people_share_whatever_the_number_of_their_runs() -> None:
    clock = Clock()
    turns = Turns(1, clock)
    takers = [turns.observer(person) for person in ("ann", "ann", "ann", "bob")]
    assert taken(turns, takers, clock, 60) == {"ann": 30, "bob": 30}


def test_a_run_alone_keeps_its_turn() -> None:
    clock = Clock()
    turns = Turns(1, clock)
    assert taken(turns, [turns.observer("ann")], clock, 5) == {"ann": 5}


def test_who_comes_later_has_no_credit_for_it() -> None:
    clock = Clock()
    turns = Turns(1, clock)
    first = [turns.observer(person) for person in ("ann", "bob")]
    taken(turns, first, clock, 100)
    newcomer = turns.observer("eve")
    assert turns.seconds("eve") == 0.0
    turns.enter(newcomer)
    assert turns.seconds("eve") == 50 * LONG, "the least that the others have had, of 100 turns half"


def test_who_computed_alone_owes_nothing_to_those_who_come_while_they_pause() -> None:
    clock = Clock()
    turns = Turns(1, clock)
    ann, bob = turns.observer("ann"), turns.observer("bob")
    taken(turns, [ann], clock, 100)
    turns.give_back(ann, leave=True)
    ann.turn.clear()
    assert taken(turns, [bob], clock, 1) == {"bob": 1}, "nobody else is there"
    turns.give_back(bob, leave=False)
    bob.turn.clear()
    assert taken(turns, [ann, bob], clock, 10) == {"ann": 5, "bob": 5}


def test_a_turn_in_which_the_interpreter_was_held_by_something_else_is_not_charged_in_full() -> None:
    turns, clock, (ann, _) = waiting("ann", "bob")
    clock.now += 3.0
    turns.give_back(ann, leave=False)
    assert turns.seconds("ann") == LONGEST * SLICE


def test_time_is_shared_where_calls_cost_differently_and_long_turns_are_usual() -> None:
    turns, clock, (slow, quick) = waiting("slow", "quick")
    time = {"slow": 0.0, "quick": 0.0}
    for _ in range(2000):
        holder, cost = (slow, 1.0) if slow.turn.is_set() else (quick, LONG)
        clock.now += cost
        time[holder.person] += cost
        holder.turn.clear()
        turns.pass_on(holder)
    assert time["quick"] == pytest.approx(time["slow"], rel=0.4)


def test_as_many_compute_as_there_are_turns() -> None:
    turns = Turns(2, Clock())
    takers = [turns.observer(str(i)) for i in range(3)]
    for taker in takers:
        turns.enter(taker)
    assert [one.turn.is_set() for one in takers] == [True, True, False] and turns.crowded
    turns.give_back(takers[0], leave=True)
    assert takers[2].turn.is_set() and not turns.crowded


def test_a_granted_step_is_nothing_to_attend_to_and_a_change_is() -> None:
    inbox = Inbox()
    inbox.command("step", 3)
    assert inbox.waiting and not inbox.urgent
    inbox.post("primal_step", 0.1)
    assert inbox.urgent


def run_of(n: int = 6) -> Run:
    return Run(LoadTracking(n=n), ZOCEG(), replicas=1)


def test_one_person_with_five_runs_has_no_more_calls_than_another_with_one() -> None:
    """By a clock that counts calls, so that nothing depends on what else the machine does."""
    runs = [run_of() for _ in range(6)]
    turns = Turns(1, lambda: 1e-3 * sum(run.progress.calls for run in runs))
    for run, person in zip(runs, ["ann"] * 5 + ["bob"], strict=True):
        run.start(observers=[turns.observer(person)])
    try:
        until(lambda: runs[-1].progress.calls > 0)
        before = [run.progress.calls for run in runs]
        until(lambda: runs[-1].progress.calls > 3000)
        *ann, bob = (run.progress.calls - calls for run, calls in zip(runs, before, strict=True))
    finally:
        for run in runs:
            run.stop()
        for run in runs:
            run.wait(120)
    assert sum(ann) == pytest.approx(bob, rel=0.1), "without turns it is nearer to five"


def test_a_run_that_waits_is_stopped_steered_and_paused_at_once() -> None:
    turns = Turns(1)
    greedy = turns.observer("ann")
    turns.enter(greedy)  # and never passes it on
    run = run_of().start(observers=[turns.observer("bob")])
    run.pause()
    until(lambda: run.status == "paused")
    run.unpause()
    run.stop()
    run.wait(120)
    assert run.status == "stopped"
    turns.give_back(greedy, leave=True)
    after = run_of().start(observers=[turns.observer("eve")])
    until(lambda: after.progress.iteration > 3)
    after.stop()
    after.wait(120)
