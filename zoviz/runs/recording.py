"""The joint between a run and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoviz.runs.worker import Worker

if TYPE_CHECKING:
    from zoviz.runs.run import Run

EVERY_CALL = "every call"
"""The value of ``checkpoint`` with which an evaluation is on disk before the next begins."""

_INTERVAL = 1.0
"""Seconds between two checkpoints where ``checkpoint`` is no number."""


def begin(run: Run, worker: Worker, again: bool = False) -> None:
    """Have ``worker`` recorded in the run's store, if it has one; ``again`` where the store knows the run.

    Raises
    ------
    StoreError
        Where there is no store to be opened at the URL: nothing has been computed yet.
    """
    if run.store is None:
        return
    # Here, since a run without a store can do without SQLAlchemy, whose import takes longer than zoviz's own.
    from zoviz.runs import ledgers
    from zoviz.runs.database import Database
    from zoviz.runs.recorder import Recorder

    own = isinstance(run.store, str)
    database = Database(run.store) if own else run.store.database
    interval = _INTERVAL if run.checkpoint == EVERY_CALL else float(run.checkpoint)
    recorder = Recorder(database, run.id, worker, interval, ledgers.snapshots, own)
    worker.recorder = recorder
    worker.observers.append(recorder.look)
    recorder.begin(ledgers.first(run), again)
