"""Checks a store: the file, references between rows, every checksum."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import Connection, select

from zoviz.runs.storage.database import Database, StoreError
from zoviz.runs.storage.schema import BLOBS, JOURNAL, PARTS, RECIPES, RUNS, sealed

_PAGE = 100
"""Rows with data that are held at a time."""


def check(database: Database) -> list[str]:
    """Return all faults, one sentence each; nothing is changed."""
    faults: list[str] = []
    try:
        with database.reading() as connection:
            # One by one: what was found before the file could not be read any further is told too.
            for sentence in _all(connection, database):
                faults.append(sentence)
    except StoreError as error:
        faults.append(str(error))
    return faults


def _all(connection: Connection, database: Database) -> Iterator[str]:
    if database.sqlite:
        yield from _file(connection)
    yield from _orphans(connection)
    yield from _texts(connection)
    yield from _checksums(connection)


def _file(connection: Connection) -> Iterator[str]:
    """Yield the faults that SQLite itself finds."""
    for (line,) in connection.exec_driver_sql("PRAGMA integrity_check"):
        if line != "ok":
            yield f"The file is damaged: {line}."
    for table, *_ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"A row of {table} belongs to no run."


def _orphans(connection: Connection) -> Iterator[str]:
    for table in PARTS:
        query = select(table.c.run).distinct().where(table.c.run.not_in(select(RUNS.c.id)))
        for (run,) in connection.execute(query):
            yield f"Rows of {table.name} belong to the run {run}, which is not there."
    for (run,) in connection.execute(select(RUNS.c.id).where(RUNS.c.id.not_in(select(RECIPES.c.run)))):
        yield f"The run {run} has no recipe: it cannot be made again."


def _texts(connection: Connection) -> Iterator[str]:
    """Yield a fault for each JSON text that cannot be read."""
    for table in (RECIPES, JOURNAL):
        texts = ("old", "new") if table is JOURNAL else [c.name for c in table.c if c.name not in ("run", "signature")]
        columns = (table.c.run, *(table.c[name] for name in texts))
        for run, *values in connection.execute(select(*columns).execution_options(yield_per=_PAGE)):
            for name, value in zip(texts, values, strict=True):
                try:
                    json.loads(value)
                except ValueError as error:
                    yield f"{table.name}.{name} of the run {run} is damaged: {error}."


def _checksums(connection: Connection) -> Iterator[str]:
    for table in BLOBS:
        query = select(table.c.run, table.c.data, table.c.checksum).execution_options(yield_per=_PAGE)
        for run, data, checksum in connection.execute(query):
            if sealed(data)["checksum"] != checksum:
                yield f"A row of {table.name} of the run {run} is damaged: {len(data)} bytes do not fit their checksum."
