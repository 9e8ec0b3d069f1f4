"""Rests of runs between two steps, while a page is at work on what a person waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, TypeVar

LONGEST = 1.0
"""Seconds after which a run takes a step although a rest goes on: nothing on a page may hold it up for good."""

T = TypeVar("T")


class Rests:
    """What runs wait for between two steps: the pages of their process, while these are at work.

    Runs and the event loop share Python's interpreter. Each time the loop lets go of it, as it does in many array
    operations and for every message, it has it back only when the threads of the runs have had it: what keeps the
    processor busy for 8 ms takes 40 then. Runs lose no more by waiting for the loop than by sharing with it.

    A run that has waited works for as long before it waits again: on a machine that is too slow for its pages, rests
    take half of a run's time and no more.

    ``with rests:`` has all runs of the process rest, ``during`` for as long as what is awaited is at work.

    Parameters
    ----------
    clock : callable
        Seconds, from any origin.

    Attributes
    ----------
    due : bool
        Whether runs are to wait; read without the lock at each of their steps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._changed = clock, threading.Condition()
        self._threads: list[int] = []  # one entry for each rest that is not over
        self._own = threading.local()  # until when the thread of a run works in any case
        self._until, self.due = clock(), False
        self._began, self._rested = 0.0, 0.0

    def __enter__(self) -> None:
        with self._changed:
            self._threads.append(threading.get_ident())
            self._settle()

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._threads.remove(threading.get_ident())
            self._settle()
            self._changed.notify_all()

    def rest(self, seconds: float) -> None:
        """Have runs rest for so many seconds from now on, for what others than the caller do."""
        with self._changed:
            self._until = max(self._until, self._clock() + seconds)
            self._settle()

    def wait(self) -> None:
        """Wait for the end of all rests, ``LONGEST`` at most; a thread does not wait for rests of its own."""
        start = self._clock()
        if start < getattr(self._own, "until", start):
            return
        with self._changed:
            end = start + LONGEST
            while self.due and threading.get_ident() not in self._threads and (now := self._clock()) < end:
                self._changed.wait((end if self._threads else min(self._until, end)) - now)
                self._settle()
            now = self._clock()
            self._own.until = now + (now - start)

    async def during(self, awaitable: Awaitable[T]) -> T:
        """Await something, with runs at rest while it is at work, and not while it waits for something itself."""
        answer: T = await _Work(self, awaitable)
        return answer

    def time(self) -> float:
        """Return seconds from any origin, without those of rests: what runs are charged where they take turns."""
        with self._changed:
            self._settle()
            return (self._began if self.due else self._clock()) - self._rested

    def _settle(self) -> None:
        now = self._clock()
        due = bool(self._threads) or now < self._until
        if due and not self.due:
            self._began = now
        elif self.due and not due:
            self._rested += now - self._began
        self.due = due


class _Work:
    """An awaitable that has runs rest from each time it is resumed until it waits again."""

    def __init__(self, rests: Rests, awaitable: Awaitable[Any]) -> None:
        self._rests, self._awaitable = rests, awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        work: Any = self._awaitable.__await__()
        resume = partial(work.send, None)
        while True:
            try:
                with self._rests:
                    future = resume()
            except StopIteration as end:
                return end.value
            try:
                resume = partial(work.send, (yield future))
            except BaseException as error:  # it was cancelled, say: that is for the work to deal with
                resume = partial(work.throw, error)


RESTS = Rests()
"""Those of this process, whose threads share one interpreter."""
