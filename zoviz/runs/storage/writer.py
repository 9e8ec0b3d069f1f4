"""The SQL statements of a recorder, within a transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from zoviz.core.encoding.binary import pack
from zoviz.runs.engine.evaluation_log import Entry
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.engine.worker import Worker
from zoviz.runs.storage import rows
from zoviz.runs.storage.database import AtWork, StoreError
from zoviz.runs.storage.schema import EVALUATIONS, JOURNAL, RECIPES, RUNS, SEGMENTS, SNAPSHOTS, sealed
from zoviz.runs.storage.signature import renewed
from zoviz.runs.storage.trace_segments import Place, news


class Progress(NamedTuple):
    """The stored part of a run: rows of its trace and its path, changes, and its resolved parameters."""

    trace: Place = Place()
    path: Place = Place()
    changes: int = 0
    resolved: bool = False


def claim(connection: Connection, run: str, first: dict[str, dict[str, Any]], evaluation_count: int) -> None:
    """Take over a run that no process is running; of several that try, one succeeds.

    Evaluations from the ordinal ``evaluation_count`` on are going to be made again.

    Raises
    ------
    AtWork
        Where it is.
    """
    row = connection.execute(select(RUNS).where(RUNS.c.id == run)).one()._mapping
    if RunStatus(row["status"]).active and rows.alive(row, time.time()):
        raise AtWork(
            f"Expected a run that is not at work, got {run[:8]}, {row['status']} in process {row['pid']} on "
            f"{row['host']}: stop it there first."
        )
    connection.execute(update(RUNS).where(RUNS.c.id == run).values(**rows.whereabouts(time.time())))
    recipe = dict(connection.execute(select(RECIPES).where(RECIPES.c.run == run)).one()._mapping)
    values = {"settings": first["recipes"]["settings"], "signature": renewed(run, recipe, first["recipes"])}
    connection.execute(update(RECIPES).where(RECIPES.c.run == run).values(**values))
    connection.execute(delete(EVALUATIONS).where(EVALUATIONS.c.run == run, EVALUATIONS.c.ordinal >= evaluation_count))


def enter(connection: Connection, run: str, first: dict[str, dict[str, Any]], again: bool) -> None:
    """Insert the first rows of a run; one that is resumed writes its trace anew."""
    if again:
        connection.execute(delete(SEGMENTS).where(SEGMENTS.c.run == run))
        return
    connection.execute(insert(RUNS).values(id=run, **first["runs"]))
    connection.execute(insert(RECIPES).values(run=run, **first["recipes"]))


def write(
    connection: Connection,
    run: str,
    worker: Worker,
    progress: Progress,
    snapshots: tuple[int, dict[str, bytes]] | None,
    outcome: tuple[str, str] | None,
) -> Progress:
    """Write all that is new of a worker.

    Parameters
    ----------
    snapshots : tuple, optional
        An iteration, and snapshots of the worker there, by kind.
    outcome : tuple of str, optional
        Status and message of a run that has ended.
    """
    trace = _write_rows(connection, run, "trace", worker.trace, progress.trace)
    path = _write_rows(connection, run, "path", worker.path, progress.path)
    changes = _write_journal(
        connection, run, list(worker.journal)[progress.changes :], progress.changes, outcome is not None
    )
    if snapshots is not None:
        _write_snapshots(connection, run, *snapshots)
    resolved = worker.state is not None
    if resolved and not progress.resolved:
        text = rows.text(dict(worker.resolved))
        connection.execute(update(RECIPES).where(RECIPES.c.run == run).values(resolved=text))
    values = rows.figures(worker, outcome)
    if not connection.execute(update(RUNS).where(RUNS.c.id == run).values(**values)).rowcount:
        raise StoreError(f"Expected the run {run[:8]} in the store, got none: it was removed permanently.")
    return Progress(trace, path, changes, resolved)


def write_entries(connection: Connection, run: str, entries: Sequence[tuple[int, Entry]]) -> int:
    """Write the evaluations on a list that may grow meanwhile in one row; return their number."""
    now = list(entries)
    if now:
        packed = pack([entry.stored(ordinal) for ordinal, entry in now])
        ordinal = min(ordinal for ordinal, _ in now)
        connection.execute(insert(EVALUATIONS).values(run=run, ordinal=ordinal, **sealed(packed)))
    return len(now)


def _write_rows(connection: Connection, run: str, kind: str, rows: Any, place: Place) -> Place:
    fresh = news(kind, rows, place)
    if fresh is None:
        return place
    if fresh.replace:
        connection.execute(delete(SEGMENTS).where(SEGMENTS.c.run == run, SEGMENTS.c.kind == kind))
    connection.execute(insert(SEGMENTS).values(run=run, **fresh.values))
    return fresh.place


def _write_journal(connection: Connection, run: str, fresh: list[Any], start: int, last: bool) -> int:
    """New changes; those that a resumed run makes again take their former places, and at its end no other is left."""
    end = start + len(fresh)
    if fresh or last:
        bound = [] if last else [JOURNAL.c.number < end]
        connection.execute(delete(JOURNAL).where(JOURNAL.c.run == run, JOURNAL.c.number >= start, *bound))
    for number, change in enumerate(fresh, start=start):
        row = change._asdict() | {"old": rows.text(change.old), "new": rows.text(change.new)}
        connection.execute(insert(JOURNAL).values(run=run, number=number, **row))
    return end


def _write_snapshots(connection: Connection, run: str, iteration: int, snapshots: dict[str, bytes]) -> None:
    for kind, data in snapshots.items():
        connection.execute(delete(SNAPSHOTS).where(SNAPSHOTS.c.run == run, SNAPSHOTS.c.kind == kind))
        connection.execute(insert(SNAPSHOTS).values(run=run, kind=kind, iteration=iteration, **sealed(data)))
