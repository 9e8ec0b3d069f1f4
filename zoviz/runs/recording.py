"""The joint between a run and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoviz.runs.engine.checkpoint import restore
from zoviz.runs.engine.evaluation_log import Log, LoggedValues
from zoviz.runs.engine.worker import Worker

if TYPE_CHECKING:
    from zoviz.runs.run import Run

EVERY_CALL = "every call"
"""The value of ``checkpoint`` with which an evaluation is on disk before the next begins."""

_INTERVAL = 1.0
"""Seconds between two checkpoints where ``checkpoint`` is no number."""


def begin(run: Run, worker: Worker) -> None:
    """Have ``worker`` recorded in the run's store, if it has one, and put it where the store has it, if it goes on.

    Evaluations are logged one by one where the run says so; and, once an interval, where a paid one could otherwise
    not be spared: a solver without checkpoints begins again from its start.

    Raises
    ------
    StoreError
        Where there is no store to be opened at the URL, or another process is at work on the run: nothing has been
        computed yet.
    """
    if run.store is None:
        return
    # Here, since a run without a store can do without SQLAlchemy, whose import takes longer than zoviz's own.
    from zoviz.runs.storage import rows
    from zoviz.runs.storage.database import Database
    from zoviz.runs.storage.recorder import Recorder

    own, each = isinstance(run.store, str), run.checkpoint == EVERY_CALL
    database = Database(run.store) if own else run.store.database
    recorder = Recorder(database, run.id, worker, _INTERVAL if each else float(run.checkpoint), each, own)
    kept = run.kept
    begins_anew = not (worker.solver.checkpointable or worker.problem.analytic)
    if each or begins_anew or (kept is not None and kept.entries):
        worker.source = LoggedValues(worker.problem, Log(None if kept is None else kept.entries, recorder.keep))
    if kept is not None:
        restore(worker, kept.checkpoint, kept.trace, kept.path, kept.journal)
        worker.problem.recall({"asked": kept.asked})
    worker.recorder = recorder
    recorder.begin(rows.first(run), None if kept is None else kept.asked)
