"""Who computes a problem's values: the calls of each worker and their durations, what is under way, and what waits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class WorkerRow(NamedTuple):
    """What one worker has done.

    Attributes
    ----------
    worker : str
        Its name: a number, or of an executor's worker its machine, process and thread.
    calls : int
        Calls that it has ended.
    seconds : float
        That these took.
    now : float or None
        Seconds of the call that it makes now; None where it makes none, or an executor does not say.
    """

    worker: str
    calls: int
    seconds: float
    now: float | None = None


class WorkerTable(NamedTuple):
    """The workers of a run at one moment; printed, it is a table.

    Attributes
    ----------
    rows : tuple of WorkerRow
        The workers that have begun a call.
    total : int or None
        All workers; None for an executor, which alone knows.
    under_way : int
        Calls that workers make now; of an executor all that it has been given.
    longest : float
        Seconds since the first of them began.
    queued : int
        Calls that no worker has begun.
    """

    rows: tuple[WorkerRow, ...] = ()
    total: int | None = 1
    under_way: int = 0
    longest: float = 0.0
    queued: int = 0

    @property
    def sentence(self) -> str:
        """How many workers are busy, for how long, and what waits; empty where there is one worker, or nothing yet."""
        if self.total == 1 or not (self.under_way or self.rows):
            return ""
        longest = f" (longest {self.longest:,.0f} s)" if self.under_way else ""
        if self.total is None:
            return f"{self.under_way} calls submitted{longest}"
        return f"{self.under_way} of {self.total} workers busy{longest}, {self.queued} calls queued"

    def cells(self) -> list[tuple[str, str, str, str]]:
        """Return the table as text: worker, calls, seconds, and seconds of the call under way; longest first."""
        order = sorted(self.rows, key=lambda row: -row.seconds)
        return [
            (row.worker, f"{row.calls:,}", f"{row.seconds:,.1f}", "" if row.now is None else f"{row.now:,.1f}")
            for row in order
        ]

    def __str__(self) -> str:
        lines = [("worker", "calls", "seconds", "now"), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([*table, self.sentence] if self.under_way else table)


class WorkerLog:
    """The log of a problem's workers. The thread of a run writes it, any thread reads it.

    Parameters
    ----------
    count : int, optional
        Their number; None: an executor's.

    Attributes
    ----------
    queued : int
        Calls that no worker has begun.
    """

    def __init__(self, count: int | None = None) -> None:
        self._count, self.queued = count, 0
        self._rows: dict[str, WorkerRow] = {}
        self._under_way: dict[int, tuple[str, float]] = {}  # the calls' workers and beginnings

    def begin(self, number: int, worker: str) -> None:
        """Note that a worker begins a call; an executor's has no name yet."""
        self._under_way[number] = worker, time.monotonic()

    def end(self, number: int, worker: str = "", seconds: float | None = None) -> None:
        """Note that a call has ended: by whom and after how long, where its worker says so itself."""
        known, begun = self._under_way[number]
        name = worker or known
        row = self._rows.get(name, WorkerRow(name, 0, 0.0))
        more = time.monotonic() - begun if seconds is None else seconds
        self._rows[name] = WorkerRow(name, row.calls + 1, row.seconds + more)
        del self._under_way[number]  # last: a reader would miss the call in between

    def lose(self, numbers: Iterable[int]) -> None:
        """Forget the beginnings of calls whose workers are gone."""
        for number in numbers:
            self._under_way.pop(number, None)

    def clear(self) -> None:
        """Forget what is under way and what waits; what has ended stays."""
        self.lose(tuple(self._under_way))
        self.queued = 0

    @property
    def table(self) -> WorkerTable:
        """The workers at this moment."""
        under_way, rows, now = self._under_way.copy(), self._rows.copy(), time.monotonic()
        for worker, begun in under_way.values():
            if worker:
                rows[worker] = rows.get(worker, WorkerRow(worker, 0, 0.0))._replace(now=now - begun)
        longest = max((now - begun for _, begun in under_way.values()), default=0.0)
        return WorkerTable(tuple(rows.values()), self._count, len(under_way), longest, self.queued)

    def snapshot(self) -> dict[str, list[float]]:
        """Return calls and seconds by worker."""
        return {row.worker: [row.calls, row.seconds] for row in self._rows.values()}

    def restore(self, snapshot: Mapping[str, Iterable[float]]) -> None:
        """Go on from a snapshot."""
        self._rows = rows_of(snapshot)


def rows_of(snapshot: Mapping[str, Iterable[float]]) -> dict[str, WorkerRow]:
    """Return the rows of a log's snapshot by worker."""
    return {name: WorkerRow(name, int(calls), float(seconds)) for name, (calls, seconds) in snapshot.items()}
