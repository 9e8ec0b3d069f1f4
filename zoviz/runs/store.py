"""Where runs are kept: every value that was paid for, and all that is needed to go on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from zoviz.core import defaults
from zoviz.problems.base import Problem
from zoviz.runs import repeat
from zoviz.runs.catalogue import Catalogue
from zoviz.runs.resume import read, resumed
from zoviz.runs.run import Run
from zoviz.runs.storage import integrity
from zoviz.runs.storage.database import Database
from zoviz.runs.storage.export import export
from zoviz.runs.storage.stored_run import Stored
from zoviz.solvers.base import Solver


class Store(Catalogue):
    """Runs in a file of SQLite's, or in a PostgreSQL database that a team shares.

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
    >>> store = Store("sqlite:///zoviz.db")                                           # doctest: +SKIP
    >>> run = Run(problem=LoadTracking(), solver=ZOCEG(), iterations=50, store=store) # doctest: +SKIP
    >>> run.run(); store.load(run.id).result.fun                                      # doctest: +SKIP
    """

    def __init__(
        self, url: str = defaults.STORE_URL, *, trusted: Iterable[str] = (), own: bool = True, create: bool = True
    ) -> None:
        self.trusted, self.own = tuple(trusted), own
        super().__init__(Database(url, create))

    def __repr__(self) -> str:
        return f"<store {self.database.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self.url, self.trusted, self.own)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where it is, for another process, whatever its folder is; with the password, if there is one."""
        url = self.database.url
        if self.database.sqlite:
            url = url.set(database=os.path.abspath(str(url.database)))
        return url.render_as_string(hide_password=False)

    def close(self) -> None:
        """Close the idle connections; the store can be used again."""
        self.database.close()

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
            return Stored(connection, self._find(connection, id), self.trusted, self.own)

    def resume(
        self,
        id: str,
        *,
        problem: Problem | None = None,
        solver: Solver | None = None,
        **settings: Any,
    ) -> Run:
        """The stored run itself: started, it goes on from its last checkpoint, and ends as if it had never stopped.

        One that failed asks again for what it failed on.

        Parameters
        ----------
        id : str
        problem, solver : optional
            For a run whose functions have no name by which they could be imported: the objects themselves.
        settings
            Other budgets, or another ``checkpoint``, than it had.

        Raises
        ------
        StoreError
            Where it is at work; when it is started, too.
        ZovizError
            Where it cannot be made again, or other settings are asked for.
        """
        with self.database.reading() as connection:
            source = Stored(connection, self._find(connection, id), self.trusted, self.own).around(problem, solver)
            kept = read(connection, source)
        return resumed(source, kept, {"store": self} | settings)

    def replay(self, id: str, *, problem: Problem | None = None, solver: Solver | None = None) -> Run:
        """A new run that repeats a stored one bit for bit, its steering included, and ends where it ended.

        Parameters
        ----------
        id : str
        problem, solver : optional
            For a run whose functions have no name by which they could be imported: the objects themselves.
        """
        source = self.load(id).around(problem, solver)
        return Run(**repeat.replayed(source) | {"parent": source.id, "store": self})

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
        return Run(**repeat.forked(source, at, changes, {"parent": source.id, "store": self} | settings))

    def export(self, id: str, path: str | os.PathLike[str]) -> None:
        """Write a run's course to a ``.csv``, ``.parquet`` or ``.nc`` file (the last two need the extra "export")."""
        export(self.load(id), path)

    def check(self) -> list[str]:
        """What is amiss, one sentence each: damage to the file, rows of no run, wrong checksums; empty if all is well.

        Every byte is read; nothing is changed.
        """
        return integrity.check(self.database)


def _open(url: str, trusted: tuple[str, ...], own: bool) -> Store:
    return Store(url, trusted=trusted, own=own)
