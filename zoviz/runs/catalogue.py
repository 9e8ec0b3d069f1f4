"""The list of a store's runs, and what is done to its lines."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, update

from zoviz.runs.storage import queries
from zoviz.runs.storage.database import Database
from zoviz.runs.storage.queries import Filter, Record
from zoviz.runs.storage.schema import RUNS


class Catalogue:
    """Finds, annotates, deletes; ``Store`` adds what makes runs of the lines.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self.database = database

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
        """The runs for which all that is given holds; no more of the store is read than what is listed.

        Parameters
        ----------
        status : str, optional
            running, paused, finished, stopped, failed or interrupted.
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
        which = Filter(status, problem, solver, tag, text, study, parent, deleted)
        with self.database.reading() as connection:
            return queries.runs(connection, which, sort, limit, offset)

    def count(self, **which: Any) -> int:
        """How many runs ``runs`` would list.

        Parameters
        ----------
        which
            Fields of ``Filter``, as for ``runs``.
        """
        with self.database.reading() as connection:
            return queries.count(connection, Filter(**which))

    def record(self, id: str) -> Record | None:
        """The line of the run with this id, a whole one; None where there is no such run."""
        with self.database.reading() as connection:
            return queries.one(connection, id)

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

    def delete(self, ids: Iterable[str]) -> None:
        """Put runs aside; ``restore`` brings them back, ``purge`` ends them."""
        self._mark(ids, time.time())

    def restore(self, ids: Iterable[str]) -> None:
        """Bring deleted runs back."""
        self._mark(ids, None)

    def purge(self) -> int:
        """Remove the deleted runs for good, but those that are still at work; how many."""
        with self.database.writing() as connection:
            gone = queries.runs(connection, Filter(deleted=True), "id", None, 0)
            ids = [one.id for one in gone if not one.status.active]
            for run in ids:
                connection.execute(delete(RUNS).where(RUNS.c.id == run))
        return len(ids)

    def _mark(self, ids: Iterable[str], when: float | None) -> None:
        with self.database.writing() as connection:
            for run in [self._find(connection, one) for one in ([ids] if isinstance(ids, str) else ids)]:
                connection.execute(update(RUNS).where(RUNS.c.id == run).values(deleted=when))

    def _find(self, connection: Connection, id: str) -> str:
        return queries.find(connection, id, self.database.name)
