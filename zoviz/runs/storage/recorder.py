"""The recorder: writes a run into a store from a thread of its own, so that the solver never waits for the disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from zoviz.core.encoding.binary import pack
from zoviz.core.errors import described
from zoviz.runs.engine.evaluation_log import Entry
from zoviz.runs.engine.observer import RunObserver
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.engine.worker import Worker
from zoviz.runs.storage import rows, writer
from zoviz.runs.storage.database import Database
from zoviz.runs.storage.writer import Progress

_REST, _ANSWER = 0.7, 0.2
"""Fractions of the checkpoint interval: idle time, then the longest wait for the worker's snapshot; the rest is for
writing."""

_SHARE = 50.0
"""No state is requested before this multiple of its cost has gone by: recording takes at most 2% of the worker."""

_SHARE_OF_ALL = 20.0
"""Nor is anything written, but a change or a pause, before this multiple of what writing costs times the number of runs
that are recorded has gone by: all runs of a process together take a twentieth of a processor. One run's interval is
not touched by that; of thirty runs at once each is written every few seconds."""
_LONGEST = rows.SILENCE / 3
"""Seconds of such a pause at most: a run from which nothing comes counts as interrupted."""


class Recorder(RunObserver):
    """An observer that stores a run: once an interval, and at a change or a pause, all that is new in one transaction.

    Between two steps the worker hands over its state when it is asked to (``stepped``), which costs a test of a flag
    otherwise. An error of the store never ends a run: it is said, and what could not be written is tried again at
    the next interval, so that nothing is lost if the disk has room again.

    Parameters
    ----------
    database : Database
    run : str
        Its id.
    spec : RunSpec
        What the run began with.
    evaluation_count : int or None
        Evaluations that are kept of a run that is in the store and goes on; its course is then written anew from what
        the worker has.
    interval : float
        Seconds.
    each : bool
        Whether an evaluation is to be on disk before the next begins.
    own : bool
        Whether the database was opened for this run alone, and is to be closed with it.
    owner : str
        The person whose run it is; empty where the store has no owners.

    Attributes
    ----------
    storage_message : str
        The present error of the store as a sentence; else empty.
    """

    _worker: Worker  # from the run's start on

    def __init__(
        self,
        database: Database,
        run: str,
        spec: RunSpec,
        evaluation_count: int | None,
        interval: float,
        each: bool,
        own: bool,
        owner: str = "",
    ) -> None:
        self._database, self._run, self._spec, self._evaluation_count = database, run, spec, evaluation_count
        self._interval, self._each, self._own, self._owner = interval, each, own, owner
        self._first: dict[str, dict[str, Any]] | None = None
        self._again = False
        self._progress = Progress()
        self._state_due, self._next = False, 0.0
        self._snapshots: tuple[int, dict[str, bytes]] | None = None
        self._entries: list[tuple[int, Entry]] = []
        self._answered, self._ending, self._waking = threading.Event(), threading.Event(), threading.Event()
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self._state_error = self.storage_message = ""

    def started(self, worker: Worker) -> None:
        """Insert the run's rows, and start the writing thread.

        Raises
        ------
        StoreError
            Where the run is to go on, and is at work elsewhere.
        """
        self._worker, evaluation_count = worker, self._evaluation_count
        self._first, self._again = rows.first(self._run, self._spec, self._owner), evaluation_count is not None
        if evaluation_count is None and worker.state is not None:
            self._take()  # of a fork: should it be killed soon, nothing is paid again
        if evaluation_count is not None:
            self._progress = Progress(changes=len(worker.journal))
            with self._database.writing() as connection:
                writer.claim(connection, self._run, self._first, evaluation_count)
        self._database.recorded.add(self._run)  # only now: a claim may be refused, and such a run has no end
        self._flush()
        self._thread = threading.Thread(target=self._go_on, name="zoviz-recorder", daemon=True)
        self._thread.start()

    def examined(self) -> None:
        """Write what the examination of the black box found, whose calls are not made again by a run that goes on."""
        if self._worker.answering is not None:
            self._snapshots = 0, {"examination": pack(self._worker.answering.examination())}
            self._flush()

    def stepped(self) -> None:
        """Hand over the worker's state to the writing thread, if that has asked for it."""
        if self._state_due:
            self._take()

    def paused(self) -> None:
        """Hand over the worker's state to the writing thread, and have it written at once."""
        self._take()
        self._waking.set()

    def keep(self, ordinal: int, entry: Entry) -> None:
        """Take a finished evaluation of a logged run, before the next one begins."""
        self._entries.append((ordinal, entry))
        if self._first is not None or not self._each:
            return
        if len(self._worker.journal) > self._progress.changes:
            self._flush()  # a change without which the run would not ask for this point
        else:
            self._attempt(lambda connection: writer.write_entries(connection, self._run, self._entries))

    def changed(self) -> None:
        """Have the change written at once; wait for that where nothing that was paid for may be lost."""
        if self._each:
            self._flush()
        else:
            self._waking.set()

    def ended(self, status: RunStatus, message: str) -> str:
        """Write what the store has not got yet; return a sentence where that failed, else an empty one."""
        self._ending.set()
        self._answered.set()
        self._waking.set()
        if self._thread is not None:
            self._thread.join()
        if self._worker.has_result:
            self._take()
        self._flush((status, message))
        self._database.recorded.discard(self._run)
        if self._own:
            self._database.close()
        return self.storage_message

    def _take(self) -> None:
        """Take snapshots of a state between two steps, in the worker's thread."""
        started = time.perf_counter()
        self._state_due = False
        try:
            # One assignment of a finished tuple: the writing thread reads it whole, or the one before.
            self._snapshots = self._worker.iteration, rows.snapshots(self._worker)
            self._state_error = ""
        except Exception as error:  # whatever it is, the run goes on, and says so
            self._state_error = f"Its state could not be stored: {described(error)}"
        now = time.perf_counter()
        self._next = now + _SHARE * (now - started)
        self._answered.set()

    def _go_on(self) -> None:
        due = time.perf_counter() + _REST * self._interval
        while True:
            # A change or a pause, which a person has seen on the page, does not wait for the end of the interval.
            self._waking.wait(max(0.0, due - time.perf_counter()))
            self._waking.clear()
            if self._ending.is_set():
                return
            is_due = time.perf_counter() >= due
            if is_due:
                self._ask_for_state()
            begun = time.thread_time()
            self._flush()
            if is_due:
                pause = _SHARE_OF_ALL * len(self._database.recorded) * (time.thread_time() - begun)
                due = time.perf_counter() + max(_REST * self._interval, min(pause, _LONGEST))

    def _ask_for_state(self) -> None:
        """Wait a while for the worker to hand over its state, unless the last one was handed over too recently."""
        self._answered.clear()
        # The worker sees this flag after its step, takes the snapshot and sets ``_answered``.
        self._state_due = self._worker.state is not None and time.perf_counter() >= self._next
        if self._state_due:
            self._answered.wait(_ANSWER * self._interval)

    def _flush(self, outcome: tuple[str, str] | None = None) -> None:
        """Write all that is new in one transaction; on failure it stays new."""
        snapshots, written = self._snapshots, []

        def write(connection: Connection) -> int:
            if self._first is not None:
                writer.enter(connection, self._run, self._first, self._again)
            # Before the journal is read: a change is stored no later than the evaluations that it has led to.
            count = writer.write_entries(connection, self._run, self._entries)
            written.append(writer.write(connection, self._run, self._worker, self._progress, snapshots, outcome))
            return count

        def settle() -> None:
            self._progress, self._first = written[0], None
            if self._snapshots is snapshots:
                self._snapshots = None

        self._attempt(write, settle)

    def _attempt(self, write: Callable[[Connection], int], settle: Callable[[], object] | None = None) -> None:
        """Run ``write`` in a transaction, then drop as many logged evaluations as it says."""
        with self._turn:
            try:
                with self._database.writing() as connection:
                    count = write(connection)
            except Exception as error:  # likewise
                self.storage_message = f"Storing failed: {described(error)}"
                return
            del self._entries[:count]
            if settle is not None:
                settle()
            self.storage_message = self._state_error
