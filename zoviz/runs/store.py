"""Where runs are kept: every value that was paid for, and all that is needed to go on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import delete, select, update

from zoviz.problems.base import Problem
from zoviz.runs import again, listing
from zoviz.runs.database import Database, StoreError
from zoviz.runs.listing import Filter, Record
from zoviz.runs.run import Run
from zoviz.runs.stored import Stored
from zoviz.runs.tables import RUNS
from zoviz.solvers.base import Solver


class Store:
    """Runs in a file of SQLite's, or in a PostgreSQL database that a team shares.

    Any number of processes may write at once. A run of which the process is gone is listed as interrupted.

    Parameters
    ----------
    url : str
        ``sqlite:///zoviz.db``, or ``postgresql://user@host/name`` (needs the extra "postgres").
    trusted : iterable of str
        Names ``module:object`` (or ``module``, for all that it defines) of your own functions and classes that stored
        runs may be rebuilt from. Nothing else is imported because a row of the store names it.

    Raises
    ------
    StoreError
        Where there is no store to be opened: the sentence says why.

    Examples
    --------
    >>> from zoviz import Run, Store
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOCEG
    >>> store = Store("sqlite:///zoviz.db")                                           # doctest: +SKIP
    >>> run = Run(problem=LoadTracking(), solver=ZOCEG(), iterations=50, store=store) # doctest: +SKIP
    >>> run.run(); store.load(run.id).result.fun                                      # doctest: +SKIP
    """

    def __init__(self, url: str = "sqlite:///zoviz.db", *, trusted: Iterable[str] = ()) -> None:
        self.trusted = tuple(trusted)
        self.database = Database(url)

    def __repr__(self) -> str:
        return f"<store {self.database.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self.url, self.trusted)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where it is, for another process; with the password, if there is one."""
        return self.database.url.render_as_string(hide_password=False)

    def close(self) -> None:
        """Close the idle connections; the store can be used again."""
        self.database.close()

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
            return listing.runs(connection, which, sort, limit, offset)

    def count(
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
    ) -> int:
        """How many runs ``runs`` would list."""
        with self.database.reading() as connection:
            return listing.count(connection, Filter(status, problem, solver, tag, text, study, parent, deleted))

    def load(self, id: str) -> Stored:
        """All that is known of a run.

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
            return Stored(connection, self._find(connection, id), self.trusted)

    def replay(self, id: str, *, problem: Problem | None = None, solver: Solver | None = None) -> Run:
        """A new run that repeats a stored one bit for bit, its steering included, and ends where it ended.

        Parameters
        ----------
        id : str
        problem, solver : optional
            For a run whose functions have no name by which they could be imported: the objects themselves.
        """
        source = self.load(id).around(problem, solver)
        return Run(**again.replayed(source) | {"parent": source.id, "store": self})

    def fork(
        self,
        id: str,
        at: int | None = None,
        changes: Mapping[str, Any] | None = None,
        *,
        problem: Problem | None = None,
        solver: Solver | None = None,
        **settings: Any,
    ) -> Run:
        """A new run that repeats a stored one up to iteration ``at``, then goes on with the same random numbers.

        Parameters
        ----------
        id : str
        at : int, optional
            Default: the last iteration that is stored.
        changes : mapping, optional
            Live parameters to set at ``at``.
        problem, solver : optional
            As for ``replay``.
        settings
            Parameters of the new ``Run``, e.g. budgets.
        """
        source = self.load(id).around(problem, solver)
        return Run(**again.forked(source, at, changes, {"parent": source.id, "store": self} | settings))

    def annotate(
        self, id: str, *, label: str | None = None, notes: str | None = None, tags: Iterable[str] | None = None
    ) -> None:
        """Set a run's label, notes or tags; what is None stays."""
        values = {name: value for name, value in (("label", label), ("notes", notes)) if value is not None}
        if tags is not None:
            values["tags"] = listing.spell_tags(tuple(tags))
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
            gone = listing.runs(connection, Filter(deleted=True), "id", None, 0)
            ids = [one.id for one in gone if one.status not in listing.ACTIVE]
            for run in ids:
                connection.execute(delete(RUNS).where(RUNS.c.id == run))
        return len(ids)

    def _mark(self, ids: Iterable[str], when: float | None) -> None:
        with self.database.writing() as connection:
            for run in [self._find(connection, one) for one in ([ids] if isinstance(ids, str) else ids)]:
                connection.execute(update(RUNS).where(RUNS.c.id == run).values(deleted=when))

    def _find(self, connection: Any, id: str) -> str:
        """The whole id of a run from its beginning."""
        # "g" follows every hexadecimal digit in any collation.
        query = select(RUNS.c.id).where(RUNS.c.id >= id, RUNS.c.id < f"{id}g").limit(3)
        found = [row.id for row in connection.execute(query)]
        if id in found or (id and len(found) == 1):
            return id if id in found else found[0]
        if not found or not id:
            raise StoreError(f"Expected the id of a run in {self.database.name}, got {id!r}: list them with runs().")
        raise StoreError(f"Expected one run, got several whose id begins with {id!r}: give more of it.")


def _open(url: str, trusted: tuple[str, ...]) -> Store:
    return Store(url, trusted=trusted)
