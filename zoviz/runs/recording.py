"""The joint between a run and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from zoviz.core import defaults
from zoviz.runs.engine.checkpoint import Kept, restore
from zoviz.runs.engine.evaluation_log import Log, LoggedValues
from zoviz.runs.engine.spec import EVERY_CALL, RunSpec
from zoviz.runs.engine.worker import Worker

if TYPE_CHECKING:
    from zoviz.runs.storage.database import Database


class RunStore(Protocol):
    """A store as runs see it: what they need of ``Store``, which knows them."""

    @property
    def database(self) -> Database:
        """Where everything is written."""

    @property
    def trusted(self) -> tuple[str, ...]:
        """Names of functions, classes and programs that stored runs may be rebuilt from."""

    @property
    def own(self) -> bool:
        """Whether runs that this user has begun need no trust by name."""


def begin(worker: Worker, spec: RunSpec, run: str, store: RunStore | str | None, kept: Kept | None) -> None:
    """Have ``worker`` recorded in a store, if there is one, and put it where the store has it, if it goes on.

    Evaluations are logged one by one where the run says so; and, once an interval, where a paid one could otherwise
    not be spared: a solver without checkpoints begins again from its start.

    Parameters
    ----------
    worker : Worker
    spec : RunSpec
        What the run began with.
    run : str
        Its id.
    store : RunStore or str, optional
        The store or its URL.
    kept : Kept, optional
        What the store has of it.

    Raises
    ------
    StoreError
        Where there is no store to be opened at the URL, or another process is at work on the run: nothing has been
        computed yet.
    """
    if store is None:
        return
    # Here, since a run without a store can do without SQLAlchemy, whose import takes longer than zoviz's own.
    from zoviz.runs.storage import rows
    from zoviz.runs.storage.database import Database
    from zoviz.runs.storage.recorder import Recorder

    own, each = isinstance(store, str), spec.checkpoint == EVERY_CALL
    database = Database(store) if isinstance(store, str) else store.database
    interval = defaults.CHECKPOINT_SECONDS if each else float(spec.checkpoint)
    recorder = Recorder(database, run, worker, interval, each, own)
    begins_anew = not (worker.solver.checkpointable or worker.problem.analytic)
    if each or begins_anew or (kept is not None and kept.entries):
        worker.source = LoggedValues(worker.problem, Log(None if kept is None else kept.entries, recorder.keep))
    if kept is not None:
        restore(worker, kept.checkpoint, kept.trace, kept.path, kept.journal)
        worker.problem.recall({"asked": kept.asked})
    worker.recorder = recorder
    recorder.begin(rows.first(run, spec), None if kept is None else kept.asked)
