"""The store: runs in a database, every value that was paid for, and all that is needed to resume."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, select, update

from zoviz.core import defaults
from zoviz.runs.storage import integrity, queries, studies
from zoviz.runs.storage.database import Database, StoreError
from zoviz.runs.storage.queries import Filter, Record
from zoviz.runs.storage.schema import RUNS
from zoviz.runs.storage.studies import StudyRecord
from zoviz.runs.stored_run import StoredRun

_DAY = 86400.0
"""Seconds."""


class Store:
    """A store of runs, in an SQLite file or in a PostgreSQL database that a team shares.

    Any number of processes may write at once. A run of which the process is gone is listed as interrupted.

    Parameters
    ----------
    url : str
        ``sqlite:///zoviz.db``, or ``postgresql://user@host/name`` (needs the extra "postgres").
    trusted : iterable of str
        Names ``module:object`` (or ``module``, for all that it defines) of your own functions and classes that stored
        runs may be rebuilt from. Nothing else is imported because a row of the store names it.
    own : bool
        Whether runs need no such trust that this user has begun himself on this machine, from the folder that he works
        in now: a key in his folder for settings has signed them (``signature.key_file``).
    create : bool
        Whether a store is to be made where there is none.
    owner : str, optional
        A person: only runs of theirs are listed, found and changed, and new ones become theirs. Default: everybody's.

    Raises
    ------
    StoreError
        Where there is no store to be opened: the sentence says why. It is a ``NoStore``, and a ``ValueError``, where
        there is none and ``create`` is False.

    Examples
    --------
    >>> from zoviz import Run, Store
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOCEG
    >>> with Store("sqlite:///zoviz.db") as store:
    ...     run = Run(LoadTracking(), ZOCEG(), replicas=1, iterations=50, store=store)
    ...     result = run.run()
    ...     bool(store.load(run.id).result.fun == result.fun)
    True
    """

    def __init__(
        self,
        url: str = defaults.STORE_URL,
        *,
        trusted: Iterable[str] = (),
        own: bool = True,
        create: bool = True,
        owner: str | None = None,
    ) -> None:
        self.trusted, self.own, self.owner = tuple(trusted), own, owner
        self.database = Database(url, create)

    def __repr__(self) -> str:
        return f"<store {self.database.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self.url, self.trusted, self.own, self.owner)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def of_owner(self, owner: str) -> Store:
        """Return this store, with the same connections, as one person's.

        Parameters
        ----------
        owner : str
            Only runs of this person are listed, found and changed; new ones become theirs.
        """
        store = Store.__new__(Store)  # not a copy, which would be a store with connections of its own
        store.trusted, store.own, store.owner, store.database = self.trusted, self.own, owner, self.database
        return store

    @property
    def url(self) -> str:
        """The store's URL for another process, whatever its folder; with the password, if there is one."""
        url = self.database.url
        if self.database.sqlite:
            url = url.set(database=os.path.abspath(str(url.database)))
        return url.render_as_string(hide_password=False)

    def close(self) -> None:
        """Close the idle connections; the store can be used again."""
        self.database.close()

    def load(self, id: str) -> StoredRun:
        """Load a run, which can resume, replay, fork and export itself.

        Parameters
        ----------
        id : str
            Its id, or as much of its beginning as no other run shares.

        Raises
        ------
        StoreError
            For no such run, or several.
        """
        with self.database.reading() as connection:
            return StoredRun(self, connection, self._find(connection, id))

    def runs(
        self,
        *,
        status: str | None = None,
        problem: str | None = None,
        solver: str | None = None,
        tag: str | None = None,
        text: str | None = None,
        study: str | None = None,
        parent: str | None = None,
        deleted: bool = False,
        sort: str = "-created",
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Record]:
        """Return the records that pass a filter; no more of the store is read than what is listed.

        Parameters
        ----------
        status : str, optional
            running, paused, finished, diverged, stopped, failed or interrupted.
        problem, solver, tag, study, parent : str, optional
        text : str, optional
            To be found in labels, notes, tags, problems, solvers, messages, studies or ids, in either case.
        deleted : bool
            List the deleted ones instead.
        sort : str
            A field of ``Record``, after "-" from large to small.
        limit, offset : int, optional
            A page of the list.
        """
        which = Filter(status, problem, solver, tag, text, study, parent, deleted, self.owner)
        with self.database.reading() as connection:
            return queries.runs(connection, which, sort, limit, offset)

    def count(self, **which: Any) -> int:
        """Return how many runs ``runs`` would list.

        Parameters
        ----------
        which
            Fields of ``Filter``, as for ``runs``.
        """
        with self.database.reading() as connection:
            return queries.count(connection, Filter(**which | {"owner": self.owner}))

    def record(self, id: str) -> Record | None:
        """Return the record of the run with this whole id; None where there is no such run."""
        with self.database.reading() as connection:
            return queries.one(connection, id, self.owner)

    def annotate(
        self, id: str, *, label: str | None = None, notes: str | None = None, tags: Iterable[str] | None = None
    ) -> None:
        """Set a run's label, notes or tags; what is None stays."""
        values = {name: value for name, value in (("label", label), ("notes", notes)) if value is not None}
        if tags is not None:
            values["tags"] = queries.spell_tags(tuple(tags))
        with self.database.writing() as connection:
            run = self._find(connection, id)
            if values:
                connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values))

    def studies(self) -> list[StudyRecord]:
        """Return the records of all studies that were run with this store, the last that was at work first."""
        with self.database.reading() as connection:
            return studies.listed(connection, self.owner or "")

    def study(self, name: str) -> StudyRecord | None:
        """Return the record of the study with this name; None where there is none."""
        with self.database.reading() as connection:
            return next(iter(studies.listed(connection, self.owner or "", name)), None)

    def begin_study(self, name: str, definition: dict[str, Any]) -> None:
        """Write what a study consists of, and that this process is at work on it."""
        with self.database.writing() as connection:
            studies.begin(connection, name, definition, self.owner or "")

    def end_study(self, name: str) -> None:
        """Write that this process has left a study."""
        with self.database.writing() as connection:
            studies.end(connection, name, self.owner or "")

    def delete(self, ids: Iterable[str]) -> None:
        """Hide runs from the list; ``restore`` brings them back, ``purge`` removes them for good."""
        self._mark(ids, time.time())

    def restore(self, ids: Iterable[str]) -> None:
        """Bring deleted runs back."""
        self._mark(ids, None)

    def purgeable(self, ids: Iterable[str] | None = None, older_than: float | None = None) -> list[Record]:
        """Return the runs that ``purge`` would remove.

        Parameters
        ----------
        ids : iterable of str, optional
            Of deleted runs; default: all of them.
        older_than : float, optional
            Days since they were deleted, at least.

        Raises
        ------
        StoreError
            For no such run, several, or one that is not deleted.
        """
        with self.database.reading() as connection:
            return self._purgeable(connection, ids, older_than)

    def purge(self, ids: Iterable[str] | None = None, older_than: float | None = None) -> list[Record]:
        """Remove deleted runs for good, except those at work; return what was removed.

        A file keeps its size: new runs use the room.

        Parameters
        ----------
        ids, older_than
            As for ``purgeable``.
        """
        with self.database.writing() as connection:
            records = self._purgeable(connection, ids, older_than)
            for record in records:
                connection.execute(delete(RUNS).where(RUNS.c.id == record.id))
        return records

    def _purgeable(self, connection: Connection, ids: Iterable[str] | None, older_than: float | None) -> list[Record]:
        which = Filter(deleted=True, owner=self.owner)
        deleted = {one.id: one for one in queries.runs(connection, which, "created", None, 0)}
        ids_to_purge = list(deleted) if ids is None else [self._find(connection, id) for id in dict.fromkeys(ids)]
        for id in ids_to_purge:
            if id not in deleted:
                raise StoreError(f"Expected a deleted run, got {id[:8]}, which is not: delete it first.")
        if older_than is not None:
            latest = time.time() - older_than * _DAY
            old = set(connection.scalars(select(RUNS.c.id).where(RUNS.c.deleted <= latest)))
            ids_to_purge = [id for id in ids_to_purge if id in old]
        return [deleted[id] for id in ids_to_purge if not deleted[id].status.active]

    def check(self) -> list[str]:
        """Return all faults, one sentence each: damage to the file, rows of no run, wrong checksums.

        Every byte is read; nothing is changed.
        """
        return integrity.check(self.database)

    def _mark(self, ids: Iterable[str], when: float | None) -> None:
        with self.database.writing() as connection:
            for run in [self._find(connection, one) for one in ([ids] if isinstance(ids, str) else ids)]:
                connection.execute(update(RUNS).where(RUNS.c.id == run).values(deleted=when))

    def _find(self, connection: Connection, id: str) -> str:
        return queries.find(connection, id, self.database.name, self.owner)


def _open(url: str, trusted: tuple[str, ...], own: bool, owner: str | None = None) -> Store:
    return Store(url, trusted=trusted, own=own, owner=owner)
