"""Turns at the processor: of many runs in one process so many compute at a time, in a fair order between people."""

from __future__ import annotations

import threading
from collections.abc import Callable

from zoviz.core.threads.rests import RESTS
from zoviz.runs.engine.worker import RunObserver, Worker

SLICE = 0.02
"""Seconds of a turn, after which it passes on where somebody waits: thirty people have one each in 0.6 s."""
_ATTENTION = 0.1
"""Seconds after which a run that waits for its turn looks whether a person has given it a command."""


class Turns:
    """A queue of runs for the processor: the next turn goes to the person who has had the least time so far.

    The time of a person is that of all their runs together, as long as they hold a turn. Who comes, or comes back from
    a pause, begins with the least time of those who are there: an absence is no credit. A turn ends between two steps
    only, and where nobody waits it lasts.

    Parameters
    ----------
    at_once : int
        Turns that may be held at the same time.
    clock : callable
        Seconds, from any origin; by default those in which runs do not rest, whoever's page they rest for.

    Notes
    -----
    Stride scheduling with the time used as the pass (Waldspurger and Weihl 1995); the rule for newcomers is that of
    Linux's CFS. At equal cost of a call, people's calls differ by a slice's worth; where costs differ it is time that
    is shared, so that nobody waits for the calls of a slow simulator.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = RESTS.time) -> None:
        self._at_once, self._clock = at_once, clock
        self._lock = threading.Lock()  # over all below; ``crowded`` is read without it
        self._used: dict[str, float] = {}
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
                others = {one.person for one in self._present} - {taker.person}
                if len(others) and taker.person not in {one.person for one in self._present}:
                    least = min(map(self._time, others))
                    self._used[taker.person] = max(self._used.get(taker.person, 0.0), least)
                self._present.append(taker)
            self._waiting.append(taker)
            self._pass_on()

    def due(self, taker: TurnTaker) -> bool:
        """Return whether a run is to give its turn back: its slice is over and somebody waits."""
        return self.crowded and self._clock() - self._since[taker] >= SLICE

    def give_back(self, taker: TurnTaker, leave: bool) -> None:
        """End a run's turn, or its waiting for one; one that leaves competes no longer."""
        with self._lock:
            if taker in self._waiting:
                self._waiting.remove(taker)
            since = self._since.pop(taker, None)
            if since is not None:
                self._used[taker.person] = self._used.get(taker.person, 0.0) + self._clock() - since
            if leave and taker in self._present:
                self._present.remove(taker)
            self._pass_on()

    def _time(self, person: str) -> float:
        now = self._clock()
        held = sum(now - since for taker, since in self._since.items() if taker.person == person)
        return self._used.get(person, 0.0) + held

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
    """

    _worker: Worker  # from the run's start on

    def __init__(self, turns: Turns, person: str) -> None:
        self._turns, self.person, self.turn = turns, person, threading.Event()

    def started(self, worker: Worker) -> None:
        """Receive the worker."""
        self._worker = worker

    def began(self) -> None:
        """Wait for the first turn."""
        self._wait()

    def stepped(self) -> None:
        """Pass the turn on where it is time to, and wait for the next."""
        if not self.turn.is_set():
            self._wait()
        elif self._turns.due(self):
            self._end(leave=False)
            self._wait()

    def paused(self) -> None:
        """Leave the others alone; the first step after the pause waits for a turn when it is done."""
        self._end(leave=True)

    def ended(self, status: str, message: str) -> str:
        """Leave the others alone."""
        self._end(leave=True)
        return ""

    def _wait(self) -> None:
        self._turns.enter(self)
        while not self.turn.wait(_ATTENTION):
            if self._worker.inbox.urgent:
                return self._end(leave=False)

    def _end(self, leave: bool) -> None:
        self._turns.give_back(self, leave)
        self.turn.clear()
