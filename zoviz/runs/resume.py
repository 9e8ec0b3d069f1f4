"""Reads what resuming a stored run needs beside its description."""

from __future__ import annotations

from sqlalchemy import Connection, select

from zoviz.core.encoding.binary import unpack
from zoviz.runs.engine.evaluation_log import Entry
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.storage.schema import EVALUATIONS, SNAPSHOTS


def snapshot(connection: Connection, run: str, kind: str) -> bytes | None:
    """Return the last snapshot of a kind, such as "checkpoint", of the run with this id; None where it has none."""
    query = select(SNAPSHOTS.c.data).where(SNAPSHOTS.c.run == run, SNAPSHOTS.c.kind == kind)
    return connection.execute(query).scalar()


def evaluations(connection: Connection, run: str, spent: int, status: RunStatus) -> dict[int, Entry]:
    """Return the logged evaluations of a run by ordinal, those after the first ``spent`` points.

    The failed evaluations on which a run itself failed are left out, so that they are asked for again.
    """
    # In order: what a run asked for again, after it had failed, stands behind what it replaces.
    query = select(EVALUATIONS.c.data).where(EVALUATIONS.c.run == run).order_by(EVALUATIONS.c.ordinal)
    logged = (Entry.read(stored) for row in connection.execute(query) for stored in unpack(row.data))
    entries = {ordinal: entry for ordinal, entry in logged if ordinal + len(entry.x) > spent}
    if status is RunStatus.FAILED:
        last = max((ordinal for ordinal, entry in entries.items() if entry.whole), default=-1)
        entries = {ordinal: entry for ordinal, entry in entries.items() if ordinal <= last}
    return entries
