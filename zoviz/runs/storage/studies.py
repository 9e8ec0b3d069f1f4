"""The list of a store's studies: what each consists of, and whether a process is at work on it."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.storage.rows import alive, whereabouts
from zoviz.runs.storage.schema import STUDIES


class StudyRecord(NamedTuple):
    """A line in the list of studies.

    Attributes
    ----------
    name : str
    definition : dict
        What the study consists of, see ``zoviz.studies.definition``.
    created, updated : float
        Seconds since 1970: when it was first run, and when the last process began or ended.
    active : bool
        Whether a process is at work on it.
    host : str
    pid : int
        Where it is or was at work the last time.
    """

    name: str
    definition: dict[str, Any]
    created: float
    updated: float
    active: bool
    host: str
    pid: int


def begin(connection: Connection, name: str, definition: dict[str, Any], owner: str) -> None:
    """Write what a study of an owner consists of, and that this process is at work on it."""
    now = time.time()
    which = (STUDIES.c.name == name) & (STUDIES.c.owner == owner)
    values = {"definition": json.dumps(definition), **whereabouts(now)}
    if connection.execute(select(STUDIES.c.name).where(which)).one_or_none() is None:
        connection.execute(insert(STUDIES).values(owner=owner, name=name, created=now, **values))
    else:
        connection.execute(update(STUDIES).where(which).values(**values))


def end(connection: Connection, name: str, owner: str) -> None:
    """Write that this process has left a study, unless another one has taken it up."""
    me = whereabouts(time.time())
    which = (STUDIES.c.name == name) & (STUDIES.c.owner == owner)
    own = which & (STUDIES.c.pid == me["pid"]) & (STUDIES.c.host == me["host"])
    values = {"status": str(RunStatus.FINISHED), "updated": me["updated"]}
    connection.execute(update(STUDIES).where(own).values(**values))


def listed(connection: Connection, owner: str, name: str | None = None) -> list[StudyRecord]:
    """Return all studies of an owner, or the one with a name, the last that was at work first."""
    query = select(STUDIES).where(STUDIES.c.owner == owner).order_by(STUDIES.c.updated.desc(), STUDIES.c.name)
    if name is not None:
        query = query.where(STUDIES.c.name == name)
    now = time.time()
    return [
        StudyRecord(
            row["name"],
            json.loads(row["definition"]),
            row["created"],
            row["updated"],
            row["status"] == RunStatus.RUNNING and alive(row, now),
            row["host"],
            row["pid"],
        )
        for row in connection.execute(query).mappings()
    ]
