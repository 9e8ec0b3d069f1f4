"""The runs at work in one process, whose they are, and how many and how large they may be."""

from __future__ import annotations

import time
from typing import NamedTuple
from weakref import ref

import psutil

from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.runs.turns import Turns

_PAUSE = 0.02
"""Seconds between two looks whether interrupted runs have ended."""


class Refused(ZovizError):
    """A run that a server does not take at the moment, or not of this size; the sentence says why and what to do."""


class Limits(NamedTuple):
    """The limits of a process that several people use; None is unlimited.

    Attributes
    ----------
    runs_per_person, runs : int, optional
        Runs at once, paused ones too: of one person, and in all.
    variables, replicas : int, optional
        Size of a run.
    memory : float, optional
        GiB that the process may hold before further runs are refused.
    """

    runs_per_person: int | None = None
    runs: int | None = None
    variables: int | None = None
    replicas: int | None = None
    memory: float | None = None

    def refusal(self, problem: Problem) -> str:
        """Return the sentence on a problem that is too large; empty for one that is not.

        Nothing is built for it: of a problem whose size follows from its data only, nothing is said before they are
        there.
        """
        if self.variables is None or not (problem.prepared or "n" in problem.param):
            return ""
        return self._refusal(problem.domain.n if problem.prepared else problem.n)

    def check(self, run: Run) -> None:
        """Raise for a run that is too large.

        Raises
        ------
        Refused
            Where it has too many replicas or variables.
        """
        if self.replicas is not None and run.replicas > self.replicas:
            raise Refused(_too_many("replicas", run.replicas, self.replicas))
        # First without building anything.
        if self.variables is not None and (reason := self.refusal(run.problem) or self._refusal(run.problem.domain.n)):
            raise Refused(reason)

    def _refusal(self, n: int) -> str:
        return "" if self.variables is None or n <= self.variables else _too_many("variables", n, self.variables)


UNLIMITED = Limits()
"""The limits of a process that one person uses."""


class LiveRuns:
    """The runs at work in one process by id, whichever page began them.

    A run is held by its own thread while it is at work: here it is not, since no page may be left that would remove it
    once it has ended.

    Parameters
    ----------
    limits : Limits
        By default none.
    turns : Turns, optional
        The order in which the runs compute; by default all do at once, and Python shares the processor between threads.

    Attributes
    ----------
    closing : bool
        Whether the process is about to end, and takes no more runs.
    """

    def __init__(self, limits: Limits = UNLIMITED, turns: Turns | None = None) -> None:
        self.limits, self._turns, self.closing = limits, turns, False
        self._runs: dict[str, tuple[ref[Run], str]] = {}

    def __len__(self) -> int:
        return len(self._at_work())

    def start(self, run: Run, person: str = "", pause_at: int | None = None) -> None:
        """Start a run, where the limits let it, and add it.

        Parameters
        ----------
        run : Run
        person : str
            Whose it is.
        pause_at : int, optional
            Pause at this iteration.

        Raises
        ------
        Refused
            Where a limit is reached.
        """
        self._admit(run, person)
        run.start(pause_at=pause_at, observers=[] if self._turns is None else [self._turns.observer(person)])
        self.add(run, person)

    def add(self, run: Run, person: str = "") -> None:
        """Add a run that was started elsewhere, so that other pages find it."""
        self._runs.setdefault(run.id, (ref(run), person))

    def remove(self, run: Run) -> None:
        """Remove a run that has ended."""
        self._runs.pop(run.id, None)

    def get(self, id: str) -> Run | None:
        """Return the run of this id; None where this process has none at work."""
        return next((run for run, _ in self._at_work() if run.id == id), None)

    def interrupt(self, seconds: float) -> list[Run]:
        """Take no more runs, interrupt those at work, and return those still in a step after ``seconds``.

        What is in a store then goes on from its last step with ``resume``; a run that is still in a step, from its last
        checkpoint.
        """
        self.closing, end = True, time.monotonic() + seconds
        runs = [run for run, _ in self._at_work()]
        for run in runs:
            run.interrupt()
        while any(run.active for run in runs) and time.monotonic() < end:
            time.sleep(_PAUSE)
        return [run for run in runs if run.active]

    def _at_work(self) -> list[tuple[Run, str]]:
        """Return the runs that have not ended; the others are forgotten."""
        pairs = [(at_work(), person) for at_work, person in list(self._runs.values())]
        runs = [(run, person) for run, person in pairs if run is not None and run.active]
        self._runs = {run.id: (ref(run), person) for run, person in runs}
        return runs

    def _admit(self, run: Run, person: str) -> None:
        if self.closing:
            raise Refused("This server is about to end: start the run again once it is back.")
        limits, runs = self.limits, self._at_work()
        own = sum(whose == person for _, whose in runs)
        if limits.runs_per_person is not None and own >= limits.runs_per_person:
            raise Refused(
                f"Expected at most {_count(limits.runs_per_person)} of one person at once on this server, got one more:"
                " Stop one of yours first."
            )
        if limits.runs is not None and len(runs) >= limits.runs:
            raise Refused(
                f"Expected at most {_count(limits.runs)} at once on this server, got one more: try again in a while."
            )
        limits.check(run)
        held = psutil.Process().memory_info().rss / 2**30
        if limits.memory is not None and held > limits.memory:
            raise Refused(
                f"Expected a server that holds at most {limits.memory:g} GiB of memory, got {held:.2f} GiB in use: try "
                "again when other runs have ended."
            )


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs:,} runs"


def _too_many(what: str, number: int, limit: int) -> str:
    advice = "ask for fewer, or use a machine of your own"
    return f"Expected at most {limit:,} {what} on this server, got {number:,}: {advice}."
