"""From a stored run to one that goes on with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from zoviz.core.binary import unpack
from zoviz.core.errors import ZovizError
from zoviz.runs.engine.checkpoint import Kept, points
from zoviz.runs.engine.evaluation_log import Entry
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.storage.schema import EVALUATIONS, SNAPSHOTS
from zoviz.runs.storage.stored_run import Stored

_FREE = ("checkpoint", "iterations", "calls", "seconds", "stop_at_targets")
"""Settings that may be others when a run goes on: what it has done so far does not depend on them."""


def read(connection: Connection, stored: Stored) -> Kept:
    """What is kept of a stored run, read in the transaction in which it was loaded.

    The failed evaluations on which a run itself failed are left out, so that they are asked for again.
    """
    run = stored.id
    query = select(SNAPSHOTS.c.data).where(SNAPSHOTS.c.run == run, SNAPSHOTS.c.kind == "checkpoint")
    checkpoint = connection.execute(query).scalar()
    spent = points(checkpoint)
    # In order: what a run asked for again, after it had failed, stands behind what it replaces.
    query = select(EVALUATIONS.c.data).where(EVALUATIONS.c.run == run).order_by(EVALUATIONS.c.ordinal)
    found = ((ordinal, Entry.read(entry)) for row in connection.execute(query) for ordinal, *entry in unpack(row.data))
    entries = {ordinal: entry for ordinal, entry in found if ordinal + len(entry.x) > spent}
    if stored.status is RunStatus.FAILED:
        last = max((ordinal for ordinal, entry in entries.items() if entry.whole), default=-1)
        entries = {ordinal: entry for ordinal, entry in entries.items() if ordinal <= last}
    asked = max((ordinal + len(entry.x) for ordinal, entry in entries.items()), default=spent)
    return Kept(checkpoint, stored.trace, stored.path, stored.journal, entries, asked)


def resumed(source: Stored, kept: Kept, settings: Mapping[str, Any]) -> Run:
    """A ``Run`` that goes on with a stored one under its own id.

    Parameters
    ----------
    source : Stored
    kept : Kept
    settings : mapping
        ``store``, and other settings than it had.

    Raises
    ------
    ZovizError
        For settings that would make it another run.
    """
    other = sorted(settings.keys() - {"store", *_FREE})
    if other:
        raise ZovizError(f"Expected one of {', '.join(_FREE)} for a run that goes on, got {other[0]}: fork it.")
    problem, solver = source.initial
    made = {**source.settings, **settings, "problem": problem, "solver": solver, "study": source.record.study}
    run = Run(**made, script=tuple(source.script))
    run.id, run.kept = source.id, kept
    return run
