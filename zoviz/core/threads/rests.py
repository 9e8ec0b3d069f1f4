"""Rests of runs between two steps, while a page is at work on what a person waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, TypeVar

LONGEST = 1.0
"""Seconds after which runs go on although a rest does: nothing on a page may hold them up for good."""

T = TypeVar("T")


class Rests:
    """What runs wait for between two steps: the pages of their process, while these are at work.

    Runs and the event loop share Python's interpreter. Each time the loop lets go of it, as it does in many array
    operations and for every message, it has it back only when the threads of the runs have had it: what keeps the
    processor busy for 8 ms takes 40 then. Runs lose no more by waiting for the loop than by sharing with it.

    After a rest runs work for as long as it was before the next begins: on a machine that is too slow for its pages,
    rests take half of their time and no more. That is counted for all runs together: where they take turns, each would
    else begin its own with a rest, and little would be left of the time between them.

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
        self.due = False
        self._began: float | None = None  # when the runs' present rest did; None while they work
        self._free_until, self._rested = clock(), 0.0

    def __enter__(self) -> None:
        with self._changed:
            self._threads.append(threading.get_ident())
            self._settle()

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._threads.remove(threading.get_ident())
            self._settle()
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait for the end of all rests, ``LONGEST`` at most; a thread does not wait for rests of its own."""
        with self._changed:
            self._settle()
            while self._began is not None and threading.get_ident() not in self._threads:
                self._changed.wait(self._began + LONGEST - self._clock())
                self._settle()

    def elsewhere(self) -> bool:
        """Return whether a thread other than the calling one has paused the runs."""
        with self._changed:
            return any(thread != threading.get_ident() for thread in self._threads)

    async def during(self, awaitable: Awaitable[T]) -> T:
        """Await something, with runs at rest while it is at work, and not while it waits for something itself."""
        answer: T = await _Work(self, awaitable)
        return answer

    def time(self) -> float:
        """Return seconds from any origin, without those of rests: what runs are charged where they take turns."""
        with self._changed:
            self._settle()
            return (self._clock() if self._began is None else self._began) - self._rested

    def _settle(self) -> None:
        now = self._clock()
        self.due = bool(self._threads)
        if self._began is not None and (not self.due or now >= self._began + LONGEST):
            length = min(now - self._began, LONGEST)
            self._free_until = self._began + 2 * length
            self._rested += length
            self._began = None
        if self.due and self._began is None and now >= self._free_until:
            self._began = now


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
