"""Writes a run into a store while it goes on, from a thread of its own: the solver never waits for the disk."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, delete, insert, update

from zoviz.runs import ledgers
from zoviz.runs.course import Place, news
from zoviz.runs.database import Database
from zoviz.runs.recipe import describe
from zoviz.runs.tables import JOURNAL, RECIPES, RUNS, SEGMENTS, SNAPSHOTS, sealed
from zoviz.runs.worker import Worker
from zoviz.types import ZovizError

_REST, _ANSWER = 0.7, 0.2
"""Shares of the interval: between two requests for the worker's state, and for its answer, before the rest is written
without it; what is left is for writing."""

_SHARE = 50.0
"""A state is not asked for before so many times its own cost has gone by: recording takes at most 2% of the worker."""


class Recorder:
    """Stores what a worker does: once an interval, all that is new in one transaction.

    Between two steps the worker hands over its state when it is asked to (``look``), which costs a test of a flag
    otherwise. Trouble with the store never ends a run: it is told in the worker's notes, and what could not be
    written is tried again at the next interval, so that nothing is lost if the disk has room again.

    Parameters
    ----------
    database : Database
    run : str
        Its id.
    worker : Worker
    interval : float
        Seconds.
    take : callable
        Returns what goes into the snapshots, by kind, from a worker between two steps.
    own : bool
        Whether the database was opened for this run alone, and is to be closed with it.
    """

    def __init__(
        self,
        database: Database,
        run: str,
        worker: Worker,
        interval: float,
        take: Callable[[Worker], dict[str, bytes]],
        own: bool = False,
    ) -> None:
        self._database, self._run, self._interval, self._take_from = database, run, interval, take
        self._worker, self._own = worker, own
        self._first: dict[str, dict[str, Any]] | None = None
        self._places = {"trace": Place(), "path": Place()}
        self._changes, self._resolved = 0, False
        self._wanted, self._next = False, 0.0
        self._taken: tuple[int, dict[str, bytes]] | None = None
        self._answered, self._ending = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._note = self._trouble = ""

    def begin(self, first: dict[str, dict[str, Any]], again: bool) -> None:
        """Enter the run, and go on recording from a thread of its own.

        Parameters
        ----------
        first : dict
            Columns of the run's rows in ``runs`` and ``recipes``.
        again : bool
            Whether the run is in the store and goes on; its course is then written anew from what the worker has.
        """
        self._changes = len(self._worker.journal)
        self._first = {"again": first["runs"]} if again else first
        self._flush()
        self._thread = threading.Thread(target=self._go_on, name="zoviz-recorder", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Called by the worker after every step."""
        if self._wanted:
            self._take()

    def hold(self) -> None:
        """Called by the worker when it pauses: its state is not going to change for a while."""
        self._take()

    def end(self, status: str) -> str:
        """Called by the worker last of all: write what is left; a sentence where that failed, else empty."""
        self._ending.set()
        self._answered.set()
        if self._thread is not None:
            self._thread.join()
        if self._worker.state is not None:
            self._take()
        self._flush((status, self._worker.message))
        if self._own:
            self._database.close()
        return self._note

    def _take(self) -> None:
        """The worker's thread: snapshots of a state between two steps."""
        started = time.perf_counter()
        self._wanted = False
        worker = self._worker
        try:
            self._taken = worker.iteration, self._take_from(worker)
            self._trouble = ""
        except Exception as error:  # whatever it is, the run goes on, and says so
            self._trouble = f"Its state could not be stored ({type(error).__name__}: {error})."
        now = time.perf_counter()
        self._next = now + _SHARE * (now - started)
        self._answered.set()

    def _go_on(self) -> None:
        while not self._ending.wait(_REST * self._interval):
            self._answered.clear()
            self._wanted = self._worker.state is not None and time.perf_counter() >= self._next
            if self._wanted:
                self._answered.wait(_ANSWER * self._interval)
            self._flush()

    def _flush(self, outcome: tuple[str, str] | None = None) -> None:
        """Write all that is new in one transaction; on failure it stays new."""
        taken, started = self._taken, self._first
        try:
            with self._database.writing() as connection:
                places, changes, resolved = self._write(connection, taken, outcome)
        except Exception as error:  # likewise
            reason = str(error) if isinstance(error, ZovizError) else f"{type(error).__name__}: {error}"
            self._say(f"Storing failed: {reason}")
            return
        self._places, self._changes, self._resolved = places, changes, resolved
        if self._first is started:
            self._first = None
        if self._taken is taken:
            self._taken = None
        self._say(self._trouble)

    def _write(self, connection: Connection, taken: Any, outcome: Any) -> tuple[dict[str, Place], int, bool]:
        worker, run = self._worker, self._run
        self._enter(connection)
        places = dict(self._places)
        for kind, trace in (("trace", worker.trace), ("path", worker.path)):
            fresh = news(kind, trace, places[kind])
            if fresh is not None:
                if fresh.replace:
                    connection.execute(delete(SEGMENTS).where(SEGMENTS.c.run == run, SEGMENTS.c.kind == kind))
                connection.execute(insert(SEGMENTS).values(run=run, **fresh.values))
                places[kind] = fresh.place
        changes = self._write_journal(connection, outcome is not None)
        if taken is not None:
            iteration, snapshots = taken
            for kind, data in snapshots.items():
                connection.execute(delete(SNAPSHOTS).where(SNAPSHOTS.c.run == run, SNAPSHOTS.c.kind == kind))
                row = {"run": run, "kind": kind, "iteration": iteration, **sealed(data)}
                connection.execute(insert(SNAPSHOTS).values(row))
        resolved = self._resolved or worker.state is not None
        if resolved and not self._resolved:
            text = json.dumps(describe(dict(worker.resolved)))
            connection.execute(update(RECIPES).where(RECIPES.c.run == run).values(resolved=text))
        values = ledgers.figures(worker, outcome)
        if not connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values)).rowcount:
            raise ZovizError(f"Expected the run {run[:8]} in the store, got none: it was deleted for good.")
        return places, changes, resolved

    def _enter(self, connection: Connection) -> None:
        """The run's first rows, where they are not there yet."""
        if self._first is None:
            return
        if "again" in self._first:
            connection.execute(update(RUNS).where(RUNS.c.id == self._run).values(**self._first["again"]))
            connection.execute(delete(SEGMENTS).where(SEGMENTS.c.run == self._run))
            return
        connection.execute(insert(RUNS).values(id=self._run, **self._first["runs"]))
        connection.execute(insert(RECIPES).values(run=self._run, **self._first["recipes"]))

    def _write_journal(self, connection: Connection, last: bool) -> int:
        """New changes; those that a resumed run makes again take their former places."""
        fresh = list(self._worker.journal)[self._changes :]
        place = self._changes + len(fresh)
        if fresh or last:
            mine = (JOURNAL.c.run == self._run, JOURNAL.c.number >= self._changes)
            bound = () if last else (JOURNAL.c.number < place,)
            connection.execute(delete(JOURNAL).where(*mine, *bound))
        for number, change in enumerate(fresh, start=self._changes):
            row = change._asdict() | {"old": ledgers.text(change.old), "new": ledgers.text(change.new)}
            connection.execute(insert(JOURNAL).values(run=self._run, number=number, **row))
        return place

    def _say(self, note: str) -> None:
        """Keep the one note on the store up to date."""
        notes = self._worker.notes
        if note != self._note:
            notes[:] = [one for one in notes if one != self._note] + [note] * bool(note)
            self._note = note
