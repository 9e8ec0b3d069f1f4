"""A library's optimiser that owns its loop, run as a coroutine that stops at the points that it wants next."""

from __future__ import annotations

import contextvars
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from zoviz.core.errors import ZovizError, described
from zoviz.core.types import Array, Evaluation


class Task(NamedTuple):
    """The task of one replica's library: box, start, number of constraints, noise contract and seed.

    Attributes
    ----------
    start, lower, upper : Array, shape (n,)
    m : int
    contract : str
        Noise contract of the oracle.
    seed : int
        For the library's own random generator.
    keeps_bounds : bool
        Whether no point outside the box may be asked for.
    """

    start: Array
    lower: Array
    upper: Array
    m: int
    contract: str
    seed: int
    keeps_bounds: bool = False

    def kept(self, x: Array) -> Array:
        """Return points (..., n), the nearest ones of the box where it may not be left."""
        return np.clip(x, self.lower, self.upper) if self.keeps_bounds else x


class Request(NamedTuple):
    """The points (q, n) that a library wants the values of, and its multipliers (m,) where it has new ones.

    Points None: it is thinking, in a process of its own, and others may go on before it is waited for.
    """

    points: Array | None
    dual: Array | None


class Ended(NamedTuple):
    """The end of a library by itself: its message, and its multipliers (m,) where it has some."""

    message: str
    dual: Array | None = None


class Standstill(Exception):
    """Raised to end a library that would ask for known points for ever; control flow, not an error."""


class Ask(Protocol):
    """A function through which a library's loop asks for values."""

    def __call__(self, points: Array | None, dual: Array | None = None) -> Evaluation:
        """Return the values f (q,) and h (q, m) at points (q, n); with None, wait for nothing."""
        ...


Play = Callable[[Task, Ask], Ended]
"""A library at work from the start to its own end."""


def _ask(points: Array | None, dual: Array | None = None) -> Evaluation:
    """Leave the library's stack until the values are there."""
    import greenlet

    request = Request(None if points is None else np.array(points, dtype=float), dual)
    return greenlet.getcurrent().parent.switch(request)


def _root() -> Any:
    """Return the greenlet of the present thread."""
    import greenlet

    here = greenlet.getcurrent()
    while here.parent is not None:
        here = here.parent
    return here


class LibraryRun:
    """A library's run for one replica, suspended where it asks for values.

    It runs in a stack of its own (a greenlet) of the thread that began it, and only while ``answer`` is being called.
    ``play`` must not refer to the library, so that one that is forgotten takes its stack with it.

    Attributes
    ----------
    points : Array, shape (q, n), or None
        Points to evaluate next, once ``settle`` has waited for them; None where the library has ended.
    dual : Array, shape (m,)
        The library's multipliers so far, NaN where it tells none.
    message : str
        How the library ended.
    error : Exception or None
        What the library raised.
    """

    def __init__(self, play: Play, task: Task) -> None:
        import greenlet

        self.points: Array | None = None
        self.dual = np.full(task.m, np.nan)
        self.message = ""
        self.error: Exception | None = None
        self._busy = False
        self._thread = _root()
        self._stack = greenlet.greenlet(play)
        # A stack of its own has a context of its own: without this, NumPy would warn of what the run has silenced.
        self._stack.gr_context = contextvars.copy_context()
        self._go(task, _ask)

    @property
    def here(self) -> bool:
        """Whether the present thread may go on with the library."""
        return bool(self._stack.dead) or self._thread is _root()

    def answer(self, value: Evaluation) -> None:
        """Give the library the values of the points that it asked for, f (q,) and h (q, m)."""
        self._go(value)

    def settle(self) -> None:
        """Wait until the library has asked for its next points or has ended."""
        while self._busy:
            self._go(None)

    def close(self) -> None:
        """End the library, by unwinding its stack."""
        if self.here and not self._stack.dead:
            self._stack.throw()
        self.points, self._busy = None, False

    def _go(self, *values: Any) -> None:
        import greenlet

        self._stack.parent = greenlet.getcurrent()
        try:
            request = self._stack.switch(*values)
        except Standstill as standstill:
            request = Ended(str(standstill))
        except Exception as error:  # another library may raise anything: it ends this replica, and the others go on
            self.error = error
            request = Ended(described(error))
        if request.dual is not None:
            self.dual = np.maximum(request.dual, 0.0)
        self.points = request.points if isinstance(request, Request) else None
        self._busy = isinstance(request, Request) and request.points is None
        self.message = "" if isinstance(request, Request) else request.message


class Record(NamedTuple):
    """The points of one step and their values: replica (N,), point (N, n), f (N,), h (N, m)."""

    replica: np.ndarray
    x: Array
    value: Evaluation


class History:
    """The values that the libraries were given since their start, from which they can be brought to the same state.

    States that follow one another share one growing list, of which each knows its own length; one that branches off
    takes a copy of its part.

    Attributes
    ----------
    start : Array, shape (R, n)
    seeds : ndarray of int, shape (R,)
    digest : bytes
        Of the start, the seeds and all records: equal for two histories that tell the libraries the same.
    """

    def __init__(
        self,
        start: Array,
        seeds: np.ndarray,
        records: list[Record] | None = None,
        length: int = 0,
        digest: bytes | None = None,
    ) -> None:
        self.start, self.seeds = start, seeds
        self._records: list[Record] = [] if records is None else records
        self._length = length
        self.digest = _digest(b"", start, seeds) if digest is None else digest

    def __len__(self) -> int:
        return self._length

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_records": self.records}

    @property
    def records(self) -> list[Record]:
        """The records, one per step, oldest first."""
        return self._records[: self._length]

    def extended(self, record: Record) -> History:
        """Return the history with the record of one more step."""
        records = self._records if len(self._records) == self._length else self.records
        records.append(record)
        digest = _digest(self.digest, record.replica, record.x, *record.value)
        return History(self.start, self.seeds, records, self._length + 1, digest)

    def replay(self, libraries: Sequence[LibraryRun]) -> None:
        """Bring fresh libraries to the state that this history led to, at no call.

        Raises
        ------
        ZovizError
            If a library asks for other points than the first time.
        """
        for replica, x, value in self.records:
            for r in np.unique(replica):
                mine, library = replica == r, libraries[r]
                if library.points is None or not np.array_equal(library.points, x[mine]):
                    raise ZovizError(
                        "Expected the library to ask for the same points again, got others: it is not deterministic, "
                        "so that its run cannot be repeated or forked. Start a new run."
                    )
                library.answer(Evaluation(value.f[mine], value.h[mine]))
            for library in libraries:
                library.settle()


def _digest(before: bytes, *arrays: np.ndarray) -> bytes:
    """Return a digest of the arrays' bytes after what ``before`` is a digest of."""
    digest = hashlib.blake2b(before, digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
