"""A worker between two steps as bytes, from which another worker goes on as if nothing had happened."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from heapq import merge
from typing import Any, NamedTuple

import numpy as np

from zoviz.core import legacy_names
from zoviz.core.binary import pack, unpack
from zoviz.core.blas import SingleBlasThread
from zoviz.core.errors import ZovizError
from zoviz.core.streams import Mark
from zoviz.runs.engine.evaluation_log import Entry
from zoviz.runs.engine.journal import Change, Journal
from zoviz.runs.engine.startup import present_again
from zoviz.runs.engine.trace import Trace
from zoviz.runs.engine.worker import Worker
from zoviz.solvers.base import Solver

VERSION = 2
"""Version of what a checkpoint holds; ``_read`` takes older ones."""


class Kept(NamedTuple):
    """All that going on needs beside problem, solver and settings.

    Attributes
    ----------
    checkpoint : bytes or None
        The worker between two steps; None: it begins anew, with the evaluations that are kept.
    trace, path : Trace
    journal : Journal
        All steering, that after the checkpoint too.
    entries : mapping of int to Entry
        Evaluations after the checkpoint, by ordinal; of a run that failed, up to the last that has a value.
    asked : int
        Points that the run has asked for so far: all ordinals are lower.
    """

    checkpoint: bytes | None
    trace: Trace
    path: Trace
    journal: Journal
    entries: Mapping[int, Entry]
    asked: int


def capture(worker: Worker) -> bytes | None:
    """Everything that the next step needs, and what the result tells; to be called in the worker's thread.

    The solver's state, the random generators (not what they drew ahead), the oracle's counts and best points, steps
    chosen and set, first hits, steering. The rows of trace and path are not in it.

    Returns
    -------
    bytes or None
        Of a size that depends on R, n and m alone. None where there is nothing to go on from: before the first
        iterate, in the midst of a step that did not end (by an error, or because the budget of calls did not cover
        it), where every replica is frozen, and for a solver that is not ``checkpointable``.

    Raises
    ------
    ZovizError
        For a state that is made of other things than arrays, numbers, text, and tuples, lists and dicts of them.
    """
    amiss = worker.state is None or worker.error is not None or worker.spent_calls
    if amiss or not worker.solver.checkpointable or not worker.oracle.active.any():
        return None
    return pack(_contents(worker))


def _contents(worker: Worker) -> dict[str, Any]:
    oracle, solver, units = worker.oracle, worker.solver, worker.oracle.units
    return {
        "version": VERSION,
        "iteration": worker.iteration,
        "seconds": worker.seconds,
        "state": worker.state,
        "info": worker.info,
        "streams": {key: mark._asdict() for key, mark in worker.streams.snapshot().items()},
        "oracle": oracle.snapshot(),
        "units": None if units is None else {"level": units.level, "f": units.f, "h": units.h, "width": units.width},
        "resolved": worker.resolved,
        "live": {name: solver.get(name) for name in (*worker.resolved, *solver.live)},
        "hits": [target.hit for target in worker.targets],
        "journal": [change._asdict() for change in worker.journal],
        "planned": len(worker.schedule),
        "notes": worker.notes,
        "memory": worker.problem.memory,
        "tally": None if worker.tally is None else worker.tally.memory,
    }


_OF_UNITS = ("level", "f", "h", "width")


def _read(data: bytes, solver: Solver | None = None) -> dict[str, Any]:
    """What ``_contents`` made, whatever version; without a solver its state is a dict of fields.

    Raises
    ------
    ZovizError
        For bytes that are damaged, a newer version's, or another solver's.
    """
    kept = unpack(data, None if solver is None else state_classes(solver))
    version = kept.get("version", 1)
    if version > VERSION:
        raise ZovizError(f"Expected a checkpoint of version {VERSION} at most, got {version}: update zoviz.")
    return kept if version == VERSION else _of_version_1(kept)


def _of_version_1(kept: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint of the first version: private names of the oracle's, and tuples without names."""
    units = kept["units"]
    return kept | {
        "oracle": legacy_names.oracle_progress(kept["oracle"]),
        "streams": {key: dict(zip(Mark._fields, mark, strict=True)) for key, mark in kept["streams"].items()},
        "units": None if units is None else dict(zip(_OF_UNITS, units, strict=True)),
        "journal": [dict(zip(Change._fields, change, strict=True)) for change in kept["journal"]],
        "planned": kept["script"],
    }


def state_classes(solver: Solver) -> dict[str, type[Any]]:
    """The NamedTuples that a state of this solver may be made of, by name.

    These are all that the modules know in which the classes of the solver and of what is nested in it, and their bases,
    are defined: so a checkpoint names a state by its class alone, and the module may move.
    """
    bases = [base for part in reversed(solver.parts().values()) for base in reversed(type(part).__mro__)]
    modules = dict.fromkeys(base.__module__ for base in bases)
    found = (value for name in modules if name in sys.modules for value in vars(sys.modules[name]).values())
    tuples = (one for one in found if isinstance(one, type) and hasattr(one, "_field_defaults"))
    return {one.__qualname__: one for one in tuples if one.__module__.partition(".")[0] == "zoviz"}


def points(data: bytes | None) -> int:
    """Evaluations that were made before a capture: entries of the log with lower ordinals are not asked for again."""
    return 0 if data is None else int(_read(data)["oracle"]["calls"].sum())


def restore(
    worker: Worker,
    data: bytes | None,
    trace: Trace | None = None,
    path: Trace | None = None,
    steering: Iterable[Change] = (),
) -> None:
    """Put a fresh worker, made of the same problem, solver and settings, where another was captured.

    ``worker.work()`` then goes on, and ends as the other would have ended, bit for bit. That holds for problems whose
    values depend on the points alone; a function with random numbers of its own goes on with other numbers.

    Parameters
    ----------
    worker : Worker
    data : bytes or None
        What ``capture`` returned. None: the worker begins anew, with the values of its log as far as it goes.
    trace, path : Trace, optional
        Rows recorded so far; those after the capture are dropped, as they are recorded again.
    steering : iterable of Change
        The whole journal: what was changed after the capture is changed again.

    Raises
    ------
    ZovizError
        For bytes that are damaged, or that are another problem's or solver's.
    """
    done = 0
    if data is not None:
        kept = _read(data, worker.solver)
        done = len(kept["journal"])
        with SingleBlasThread(), np.errstate(all="ignore"):
            _put_back(worker, kept)
            worker.trace = worker.trace if trace is None else _until(trace, worker.iteration)
            worker.path = worker.path if path is None else _until(path, worker.iteration)
            _measure_again(worker)
    # What was steered stands after what the schedule does at the same iteration, as it did then.
    worker.schedule = list(merge(worker.schedule, list(steering)[done:], key=lambda change: change.iteration))


def _put_back(worker: Worker, kept: dict[str, Any]) -> None:
    worker.problem.recall(kept["memory"])
    worker.oracle = oracle = worker.make_oracle()
    if kept["units"] is not None:
        worker.seen = present_again(worker.problem, oracle, **kept["units"])
    oracle.restore(kept["oracle"])
    worker.streams.restore({key: Mark(**mark) for key, mark in kept["streams"].items()})
    for name, value in kept["live"].items():
        worker.solver.set(name, value)
    worker.iteration, worker.seconds = kept["iteration"], kept["seconds"]
    worker.state, worker.info, worker.resolved = kept["state"], kept["info"], kept["resolved"]
    if worker.tally is not None:
        worker.tally.recall(kept["tally"])
    for target, hit in zip(worker.targets, kept["hits"], strict=True):
        target.recall(hit)
    worker.open = any(target.hits < len(target.iteration) for target in worker.targets)
    for change in kept["journal"]:
        worker.journal.append(Change(**change))
    worker.schedule = worker.schedule[len(worker.schedule) - kept["planned"] :]
    worker.notes[:] = kept["notes"]


def _until(rows: Trace, iteration: int) -> Trace:
    """The rows up to an iteration, at the stride; a last row beside it shows where a run stood still or ended."""
    columns = rows.snapshot().columns
    if "iteration" not in columns:
        return Trace(rows.capacity)
    known = columns["iteration"]
    keep = (known <= iteration) & (known % rows.stride == 0)
    return Trace.holding({name: column[keep] for name, column in columns.items()}, rows.capacity, rows.stride)


def _measure_again(worker: Worker) -> None:
    """Have the problem recall the gradients that it knew here: computed elsewhere they may differ by round-off."""
    if worker.trace.wants(worker.iteration) or worker.open:
        worker.measured()
