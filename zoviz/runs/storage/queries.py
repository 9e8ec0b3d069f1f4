"""The list of a store's runs: a line's contents, and the queries for it."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, func, or_, select

from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.storage.database import UnknownName
from zoviz.runs.storage.rows import alive, number
from zoviz.runs.storage.schema import RUNS

STATUSES = tuple(status for status in RunStatus if status is not RunStatus.READY)
"""Statuses of stored runs: all but that of a run that has not begun."""
ACTIVE = tuple(str(status) for status in RunStatus if status.active)
"""Statuses, as rows have them, of runs that say that they are at work."""


class Record(NamedTuple):
    """A line in the list of runs.

    Attributes
    ----------
    id, label, problem, solver : str
        Problem and solver by class name.
    status : RunStatus
        running, paused, finished, diverged, stopped, failed, or interrupted: begun by a process that is gone, or that
        was told to end.
    created, updated : float
        Seconds since 1970.
    host : str
    pid : int
        Where the run is or was at work.
    iterations, calls : int
    samples, zeta_samples : int
        Samples of xi and of zeta.
    seconds : float
    objective, violation, best_value : float
        Mean, largest and least over the replicas; NaN where there is none.
    seed, replicas : int
    notes : str
    tags : tuple of str
    study, message, parent : str
    owner : str
        The person whose run it is; empty where the store has no owners.
    """

    id: str
    label: str
    problem: str
    solver: str
    status: RunStatus
    created: float
    updated: float
    host: str
    pid: int
    iterations: int
    calls: int
    samples: int
    zeta_samples: int
    seconds: float
    objective: float
    violation: float
    best_value: float
    seed: int
    replicas: int
    notes: str
    tags: tuple[str, ...]
    study: str
    message: str
    parent: str
    owner: str


class Filter(NamedTuple):
    """A filter of runs: all that is not None must hold; ``deleted`` runs are listed apart.

    ``text`` is looked for in labels, notes, tags, problems, solvers, messages, studies and ids.
    """

    status: str | None = None
    problem: str | None = None
    solver: str | None = None
    tag: str | None = None
    text: str | None = None
    study: str | None = None
    parent: str | None = None
    deleted: bool = False
    owner: str | None = None


def spell_tags(tags: tuple[str, ...]) -> str:
    """Return tags in their stored form: each between line feeds, so that one can be searched for."""
    clean = sorted({" ".join(tag.split()) for tag in tags} - {""})
    return "\n" + "\n".join(clean) + "\n" if clean else ""


def runs(connection: Connection, which: Filter, sort: str, limit: int | None, offset: int) -> list[Record]:
    """Return the records that pass a filter, in order."""
    living = _living(connection)
    query = _where(select(*_LISTED, RUNS.c.process_started), which, living)
    query = query.order_by(*_order(sort)).limit(limit).offset(offset)
    return [_record(row._mapping, living) for row in connection.execute(query)]


def count(connection: Connection, which: Filter) -> int:
    """Return the number of runs that pass a filter."""
    query = _where(select(func.count()).select_from(RUNS), which, _living(connection))
    number: int = connection.execute(query).scalar_one()
    return number


def one(connection: Connection, run: str, owner: str | None = None) -> Record | None:
    """Return the run with this id, if there is one, and it is the owner's where one is given."""
    query = select(*_LISTED, RUNS.c.process_started).where(RUNS.c.id == run, *_owned(owner))
    row = connection.execute(query).one_or_none()
    return None if row is None else _record(row._mapping, _living(connection))


def find(connection: Connection, start: str, name: str, owner: str | None = None) -> str:
    """Return the id of the one run whose id begins with ``start``; of the owner's runs where one is given.

    Raises
    ------
    UnknownName
        For none, or several.
    """
    # "g" follows every hexadecimal digit in any collation.
    query = select(RUNS.c.id).where(RUNS.c.id >= start, RUNS.c.id < f"{start}g", *_owned(owner)).limit(2)
    ids = [row.id for row in connection.execute(query)] if start else []
    if start in ids or len(ids) == 1:
        return start if start in ids else ids[0]
    if not ids:
        raise UnknownName(f"Expected the id of a run in {name}, got {start!r}: list them with runs().")
    raise UnknownName(f"Expected one run, got several whose id begins with {start!r}: give more of it.")


def _owned(owner: str | None) -> list[Any]:
    """Return the condition that a run is this person's; none where everybody's are meant."""
    return [] if owner is None else [RUNS.c.owner == owner]


def _living(connection: Connection) -> list[str]:
    """Return the ids of runs whose process is alive; others with an active status were interrupted."""
    columns = (RUNS.c.id, RUNS.c.host, RUNS.c.pid, RUNS.c.process_started, RUNS.c.updated)
    now = time.time()
    rows = connection.execute(select(*columns).where(RUNS.c.status.in_(ACTIVE)))
    return [row.id for row in rows if alive(row._mapping, now)]


def _record(row: Any, living: list[str]) -> Record:
    values = {column.name: row[column.name] for column in _LISTED}
    values["status"] = RunStatus(values["status"])
    if values["status"].active and values["id"] not in living:
        values["status"] = RunStatus.INTERRUPTED
    for name in ("objective", "violation", "best_value"):
        values[name] = number(values[name])
    return Record(**values | {"tags": tuple(values["tags"].split("\n")[1:-1])})


_LISTED = tuple(RUNS.c[name] for name in Record._fields)
_SEARCHED = ("label", "notes", "tags", "problem", "solver", "message", "study", "id")


def _where(query: Select[Any], which: Filter, living: list[str]) -> Select[Any]:
    query = query.where(RUNS.c.deleted.is_not(None) if which.deleted else RUNS.c.deleted.is_(None))
    for name in ("problem", "solver", "study", "parent", "owner"):
        value = getattr(which, name)
        if value is not None:
            query = query.where(RUNS.c[name] == value)
    if which.tag is not None:
        query = query.where(RUNS.c.tags.contains(f"\n{which.tag}\n", autoescape=True))
    if which.text:
        query = query.where(or_(*(RUNS.c[name].icontains(which.text, autoescape=True) for name in _SEARCHED)))
    if which.status is None:
        return query
    if which.status not in STATUSES:
        raise UnknownName(f"Expected a status among {', '.join(STATUSES)}, got {which.status!r}.")
    if which.status == RunStatus.INTERRUPTED:
        gone = and_(RUNS.c.status.in_(ACTIVE), RUNS.c.id.not_in(living))
        return query.where(or_(RUNS.c.status == str(RunStatus.INTERRUPTED), gone))
    here = [RUNS.c.id.in_(living)] if which.status in ACTIVE else []
    return query.where(and_(RUNS.c.status == str(which.status), *here))


def _order(sort: str) -> tuple[Any, ...]:
    name = sort.removeprefix("-")
    if name not in Record._fields:
        raise UnknownName(
            f"Expected a column to sort by, one of {', '.join(Record._fields)}, with - before it "
            f"for descending order, got {sort!r}."
        )
    column = RUNS.c[name]
    if sort.startswith("-"):
        return column.desc().nulls_last() if column.nullable else column.desc(), RUNS.c.id.desc()
    return column.asc().nulls_last() if column.nullable else column.asc(), RUNS.c.id
