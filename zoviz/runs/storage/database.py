"""The database behind a URL: short transactions, one sentence for whatever goes wrong."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError

from zoviz.core.errors import ZovizError
from zoviz.core.optional import missing
from zoviz.runs.storage.schema import METADATA, VERSION, VERSIONS

PATIENCE = 60.0
"""Seconds that a transaction waits for another process's before it gives up."""

_TURN = 0x7A6F7669
"""Number of the lock that processes take in turn while tables are made or changed (PostgreSQL)."""

_SERVER = "check that it runs, and that its address, user and password are right"
_FAILURES = (
    (("disk is full", "no space left", "disk full"), "room on the disk", "a full disk", "free some space"),
    (
        ("readonly", "read-only", "permission denied"),
        "a store that can be written",
        "a read-only one",
        "check who may write its file and folder",
    ),
    (("not a database", "malformed", "disk image"), "an intact file", "a damaged file", "put back a copy of it"),
    (("unable to open",), "a file that can be opened", "none", "check that its folder exists and can be written"),
    (("database is locked",), "write access", "none for {patience:g} s", "close the program that locks the store"),
    (
        ("refused", "could not translate", "password", "does not exist", "connection"),
        "a server",
        "no answer",
        _SERVER,
    ),
)


class StoreError(ZovizError):
    """The store cannot be read or written; the sentence says why."""


class UnknownName(StoreError, ValueError):
    """A store is asked for what it does not have: a run, a status, a column."""


class NoStore(StoreError, ValueError):
    """The error that there is no store at a URL and none is to be made."""


class AtWork(StoreError):
    """A run that is to go on is at work in another process."""


class Database:
    """An engine that writes in short transactions, each begun as a writer, and tells its troubles in sentences.

    SQLite is opened in WAL mode with ``synchronous=FULL``: readers never wait, writers take turns, and what was
    committed survives a loss of power, an evaluation under ``checkpoint="every call"`` before the next begins; else a
    run commits once a second (of many at once each every few), and at a change or a pause, from a thread of its own:
    the solver never waits for the disk. A WAL needs a disk of this machine, not a network's: a team shares a PostgreSQL
    server.

    Parameters
    ----------
    url : str
        ``sqlite:///file.db`` or ``postgresql://user@host/name``.
    create : bool
        Whether a store is to be made where there is none.

    Attributes
    ----------
    recorded : set of str
        The ids of the runs that this process writes into it now.

    Raises
    ------
    StoreError
        For a URL that is neither, a file that is no store, another version's, or a database that does not answer.
    NoStore
        Where there is none, and none is to be made.
    MissingExtra
        For PostgreSQL without its driver.
    """

    def __init__(self, url: str, create: bool = True) -> None:
        self.url = _address(url)
        self.name = str(self.url.database) if self.sqlite else self.url.render_as_string(hide_password=True)
        self.engine = _engine(self.url)
        self.recorded: set[str] = set()
        self._process = os.getpid()
        # Who forgets to close a store leaves no connection open behind it, of which Python 3.13 warns.
        weakref.finalize(self, _dispose, self.engine, self._process).atexit = False
        self._open(create)

    @property
    def sqlite(self) -> bool:
        """Whether the database is an SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that reads one consistent state."""
        with self._begin("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are committed together at the end, or not at all."""
        with self._begin("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Close the idle connections."""
        self.engine.dispose()

    @contextmanager
    def _begin(self, begin: str) -> Iterator[Connection]:
        if os.getpid() != self._process:  # a forked child must not use its parent's connections
            self.engine.dispose(close=False)
            self._process = os.getpid()
        with self.telling(), self.engine.connect().execution_options(zoviz_begin=begin) as connection:
            with connection.begin():
                yield connection

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Turn an exception of the database's driver into a ``StoreError`` with a sentence."""
        try:
            yield
        except SQLAlchemyError as error:
            raise StoreError(_sentence(error, self.name)) from error

    def _open(self, create: bool) -> None:
        """See that the store is of this version, and make its tables where it is new."""
        stored_version = self.version() if create or self._may_be_read() else None
        if stored_version is None and not create:
            url = self.url.render_as_string(hide_password=True)
            raise NoStore(f"Expected a store at {url}, got none: name the one that you mean, or store a run first.")
        if stored_version is None:
            self._make_tables()
            stored_version = self.version()
        if stored_version != VERSION:
            raise StoreError(
                f"Expected a store of version {VERSION}, got version {stored_version} in {self.name}: another version "
                "of zoviz wrote it; use that version, or name another store."
            )

    def _make_tables(self) -> None:
        """Make the tables where there are none; processes that do so at once take turns."""
        self._turn_wal_on()
        with self.writing() as connection:
            if not self.sqlite:
                connection.execute(select(func.pg_advisory_xact_lock(_TURN)))
            if _version(connection) is None:
                METADATA.create_all(connection)
                connection.execute(insert(VERSIONS).values(version=VERSION, since=time.time()))

    def _may_be_read(self) -> bool:
        """Whether reading makes no file where there is none; in no folder it fails, with its own sentence."""
        path = os.path.abspath(str(self.name))
        return not self.sqlite or os.path.exists(path) or not os.path.isdir(os.path.dirname(path))

    def version(self) -> int | None:
        """Return the version of the tables; None where there are none."""
        with self.reading() as connection:
            return _version(connection)

    def _turn_wal_on(self) -> None:
        """Once per file: changing the mode needs the file for itself, and does not wait for it by itself."""
        if not self.sqlite:
            return
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with self.engine.connect() as connection:
                    if connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
                        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                return
            except OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise StoreError(_sentence(error, self.name)) from error
                time.sleep(0.02)


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(VERSIONS.name):
        return None
    return connection.execute(select(func.max(VERSIONS.c.version))).scalar()


def _dispose(engine: Engine, process: int) -> None:
    """Close an engine's idle connections in the process that opened them; a forked child's are its parent's."""
    if os.getpid() == process:
        engine.dispose()


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise StoreError(f"Expected a URL such as sqlite:///zoviz.db, got {url!r}.") from error
    kind = address.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise StoreError(f"Expected sqlite:///file.db or postgresql://user@host/name, got {kind}.")
    if kind == "sqlite" and address.database in (None, "", ":memory:"):
        raise StoreError("Expected a file for the store, got none: a store in memory is lost; say sqlite:///zoviz.db.")
    return address.set(drivername="postgresql+psycopg") if kind == "postgresql" else address


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": PATIENCE})
        else:
            engine = create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    except (ImportError, NoSuchModuleError) as error:
        raise missing("psycopg", "postgres", "PostgreSQL") from error
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin where _on_begin says, not where the driver guesses
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _on_begin(connection: Connection) -> None:
    begin = connection.get_execution_options().get("zoviz_begin")
    if begin:
        connection.exec_driver_sql(begin)


def _sentence(error: SQLAlchemyError, name: str) -> str:
    cause = str(error.orig if isinstance(error, DBAPIError) and error.orig is not None else error)
    short = " ".join(cause.split())[:200]
    for words, expected, got, remedy in _FAILURES:
        if any(word in short.casefold() for word in words):
            got = got.format(patience=PATIENCE)
            return f"Expected {expected} for the store {name}, got {got} ({short}): {remedy}."
    return f"Expected the store {name} to answer, got: {short}."
