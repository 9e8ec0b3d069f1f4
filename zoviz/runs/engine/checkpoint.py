"""A worker between two steps as bytes, from which another worker goes on as if nothing had happened."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from copy import deepcopy
from heapq import merge
from typing import Any, NamedTuple

from zoviz.core.encoding.binary import is_record, pack, unpack
from zoviz.core.errors import ZovizError
from zoviz.core.streams import Mark
from zoviz.core.threads.arithmetic import silent_arithmetic
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Constants
from zoviz.runs.engine.columns import ITERATION, POLISHED
from zoviz.runs.engine.evaluation_log import Entry
from zoviz.runs.engine.startup import present_again
from zoviz.runs.engine.steering import Change, Journal
from zoviz.runs.engine.trace import Trace, belonging
from zoviz.runs.engine.worker import Worker
from zoviz.solvers.base import Solver

VERSION = 1
"""Version of what a checkpoint holds. From 0.1.0 on, what changes it raises it, and ``_read`` takes older ones."""


class ResumeData(NamedTuple):
    """The data that resuming or forking a run needs beside its problem, solver and settings.

    Attributes
    ----------
    checkpoint : bytes or None
        The worker between two steps; None: it begins anew, with the evaluations that are kept.
    trace, path : Trace
    journal : Journal
        All steering, that after the checkpoint too.
    entries : mapping of int to Entry
        Evaluations after the checkpoint, by ordinal; of a run that failed, up to the last that has a value.
    evaluation_count : int
        Points that the run has asked for so far: all ordinals are lower.
    examination : bytes or None
        What the first calls found, of a run that is judged.
    forked : bool
        Whether a fork takes it over, a run of its own whose schedule has all changes, and which may ask for other
        points than the evaluations have.
    """

    checkpoint: bytes | None
    trace: Trace
    path: Trace
    journal: Journal
    entries: Mapping[int, Entry]
    evaluation_count: int
    examination: bytes | None = None
    forked: bool = False


def snapshot(worker: Worker) -> bytes | None:
    """Return a worker's state as bytes: all that the next step and the result need; called in the worker's thread.

    The solver's state, the random generators (not what they drew ahead), the oracle's counts and best points, steps
    chosen and set, first hits, steering. The rows of trace and path are not in it.

    Returns
    -------
    bytes or None
        Of a size that depends on R, n and m alone. None where there is nothing to go on from: before the first
        iterate, in the midst of a step that did not end (by an error, or because a budget of calls or seconds did not
        cover it), where every replica is frozen, and for a solver that is not ``checkpointable``.

    Raises
    ------
    ZovizError
        For a state that is made of other things than arrays, numbers, text, and tuples, lists and dicts of them.
    """
    unfinished = worker.state is None or worker.broken_off
    if unfinished or not worker.solver.checkpointable or not worker.oracle.active.any():
        return None
    return packed(_state_of(worker))


def packed(state: Mapping[str, Any]) -> bytes:
    """Return the bytes of a worker's state."""
    return pack({"version": VERSION, **state})


def copied_state(worker: Worker) -> dict[str, Any] | None:
    """Return a worker's state between two steps, of which no later step changes anything; ``packed`` makes its bytes.

    It takes a tenth of the time of ``snapshot``. None where there is nothing to go on from.
    """
    if worker.state is None or not worker.oracle.active.any():
        return None
    whole = _state_of(worker)
    # Nobody writes to these once they are published, and the layout of arrays decides the last bit of products.
    shared = "state", "info", "streams", "constants"
    return deepcopy({name: one for name, one in whole.items() if name not in shared}) | {
        name: whole[name] for name in shared
    }


def _state_of(worker: Worker) -> dict[str, Any]:
    """Return all between two steps that the next one and the result need, except the traces' rows."""
    oracle, solver, units = worker.oracle, worker.solver, worker.oracle.units
    return {
        "iteration": worker.iteration,
        "seconds": worker.seconds,
        "state": worker.state,
        "info": worker.info,
        "streams": {key: mark._asdict() for key, mark in worker.streams.snapshot().items()},
        "oracle": oracle.snapshot(),
        "units": None if units is None else units.sizes,
        "resolved": worker.resolved,
        "constants": worker.constants.plain() if isinstance(worker.constants, Constants) else None,
        "live": {name: solver.get(name) for name in (*worker.resolved, *solver.live)},
        "journal": [change._asdict() for change in worker.journal],
        "planned": len(worker.schedule),
        "notes": worker.notes,
        "opening": worker.opening,
        "problem": worker.problem.snapshot(),
        **worker.recording.snapshot(),
        "guard": worker.guard.snapshot(),
        "noise": worker.noise.snapshot(),
        "confidence": worker.confidence.snapshot(),
        "answering": None if worker.answering is None else worker.answering.snapshot(),
    }


def _read(data: bytes, solver: Solver | None = None) -> dict[str, Any]:
    """Read a checkpoint; without a solver its state is a dict of fields.

    Raises
    ------
    ZovizError
        For bytes that are damaged, another version's, or another solver's.
    """
    content: dict[str, Any] = unpack(data, None if solver is None else state_classes(solver))
    if content.get("version") != VERSION:
        raise ZovizError(
            f"Expected a checkpoint of version {VERSION}, got {content.get('version')}: another version of zoviz "
            "wrote it; resume the run with that one, or start a new run."
        )
    return content


def state_classes(solver: Solver) -> dict[str, type[Any]]:
    """Return the NamedTuples and dataclasses that a state of this solver may be made of, by name.

    These are all that the modules know in which the classes of the solver and of what is nested in it, and their bases,
    are defined, and after them those in which such a NamedTuple or dataclass is: so a checkpoint names a state by its
    class alone, and the module may move.
    """
    bases = [base for part in solver.parts().values() for base in type(part).__mro__]
    modules = list(dict.fromkeys(base.__module__ for base in bases))
    classes: dict[str, type[Any]] = {}
    for name in modules:  # grows on the way
        for one in list(vars(sys.modules[name]).values()) if name in sys.modules else ():
            if is_record(one) and one.__module__.partition(".")[0] == "zoviz":
                classes.setdefault(one.__qualname__, one)
                modules += [] if one.__module__ in modules else [one.__module__]
    return classes


def points(data: bytes | None) -> int:
    """Return how many evaluations precede a checkpoint: logged entries with lower ordinals are not repeated."""
    return 0 if data is None else int(_read(data)["oracle"]["calls"].sum())


def place(data: bytes) -> tuple[int, int]:
    """Return the iteration of a checkpoint, and the calls of a replica up to there."""
    content = _read(data)
    return content["iteration"], content["oracle"]["spent"]


def restore(
    worker: Worker,
    data: bytes | None,
    trace: Trace | None = None,
    path: Trace | None = None,
    steering: Iterable[Change] = (),
    forked: bool = False,
) -> None:
    """Bring a fresh worker, of the same problem, solver and settings, to the state of a checkpoint.

    ``worker.work()`` then goes on, and ends as the other would have ended, bit for bit. That holds for problems whose
    values depend on the points alone; a function with random numbers of its own goes on with other numbers.

    Parameters
    ----------
    worker : Worker
    data : bytes or None
        What ``snapshot`` returned. None: the worker begins anew, with the values of its log as far as it goes.
    trace, path : Trace, optional
        Rows recorded so far; those after the snapshot are dropped, as they are recorded again.
    steering : iterable of Change
        The whole journal: what was changed after the snapshot is changed again.
    forked : bool
        Whether the worker is a fork's, whose schedule has all changes, those before the snapshot first.

    Raises
    ------
    ZovizError
        For bytes that are damaged, or that are another problem's or solver's.
    """
    skip = 0
    if data is not None:
        content = _read(data, worker.solver)
        skip = len(content["journal"])
        with SingleBlasThread(), silent_arithmetic():
            rows = (None if one is None else _until(one, content["iteration"], forked) for one in (trace, path))
            content |= {"planned": len(worker.schedule) - skip} if forked else {}
            _take_state(worker, content, *rows)
    # At their iterations, after what the schedule does there, as they were made before.
    worker.schedule = list(merge(worker.schedule, list(steering)[skip:], key=lambda change: change.iteration))


def _take_state(worker: Worker, state: Mapping[str, Any], trace: Trace | None, path: Trace | None) -> None:
    """Take over the state that a worker of the same specification exported.

    Parameters
    ----------
    state : dict
    trace, path : Trace, optional
        Rows recorded until then.
    """
    worker.problem.restore(state["problem"])
    if worker.answering is not None and state["answering"] is not None:
        worker.answering.restore(state["answering"], worker)
    worker.oracle = worker.make_oracle()
    if state["units"] is not None:
        worker.scaled_problem = present_again(worker.problem, worker.oracle, **state["units"])
    worker.oracle.restore(state["oracle"])
    worker.streams.restore({key: Mark(**mark) for key, mark in state["streams"].items()})
    for name, value in state["live"].items():
        worker.solver.set(name, value)
    worker.iteration, worker.clock.seconds = state["iteration"], state["seconds"]
    worker.state, worker.info, worker.resolved = state["state"], state["info"], state["resolved"]
    if state["constants"] is not None:
        worker.constants = Constants.of(state["constants"])
    worker.noise.restore(state["noise"])
    worker.confidence.restore(state["confidence"])
    if worker.confidence.last_call is not None:
        worker.oracle.account.end_by(worker.confidence.last_call)
    if worker.noise.found:
        worker.believe_noise()
    worker.guard.restore(state["guard"])
    for change in state["journal"]:
        worker.journal.append(Change(**change))
    worker.schedule = worker.schedule[len(worker.schedule) - state["planned"] :]
    worker.notes[:] = state["notes"]
    worker.opening[:] = state["opening"]
    worker.trace, worker.path = worker.trace if trace is None else trace, worker.path if path is None else path
    worker.recording.restore(state, worker.now)


def _until(rows: Trace, iteration: int, forked: bool) -> Trace:
    """The rows up to an iteration that belong there; a last row beside them shows where a run stood still or ended."""
    columns = rows.snapshot().columns
    if forked:  # the answer of the end that its source came to is not its own
        columns = {name: column for name, column in columns.items() if not name.startswith(POLISHED)}
    if ITERATION not in columns:
        return Trace(rows.capacity)
    iterations = columns[ITERATION]
    keep = (iterations <= iteration) & belonging(iterations, rows.stride, rows.capacity)
    return Trace.holding({name: column[keep] for name, column in columns.items()}, rows.capacity, rows.stride)
