"""Turns at the processor: how many of a process's runs compute at a time, in a fair order between people."""

from __future__ import annotations

import threading
from collections.abc import Callable

from zoviz.core.threads.rests import RESTS
from zoviz.runs.engine.observer import RunObserver
from zoviz.runs.engine.worker import Worker

SLICE = 0.02
"""Seconds of a turn, after which it passes on where somebody waits: thirty people have one each in 0.6 s."""
LONGEST = 5
"""Turns of usual length that one is charged for at most: one of 20 ms in which the interpreter was held by something
else for seconds, the collection of garbage say, would else cost a person among thirty a minute."""
_WEIGHT = 0.1
"""Of a run's latest turn in the usual length of its turns."""
_ATTENTION = 0.1
"""Seconds after which a run that waits for its turn looks whether a person has given it a command."""


class Turns:
    """A queue of runs for the processor: the next turn goes to the person who has had the least time so far.

    The time of a person is that of all their runs together, as long as they hold a turn. Who comes, or comes back from
    a pause, begins with the least time of those who are there, or of those who were there last: an absence is no
    credit, and time that somebody had alone is no debt. A turn ends between two steps only, and where nobody waits it
    lasts.

    Parameters
    ----------
    at_once : int
        Turns that may be held at the same time.
    clock : callable
        Seconds, from any origin; by default those in which runs do not rest, whoever's page they rest for.

    Notes
    -----
    Stride scheduling with the time used as the pass (Waldspurger and Weihl 1995); the rule for newcomers is that of
    Linux's CFS: the least time of those present never falls, also while nobody is. At equal cost of a call, people's
    calls differ by a slice's worth; where costs differ it is time that is shared, so that nobody waits for the calls of
    a slow simulator. A turn far longer than is usual for the run is charged as one of ``LONGEST`` usual ones.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = RESTS.time) -> None:
        self._at_once, self._clock = at_once, clock
        self._lock = threading.Lock()  # over all below; ``crowded`` is read without it
        self._used: dict[str, float] = {}
        self._least = 0.0  # time of those present
        self._present: list[TurnTaker] = []
        self._waiting: list[TurnTaker] = []
        self._since: dict[TurnTaker, float] = {}
        self.crowded = False

    def observer(self, person: str) -> TurnTaker:
        """Return the observer that has one run of a person's take turns."""
        return TurnTaker(self, person)

    def seconds(self, person: str) -> float:
        """Return the time that a person's runs have had so far, or were set ahead by."""
        with self._lock:
            return self._time(person)

    def enter(self, taker: TurnTaker) -> None:
        """Have a run wait for a turn; its event is set when it has one."""
        with self._lock:
            if taker not in self._present:
                self._raise_least()
                if taker.person not in {one.person for one in self._present}:
                    self._used[taker.person] = max(self._used.get(taker.person, 0.0), self._least)
                self._present.append(taker)
            self._waiting.append(taker)
            self._pass_on()

    def due(self, taker: TurnTaker) -> bool:
        """Return whether a run is to give its turn back: its slice is over and somebody waits."""
        return self.crowded and self._clock() - self._since[taker] >= SLICE

    def pass_on(self, taker: TurnTaker) -> None:
        """End a turn and wait for the next: it comes at once where the person has still had the least time."""
        with self._lock:
            self._end(taker)
            self._waiting.append(taker)
            self._pass_on()

    def give_back(self, taker: TurnTaker, leave: bool) -> None:
        """End a run's turn, or its waiting for one; one that leaves competes no longer."""
        with self._lock:
            if taker in self._waiting:
                self._waiting.remove(taker)
            if taker in self._since:
                self._end(taker)
            if leave and taker in self._present:
                self._raise_least()
                self._present.remove(taker)
            self._pass_on()

    def _end(self, taker: TurnTaker) -> None:
        length = self._charge(taker)
        del self._since[taker]
        self._used[taker.person] = self._used.get(taker.person, 0.0) + length
        taker.usual += _WEIGHT * (length - taker.usual)

    def _raise_least(self) -> None:
        times = [self._time(taker.person) for taker in self._present]
        self._least = max(self._least, min(times, default=0.0))

    def _time(self, person: str) -> float:
        held = sum(self._charge(taker) for taker in self._since if taker.person == person)
        return self._used.get(person, 0.0) + held

    def _charge(self, taker: TurnTaker) -> float:
        return min(self._clock() - self._since[taker], LONGEST * taker.usual)

    def _pass_on(self) -> None:
        while self._waiting and len(self._since) < self._at_once:
            taker = min(self._waiting, key=lambda one: self._time(one.person))  # of equal ones who waits longest
            self._waiting.remove(taker)
            self._since[taker] = self._clock()
            taker.turn.set()
        self.crowded = bool(self._waiting)


class TurnTaker(RunObserver):
    """An observer that holds a run between two steps until it is its turn; a person's command is attended to meanwhile.

    Parameters
    ----------
    turns : Turns
    person : str
        Whose run it is.

    Attributes
    ----------
    turn : threading.Event
        Set while the run has a turn.
    usual : float
        Seconds that its turns are charged for, on average over the latest.
    """

    _worker: Worker  # from the run's start on

    def __init__(self, turns: Turns, person: str) -> None:
        self._turns, self.person, self.turn = turns, person, threading.Event()
        self.usual = SLICE

    def started(self, worker: Worker) -> None:
        self._worker = worker

    def began(self) -> None:
        """Wait for the first turn."""
        self._enter()

    def stepped(self) -> None:
        """Pass the turn on where it is time to, and wait for the next."""
        if not self.turn.is_set():
            self._enter()
        elif self._turns.due(self):
            self.turn.clear()  # first: the next may begin at once
            self._turns.pass_on(self)
            self._wait()

    def paused(self) -> None:
        """Give the turn back; the first step after the pause waits for a new one when it is done."""
        self._end(leave=True)

    def ended(self, status: str, message: str) -> str:
        """End a run's turns, so that the other runs share its time."""
        self._end(leave=True)
        return ""

    def _enter(self) -> None:
        self._turns.enter(self)
        self._wait()

    def _wait(self) -> None:
        while not self.turn.wait(_ATTENTION):
            if self._worker.inbox.urgent:
                return self._end(leave=False)

    def _end(self, leave: bool) -> None:
        self._turns.give_back(self, leave)
        self.turn.clear()
