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
from typing import Any, NamedTuple

import numpy as np
import threadpoolctl

from zoviz import Run, Store
from zoviz.estimators import Coordinate, Sphere
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, QuadraticBilevel, StochasticQP, ToyBilevel
from zoviz.problems.blackbox import hs22_constraints, hs22_objective
from zoviz.runs.packing import unpack
from zoviz.runs.recorder import Recorder
from zoviz.runs.resuming import read
from zoviz.runs.study import Study
from zoviz.solvers import (
    CMAES,
    COBYLA,
    SOBOW,
    SOGD,
    ZOCEG,
    ZOEG,
    ZOSOGD,
    ZOSPLM,
    ProximalPoint,
    SampledALM,
    SmoothedALM,
    StormALM,
)
from zoviz.types import ZovizError

COMMIT, NAME = "5b150dc", "store_5b150dc"
HOST, FIRST = "elsewhere", 1767225600.0
"""Where and since when all of it happened: a machine that is not the reader's, and 2026-01-01."""

SQUARE = [(-4.0, 4.0)] * 2
STUDY, STUDY_SEEDS = "fixture study", (0, 1)


class End(NamedTuple):
    """How a run ends before its budget does: killed at an "iteration" or "evaluation", or while "paused"; a "stop"."""

    kind: str
    at: int


class Fork(NamedTuple):
    """Arguments of ``Store.fork``."""

    at: int
    changes: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}


class Case(NamedTuple):
    """One run: how it is made, steered, captured and ended, and what is asked of it afterwards.

    Attributes
    ----------
    name, about : str
        The first is the run's label, and its id follows from it.
    make : callable
        Takes the store, makes the run.
    steering : mapping of int to mapping
        After an iteration, values to set.
    captured : int, optional
        Iteration after which the recorder is handed the state; without it, it never is before the end.
    end : End, optional
    resume : mapping
        Settings with which it is resumed.
    fork : Fork
    trusted : tuple of str
        What a store must trust for it.
    problem : callable, optional
        Makes the problem where its functions have no name.
    """

    name: str
    about: str
    make: Callable[[Store], Run]
    fork: Fork
    steering: Mapping[int, Mapping[str, Any]] = {}
    captured: int | None = None
    end: End | None = None
    resume: Mapping[str, Any] = {}
    trusted: tuple[str, ...] = ()
    problem: Callable[[], BlackBox] | None = None


def identity(name: str) -> str:
    """32 hexadecimal digits."""
    return hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()


def qcqp(**settings: Any) -> NonconvexQCQP:
    """Five variables, one constraint."""
    return NonconvexQCQP(n=5, noise_scale=0.01, **settings)


def loads(**settings: Any) -> LoadTracking:
    """Five loads."""
    return LoadTracking(n=5, curtailment=40.0, **settings)


def nameless() -> BlackBox:
    """Problem 22 of Hock and Schittkowski from lambdas, point by point."""
    return BlackBox(
        lambda x: float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2),
        lambda x: [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])],
        bounds=SQUARE,
        m=2,
    )


def average() -> BlackBox:
    """A function of the standard library that raises where a variable is not positive."""
    return BlackBox(statistics.geometric_mean, bounds=[(-1.0, 4.0)] * 2, x0=(2.0, 1.0), scaled=False)


def small_sphere() -> Sphere:
    """Directions in numbers that keep a run cheap."""
    return Sphere(batch_size=8)


def wide_sphere() -> Sphere:
    """Radii at which differences of values are not mostly rounding."""
    return Sphere(batch_size=6, smoothing_radius=0.01)


def run_of(store: Store, problem: Any, solver: Any, iterations: int | None, seed: int, **settings: Any) -> Run:
    """A run of two replicas, where nothing else is said."""
    return Run(
        problem=problem, solver=solver, iterations=iterations, seed=seed, store=store, **({"replicas": 2} | settings)
    )


CASES = (
    Case(
        "general finished",
        "ZOSPLM on NonconvexQCQP, common noise, targets; label, notes and tags",
        lambda store: run_of(
            store,
            qcqp(noise="common"),
            ZOSPLM(estimator=small_sphere()),
            12,
            1,
            targets={"violation": [1.0, 0.1], "gap": 0.5},
        ),
        Fork(7, {"primal_step": 0.01}),
        resume={"iterations": 18},
    ),
    Case(
        "general steered",
        "ZOCEG on LoadTracking, steered live twice, an estimator's parameter too",
        lambda store: run_of(store, loads(), ZOCEG(), 12, 2),
        Fork(9, {"dual_step": 0.05, "estimator.smoothing_radius": 2e-4}),
        {4: {"primal_step": 0.1}, 8: {"primal_step": 0.2, "estimator.smoothing_radius": 1e-4}},
        resume={"iterations": 16},
    ),
    Case(
        "general forked",
        "a fork of 'general steered' at 6, killed before its script was through",
        lambda store: store.fork(identity("general steered"), 6, {"primal_step": 0.05}, iterations=14, label=""),
        Fork(8, {"primal_step": 0.15}),
        captured=5,
        end=End("iteration", 9),
    ),
    Case(
        "general interrupted",
        "ZOSPLM on NonconvexQCQP, Student noise, targets; steered before and after the checkpoint",
        lambda store: run_of(
            store,
            qcqp(noise="independent", noise_distribution="student_t"),
            ZOSPLM(estimator=small_sphere()),
            16,
            3,
            targets={"gap": [40.0, 0.01]},
        ),
        Fork(8, {"primal_step": 5e-4}),
        {3: {"primal_step": 2e-4}, 8: {"dual_step": 1e-4, "estimator.batch_size": 5}},
        captured=6,
        end=End("iteration", 10),
    ),
    Case(
        "general scaled",
        "ZOEG on LoadTracking in units of its own, killed while it was paused",
        lambda store: run_of(store, loads(scaled=True), ZOEG(estimator=small_sphere()), 12, 4),
        Fork(5, {"schedule": "diminishing"}),
        end=End("paused", 7),
    ),
    Case(
        "general calls spent",
        "ZOCEG on LoadTracking, ended by its calls within a step",
        lambda store: run_of(store, loads(), ZOCEG(), None, 5, calls=100),
        Fork(5, {"primal_step": 0.1}),
        captured=5,
        resume={"calls": 150},
    ),
    Case(
        "general stopped",
        "ZOEG on NonconvexQCQP, stopped by hand",
        lambda store: run_of(store, qcqp(), ZOEG(estimator=small_sphere()), 12, 6),
        Fork(4, {"dual_step": 0.02}),
        end=End("stop", 6),
    ),
    Case(
        "general failed",
        "ZOCEG on a function of the standard library, to be trusted, which raised",
        lambda store: run_of(
            store,
            average(),
            ZOCEG(primal_step=0.15, dual_step=0.1, dual_cap=10.0, estimator=Coordinate(smoothing_radius=1e-3)),
            12,
            7,
        ),
        Fork(2, {"primal_step": 0.01}),
        captured=2,
        trusted=("statistics:geometric_mean",),
    ),
    Case(
        "general nested",
        "ProximalPoint around ZOCEG on NonconvexQCQP, the inner solver steered",
        lambda store: run_of(store, qcqp(), ProximalPoint(inner=ZOCEG(), stage_length=4), 12, 8),
        Fork(8, {"inner.primal_step": 0.02, "objective_weight": 0.2}),
        {3: {"inner.primal_step": 0.03}},
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "every call",
        "ZOCEG on the functions of problem 22, point by point; killed within a step, steered after the checkpoint",
        lambda store: run_of(
            store,
            BlackBox(hs22_objective, hs22_constraints, SQUARE, m=2),
            ZOCEG(),
            8,
            9,
            replicas=1,
            checkpoint="every call",
        ),
        Fork(4, {"primal_step": 0.002}),
        {1: {"primal_step": 0.004}, 3: {"primal_step": 0.008}},
        captured=2,
        end=End("evaluation", 32),
    ),
    Case(
        "every call, no checkpoint",
        "ZOSPLM on BlackBox(), vectorised, killed before any checkpoint",
        lambda store: run_of(store, BlackBox(), ZOSPLM(estimator=small_sphere()), 8, 10, checkpoint="every call"),
        Fork(2, {"primal_step": 0.02}),
        end=End("evaluation", 8),
    ),
    Case(
        "nameless",
        "ZOCEG on lambdas: the problem must be given",
        lambda store: run_of(store, nameless(), ZOCEG(), 12, 11),
        Fork(5, {"primal_step": 0.003}),
        captured=5,
        end=End("iteration", 8),
        problem=nameless,
    ),
    Case(
        "peer interrupted",
        "CMAES on BlackBox(): no checkpoint, its evaluations are kept",
        lambda store: run_of(store, BlackBox(), CMAES(), 8, 12),
        Fork(3, settings={"iterations": 6}),
        captured=4,
        end=End("iteration", 6),
    ),
    Case(
        "peer deleted",
        "COBYLA on NonconvexQCQP, finished, deleted",
        lambda store: run_of(store, qcqp(), COBYLA(), 12, 13),
        Fork(3, settings={"iterations": 8}),
        resume={"iterations": 16},
    ),
    Case(
        "linear finished",
        "SmoothedALM on StochasticQP",
        lambda store: run_of(store, StochasticQP(n=8), SmoothedALM(horizon=100), 12, 15, targets={"violation": 2.0}),
        Fork(6, {"penalty": 3.0}),
        resume={"iterations": 18},
    ),
    Case(
        "linear interrupted",
        "StormALM from values on StochasticQP, steered",
        lambda store: run_of(
            store,
            StochasticQP(n=8),
            StormALM(gradients="zeroth-order", horizon=100, estimator=Sphere(smoothing_radius=None, batch_size=3)),
            12,
            16,
        ),
        Fork(7, {"momentum": 0.5}),
        {3: {"primal_step": 0.01}, 7: {"dual_step": 0.03}},
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "linear sampled",
        "SampledALM on StochasticQP with sampled rows, inequalities",
        lambda store: run_of(
            store, StochasticQP(n=8, sampled_rows=True, constraints="inequalities"), SampledALM(horizon=100), 12, 17
        ),
        Fork(5, {"primal_step": 0.01}),
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "bilevel finished",
        "SOGD on QuadraticBilevel",
        lambda store: run_of(store, QuadraticBilevel(n=3, d=4), SOGD(), 12, 18),
        Fork(6, {"outer_step": 0.02}),
        resume={"iterations": 18},
    ),
    Case(
        "bilevel interrupted",
        "ZOSOGD on QuadraticBilevel, with its regret, steered before and after the checkpoint",
        lambda store: run_of(
            store,
            QuadraticBilevel(n=3, d=4, noise="common"),
            ZOSOGD(estimator=wide_sphere(), outer_estimator=wide_sphere()),
            12,
            19,
        ),
        Fork(7, {"inner_step": 0.05}),
        {3: {"outer_step": 0.02}, 8: {"outer_step": 0.03}},
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "bilevel window",
        "SOBOW on ToyBilevel: a window of samples in its state",
        lambda store: run_of(store, ToyBilevel(), SOBOW(), 12, 20),
        Fork(5, {"outer_step": 0.05}),
        captured=6,
        end=End("iteration", 9),
    ),
)
"""In the order of making: a fork comes after what it is a fork of."""

STUDY_CASE = Case(
    "study",
    "a cell of a study of ZOCEG on LoadTracking",
    lambda store: None,
    Fork(3, {"primal_step": 0.1}),
    captured=4,
    end=End("iteration", 6),
)
"""Of the cells the second is killed."""

UNPORTABLE = ("every call, no checkpoint", "peer interrupted", "peer deleted")
"""Whose outcomes mean nothing under another arithmetic: a run whose steps were rounded otherwise has not paid for the
same points, and the peers magnify rounding."""

LISTED = (
    "label",
    "problem",
    "solver",
    "status",
    "iterations",
    "calls",
    "seed",
    "replicas",
    "notes",
    "tags",
    "study",
    "message",
    "parent",
)
FIGURES = ("objective", "violation", "best_value")
"""Fields of a run's line in the list that depend neither on the clock nor on the machine."""

NOTES = {
    "general finished": ("Notes of two lines:\nÄ, μ₀ and 100 %.", ("first", "two words")),
    "general interrupted": ("Power went.", ("first",)),
    "bilevel finished": ("", ("online",)),
}


def study(store: Store) -> Study:
    """Two cells, of which the ids follow from what they consist of."""
    return Study(STUDY, loads(), ZOCEG(), seeds=STUDY_SEEDS, replicas=2, iterations=8, store=store)


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
