"""A run as rows of a store's tables."""

from __future__ import annotations

import json
import math
import platform
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import psutil

from zoviz.core.encoding.binary import pack
from zoviz.core.ranking import quartile
from zoviz.runs.engine import columns
from zoviz.runs.engine.checkpoint import packed, snapshot
from zoviz.runs.engine.result import OUTCOME
from zoviz.runs.engine.spec import LISTED, RunSpec
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.engine.worker import Worker
from zoviz.runs.storage.recipe import describe
from zoviz.runs.storage.signature import sign

SILENCE = 30.0
"""Seconds without a sign after which a run on another machine counts as interrupted."""


def text(value: Any) -> str:
    """Return a value as JSON text."""
    return json.dumps(describe(value))


def first(run: str, spec: RunSpec, owner: str = "") -> dict[str, dict[str, Any]]:
    """Return the columns of a run that begins, by table."""
    now = time.time()
    runs = {
        "owner": owner,
        "problem": type(spec.problem).__name__,
        "solver": type(spec.solver).__name__,
        "created": now,
        **{name: getattr(spec, name) for name in LISTED},
    }
    recipes = {
        "problem": text(spec.problem),
        "solver": text(spec.solver),
        "settings": json.dumps({name: describe(value) for name, value in spec.settings.items()}),
        "schedule": json.dumps([describe(change._asdict()) for change in spec.schedule]),
        "versions": json.dumps(versions()),
        "resolved": text(dict(spec.resolved)),
    }
    recipes["signature"] = sign(run, recipes)
    return {"runs": runs | whereabouts(now), "recipes": recipes}


def whereabouts(now: float) -> dict[str, Any]:
    """Return the columns that identify this process: host, process id and its start."""
    me = psutil.Process()
    return {
        "status": str(RunStatus.RUNNING),
        "host": host(),
        "pid": me.pid,
        "process_started": me.create_time(),
        "updated": now,
    }


def host() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


def alive(row: Mapping[Any, Any], now: float) -> bool:
    """Return whether the process that wrote a row is still running.

    On this machine its process must be there; elsewhere, and where a clock was set since so that its start does not
    fit, its last sign must be younger than ``SILENCE``.
    """
    recent: bool = now - row["updated"] < SILENCE
    if row["host"] != host():
        return recent
    try:
        process = psutil.Process(row["pid"])
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        known: bool = abs(process.create_time() - row["process_started"]) < 2.0 or recent
        return known
    except psutil.Error:
        return False


def versions() -> dict[str, str]:
    """Return the versions of Python, the machine and every library that is loaded."""
    numbers = {"python": platform.python_version(), "machine": platform.platform()}
    for name, module in list(sys.modules.items()):
        version = vars(module).get("__version__") if module is not None and "." not in name else None
        if isinstance(version, str) and name not in sys.stdlib_module_names and not name.startswith("_"):
            numbers[name] = version
    return dict(sorted(numbers.items()))


def figures(worker: Worker, outcome: tuple[str, str] | None) -> dict[str, Any]:
    """Return the columns of ``runs`` that change: status, counters and the last figures.

    Objective and violation are medians over the replicas, as wherever runs are listed; the best value is the least.
    """
    status, message = outcome or (worker.status, worker.remarks)
    message = message.replace("\0", "")  # which PostgreSQL does not take
    values = {"status": str(status), "message": message, "updated": time.time()}
    values |= worker.progress.counts
    now = worker.trace.snapshot()
    for column, name, over in _FIGURES:
        row = now.columns[name][-1] if now.rows and name in now.columns else np.empty(0)
        row = row[np.isfinite(row)]
        values[column] = float(over(row)) if row.size else None
    return values


_FIGURES = (
    ("objective", columns.OBJECTIVE, quartile),
    ("violation", columns.VIOLATION, quartile),
    ("best_value", columns.BEST_OBJECTIVE, np.min),
)


def snapshots(worker: Worker) -> dict[str, bytes]:
    """Return a worker's outcome, its checkpoint and the one that its forks go on from, by kind."""
    content = {"outcome": outcome(worker), "checkpoint": snapshot(worker)}
    content["last step"] = None if worker.marks.last is None else packed(worker.marks.last)
    content["answer"] = None if worker.answer is None else worker.answer.packed()
    return {kind: data for kind, data in content.items() if data is not None}


def outcome(worker: Worker) -> bytes:
    """Return the outcome of a worker's present state for readers, and the snapshot of its problem."""
    result = worker.result
    content: dict[str, Any] = {name: getattr(result, name) for name in OUTCOME}
    content["tolerance"] = result.tolerance
    content["active"] = worker.oracle.active.copy()
    content["units"] = None if worker.oracle.units is None else worker.oracle.units.sizes
    content["divergences"] = [one._asdict() for one in worker.guard.divergences]
    content["hits"] = [target.hit for target in worker.targets]
    content["ending"] = int(result.ending)
    content |= {"spent_calls": worker.spent_calls, "iteration": worker.iteration, "problem": worker.problem.snapshot()}
    if result.polished is not None:
        content["polished"] = result.polished._asdict()
    content["ledger"], content["form"] = result.ledger._asdict(), result.form
    return pack(content | {"message": result.message})


def number(value: float | None) -> float:
    """Return a figure of a row: NaN where there is none."""
    return math.nan if value is None else value
