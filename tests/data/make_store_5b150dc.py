"""Writes ``store_5b150dc.db``, a store as commit 5b150dc left them, and ``store_5b150dc.json``, what it made of them.

Run in a checkout of commit 5b150dc, on a system with ``os.fork``:

    PYTHONPATH=. python make_store_5b150dc.py FOLDER

The store has finished, stopped, failed, paused and interrupted runs of the three forms of problem; those that were
interrupted are runs of processes that killed themselves. For each run the JSON has what is stored of it and what
becomes of it at that commit, to the bit: resumed to its end, replayed, and forked (each on a copy of the file, so that
the fixture stays as it is).

Only computing times differ between two makings of the file: ids follow from names, and the clock of the recorder is
held still, since a fixture is not to depend on how fast a machine is. When the state is captured is part of each case.
"""

# ruff: noqa: I001 - the imports are sorted for another tree
from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from zoviz import Run, Store
from zoviz.runs.packing import unpack
from zoviz.runs.recorder import Recorder
from zoviz.runs.resuming import read
from zoviz.solvers import (
    CMAES,
)
from zoviz.types import ZovizError

from store_5b150dc_cases import (
    CASES,
    FIGURES,
    LISTED,
    NOTES,
    STUDY,
    STUDY_CASE,
    STUDY_SEEDS,
    UNPORTABLE,
    Case,
    End,
    identity,
    study,
)

COMMIT, NAME = "5b150dc", "store_5b150dc"
HOST, FIRST = "elsewhere", 1767225600.0
"""Where and since when all of it happened: a machine that is not the reader's, and 2026-01-01."""

# --- making -----------------------------------------------------------------------------------------------------------


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def held(recorder: Recorder) -> None:
    """Hand over the worker's state and write it: what a recorder does once an interval."""
    recorder._take()
    recorder._flush()


def steer(case: Case, run: Run) -> None:
    """Set what the case sets after the present iteration."""
    for name, value in case.steering.get(run.progress.iteration, {}).items():
        run.change(name, value)


def play(case: Case, run: Run) -> None:
    """Start a run and treat it as the case says; returns where it is not killed."""

    def look() -> None:
        iteration, recorder = run.progress.iteration, run._worker.recorder
        steer(case, run)
        if iteration == case.captured:
            held(recorder)
        if case.end == End("iteration", iteration):
            if not isinstance(run.initial[1], CMAES):  # its rows after the checkpoint would have no evaluations
                recorder._flush()
            die()
        if case.end == End("stop", iteration):
            run.stop()

    if case.end is not None and case.end.kind == "evaluation":
        mortal(case.end.at)
    if case.end is None or case.end.kind != "paused":
        try:
            run.run(look)
        except statistics.StatisticsError:
            assert run.status == "failed"
        return
    run.start(steps=case.end.at)
    while run._worker is None or run._worker.recorder._taken is None:
        time.sleep(0.01)
    run._worker.recorder._flush()
    die()


def mortal(last: int) -> None:
    """Have this process die as soon as so many evaluations are stored."""
    keep, count = Recorder.keep, 0

    def counted(recorder: Recorder, ordinal: int, entry: Any) -> None:
        nonlocal count
        keep(recorder, ordinal, entry)
        count += 1
        if count == last:
            die()

    Recorder.keep = counted


def apart(work: Callable[[], object]) -> int:
    """Do it in a process of its own; its status: 0, or minus the signal that ended it."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def perform(case: Case, url: str) -> None:
    """Make and play a case in the store at ``url``."""
    with Store(url, trusted=case.trusted) as store:
        run = case.make(store)
        run.id = identity(case.name)
        play(case, run)


def perform_study(url: str) -> None:
    """The first cell to its end, the second to its death."""
    look, seen = Recorder.look, []

    def looked(recorder: Recorder) -> None:
        look(recorder)
        if recorder not in seen:
            seen.append(recorder)
        if len(seen) == len(STUDY_SEEDS) and recorder._worker.iteration == STUDY_CASE.captured:
            held(recorder)
        if len(seen) == len(STUDY_SEEDS) and recorder._worker.iteration == STUDY_CASE.end.at:
            recorder._flush()
            die()

    Recorder.look = looked
    with Store(url) as store:
        study(store).run(progress=False)


def write(path: Path) -> None:
    """The store."""
    url = f"sqlite:///{path}"
    for case in CASES:
        status = apart(lambda case=case: perform(case, url))
        killed = case.end is not None and case.end.kind != "stop"
        assert status == (-signal.SIGKILL if killed else 0), (case.name, status)
    assert apart(lambda: perform_study(url)) == -signal.SIGKILL
    with Store(url) as store:
        for case in CASES:
            notes, tags = NOTES.get(case.name, ("", ()))
            store.annotate(identity(case.name), label=case.name, notes=notes, tags=tags)
        store.delete([identity("peer deleted")])
    with closing(sqlite3.connect(path)) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY created, id")]
        for place, one in enumerate(ids):
            created = FIRST + 60.0 * place
            values = (created, created + 30.0, HOST, 4242, created - 5.0, one)
            connection.execute(
                "UPDATE runs SET created = ?, updated = ?, host = ?, pid = ?, process_started = ? WHERE id = ?", values
            )
            row = connection.execute("SELECT versions FROM recipes WHERE run = ?", (one,)).fetchone()
            versions = json.loads(row[0])
            versions["machine"] = f"{platform.system()}-{platform.machine()}"
            connection.execute("UPDATE recipes SET versions = ? WHERE run = ?", (json.dumps(versions), one))
        connection.execute("UPDATE runs SET deleted = ? WHERE deleted IS NOT NULL", (FIRST + 86400.0,))
        connection.execute("UPDATE zoviz_schema SET since = ?", (FIRST,))
        connection.commit()
        for statement in ("journal_mode = DELETE", "page_size = 512"):  # small pages for small rows
            connection.execute(f"PRAGMA {statement}")
        connection.execute("VACUUM")
        connection.execute("PRAGMA journal_mode = WAL")


# --- telling ----------------------------------------------------------------------------------------------------------


def bits(values: Any) -> Any:
    """Numbers as ``float.hex`` writes them, in nested lists; counts and flags as they are."""
    array = np.asarray(values)
    if array.dtype.kind in "biu":
        return array.tolist()
    return [bits(row) for row in array] if array.ndim else float(array).hex()


def digest(column: np.ndarray) -> str:
    """SHA-256 (its first 16 digits) of a column's shape and bytes, as little-endian float64; any NaN counts as one."""
    values = np.ascontiguousarray(column, dtype="<f8")
    values = np.where(np.isnan(values), np.nan, values)
    return hashlib.sha256(repr(values.shape).encode() + values.tobytes()).hexdigest()[:16]


def course(trace: Any) -> dict[str, Any]:
    """Rows of a trace, a digest of every column but the times, and one of all of them together."""
    columns = trace.snapshot().columns
    digests = {name: digest(column) for name, column in sorted(columns.items()) if name != "seconds"}
    whole = hashlib.sha256("".join(f"{name} {one}\n" for name, one in digests.items()).encode()).hexdigest()
    return {"rows": len(columns.get("iteration", ())), "all": whole, "columns": digests}


def outcome(run: Any) -> dict[str, Any]:
    """What is compared of a run, whether it is a ``Run`` or stored."""
    out: dict[str, Any] = {
        "status": run.status,
        "iterations": run.progress.iteration,
        "trace": course(run.trace),
        "path": course(run.path),
        "journal": [[c.iteration, c.calls, c.name, plain(c.old), plain(c.new)] for c in run.journal],
        "hits": [[t.metric, t.threshold, bits(t.iteration), bits(t.calls)] for t in run.hits],
        "resolved": {name: plain(value) for name, value in run.resolved.items()},
        "spent_calls": run.spent_calls,
        "result": None,
    }
    try:
        result = run.result
    except ZovizError:  # it has no iterate yet
        return out
    fields = ("x", "fun", "maxcv", "success", "best_feasible", "best_value", "calls", "failures")
    values = {name: bits(getattr(result, name)) for name in fields}
    out["result"] = values | {"y": bits(result.multipliers), "nit": result.nit, "message": result.message}
    return out


def plain(value: Any) -> Any:
    """A parameter's value: numbers as ``float.hex`` writes them."""
    return bits(value) if isinstance(value, (float, np.floating)) else value


def ended(run: Run) -> dict[str, Any]:
    """What a run comes to, be it a failure."""
    try:
        run.run()
    except statistics.StatisticsError:
        assert run.status == "failed"
    return outcome(run)


def told(case: Case, run: str, path: Path) -> dict[str, Any]:
    """All that this commit makes of a stored run, each on a copy of the file."""
    given = {} if case.problem is None else {"problem": case.problem()}

    def opened(work: Callable[[Store], Any]) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(path, Path(folder) / "copy.db")
            with Store(f"sqlite:///{folder}/copy.db", trusted=case.trusted) as store:
                return work(store)

    def resumed(store: Store) -> dict[str, Any]:
        out = ended(store.resume(run, **given, **case.resume))
        assert outcome(store.load(run).around(given.get("problem"), None)) == out, case.name
        return out

    record = opened(lambda store: store.load(run).record)
    fork, after = case.fork, opened(resumed)
    if case.name != "study" and not case.resume:
        assert opened(lambda store: uninterrupted(case, store)) == after, case.name
    return {
        "id": run,
        "about": case.about,
        "portable": case.name not in UNPORTABLE,
        "record": {name: getattr(record, name) for name in LISTED},
        "figures": {name: bits(getattr(record, name)) for name in FIGURES},
        "trusted": case.trusted,
        "needs_problem": bool(given),
        "kept": opened(lambda store: evaluations(store, run, given)),
        "script": opened(lambda store: [[c.iteration, c.name, plain(c.new)] for c in store.load(run).script]),
        "stored": opened(lambda store: outcome(store.load(run).around(given.get("problem"), None))),
        "resume": {"settings": dict(case.resume), "outcome": after},
        "replay": {"outcome": opened(lambda store: ended(store.replay(run, **given)))},
        "fork": {
            "at": fork.at,
            "changes": dict(fork.changes),
            "settings": dict(fork.settings),
            "outcome": opened(
                lambda store: ended(store.fork(run, fork.at, dict(fork.changes), **given, **fork.settings))
            ),
        },
    }


def uninterrupted(case: Case, store: Store) -> dict[str, Any]:
    """What the run would have come to: that is what a resumed one comes to."""
    run = case.make(store)
    try:
        run.run(lambda: steer(case, run))
    except statistics.StatisticsError:
        assert run.status == "failed"
    return outcome(run)


def evaluations(store: Store, run: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The checkpoint's iteration, and how much was paid for: what a resumed run does not ask for again."""
    with store.database.reading() as connection:
        kept = read(connection, store.load(run).around(given.get("problem"), None))
    captured = None if kept.checkpoint is None else unpack(kept.checkpoint)
    return {
        "checkpoint": None if captured is None else captured["iteration"],
        "points_at_checkpoint": 0 if captured is None else int(captured["oracle"]["calls"].sum()),
        "points_after_checkpoint": sum(len(entry.x) for entry in kept.entries.values()),
        "asked": kept.asked,
    }


def fingerprint() -> dict[str, Any]:
    """What bits depend on: libraries, kernels, and a digest of sums that they do."""
    packages = ("numpy", "scipy", "cma")
    found = np.show_config(mode="dicts")
    pools = threadpoolctl.threadpool_info()
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "packages": {name: importlib.metadata.version(name) for name in packages},
        "simd": sorted(found["SIMD Extensions"].get("found", [])),
        "blas": sorted({f"{p['internal_api']} {p['version']} {p.get('architecture', '')}" for p in pools}),
        "arithmetic": arithmetic(),
    }


def arithmetic() -> str:
    """A digest of products, sums, decompositions, elementary functions and random numbers, in all their bits."""
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, 37, 37))
    c = generator.standard_t(3.0, 1000)
    parts = [a, c, a @ b, a[:5, :5] @ b[:5, :5], a[:5] @ b[0], a.sum(0), a.sum(), np.einsum("ij,kj->ik", a[:7], b)]
    parts += [np.exp(a), np.log(np.abs(a)), np.sin(a), np.tanh(a), np.abs(a) ** 1.3, np.hypot(a, b), np.sqrt(np.abs(c))]
    parts += [*np.linalg.eigh(a + a.T), np.linalg.solve(a, b), *np.linalg.qr(a), *np.linalg.svd(a[:5])]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


def main() -> None:
    """Write both files."""
    folder = Path(sys.argv[1])
    Recorder._go_on = lambda self: None  # the recorder's clock is held still: the cases say when it writes
    path = folder / f"{NAME}.db"
    path.unlink(missing_ok=True)
    write(path)
    Recorder._go_on = _GO_ON
    runs = {case.name: told(case, identity(case.name), path) for case in CASES}
    with tempfile.TemporaryDirectory() as elsewhere, Store(f"sqlite:///{elsewhere}/none.db") as store:
        cells = [cell.id for cell in study(store).cells]
    runs |= {f"study {i}": told(STUDY_CASE, cell, path) for i, cell in enumerate(cells)}
    whole = {"commit": COMMIT, "fingerprint": fingerprint(), "study": {"name": STUDY, "cells": cells}, "runs": runs}
    (folder / f"{NAME}.json").write_text(laid_out(whole, 3) + "\n")


def laid_out(value: Any, depth: int, indent: str = "") -> str:
    """JSON of which the outermost levels have a line for each entry."""
    if not depth or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = [f"{indent} {json.dumps(name)}: {laid_out(one, depth - 1, indent + ' ')}" for name, one in value.items()]
    return "{\n" + ",\n".join(inner) + f"\n{indent}}}"


_GO_ON = Recorder._go_on

if __name__ == "__main__":
    main()
