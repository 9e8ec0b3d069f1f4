"""A stored run, to be read and drawn like one that is at work."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np
from sqlalchemy import Connection, select

from zoviz.core.encoding.binary import unpack
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.core.units import Units, of_sizes
from zoviz.evaluation.worker_log import WorkerTable, rows_of
from zoviz.oracle import LedgerSums
from zoviz.problems.base import Problem
from zoviz.problems.noise import UNKNOWN
from zoviz.runs import repeat, resume
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.checkpoint import ResumeData, place, points
from zoviz.runs.engine.guard import Divergence, read_divergences
from zoviz.runs.engine.history import PATH_POINTS, RunHistory
from zoviz.runs.engine.result import OUTCOME, Polished, Result
from zoviz.runs.engine.spec import EVERY_CALL, FREE, LISTED, RunSettings, RunSpec
from zoviz.runs.engine.steering import Change, Journal
from zoviz.runs.engine.stopping import BUDGETS, Ending, Progress, RunStatus, build
from zoviz.runs.engine.trace import CAPACITY, Trace
from zoviz.runs.export import description, export
from zoviz.runs.run import Run, RunStore
from zoviz.runs.run_view import RunView
from zoviz.runs.storage import queries
from zoviz.runs.storage.database import UnknownName
from zoviz.runs.storage.queries import Record
from zoviz.runs.storage.recipe import check_same, describe, names, rebuild
from zoviz.runs.storage.schema import JOURNAL, RECIPES, SEGMENTS
from zoviz.runs.storage.signature import is_own
from zoviz.runs.storage.trace_segments import assemble
from zoviz.solvers.base import Solver


class StoredHistory(RunHistory):
    """What a stored run had done when it was loaded.

    Parameters
    ----------
    connection : Connection
    record : Record
        Its line in the list.
    recipe : mapping
        Its stored description.
    settings : RunSettings
    """

    def __init__(
        self, connection: Connection, record: Record, recipe: Mapping[str, Any], settings: RunSettings
    ) -> None:
        super().__init__(rebuild(json.loads(recipe["resolved"])))
        self.status, self.message, self._record, self._settings = record.status, record.message, record, settings
        self.journal = Journal(_changes(connection, record.id))
        self.trace = _course(connection, record.id, "trace", CAPACITY)
        self.path = _course(connection, record.id, "path", PATH_POINTS)
        self.outcome = _outcome(connection, record.id)
        if record.status.ended and (judged := resume.snapshot(connection, record.id, "answer")) is not None:
            self.answer = Answer.read(judged)
        self.spent_calls = bool(self.outcome and self.outcome["spent_calls"])
        self.ending = Ending(self.outcome["ending"]) if self.outcome else Ending.FAILED
        self.targets = build(settings.targets, settings.replicas)
        for target, hit in zip(self.targets, self.outcome["hits"] if self.outcome else [], strict=False):
            target.restore(hit)

    @property
    def progress(self) -> Progress:
        counts = {name: getattr(self._record, name) for name in BUDGETS}
        return Progress(counts, self._settings.limits.fraction(counts))

    @property
    def tolerances(self) -> Array:
        return np.array(self.outcome.get("tolerance", ()), dtype=float)

    @property
    def measured_units(self) -> dict[str, Any] | None:
        return cast("dict[str, Any] | None", self.outcome.get("units"))

    @property
    def frozen(self) -> int:
        return int((~self.outcome["active"]).sum()) if self.outcome else 0

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        return read_divergences(self.outcome.get("divergences", ()))

    @property
    def has_result(self) -> bool:
        return bool(self.outcome)

    @property
    def result(self) -> Result:
        stored = self.outcome
        values: Mapping[str, Any] = {name: np.array(stored[name]) for name in OUTCOME}
        return Result(
            **values,
            status=self.status,
            message=stored["message"] if self.status.ended else f"The run is {self.status}.",
            ending=self.ending,
            nit=int(stored["iteration"]),
            seed=self._settings.seed,
            trace=self.trace,
            tolerance=self.tolerances,
            polished=Polished(**stored["polished"]) if "polished" in stored else None,
            ledger=LedgerSums(**stored["ledger"]),
            form=stored["form"],
        )


class StoredRun(RunView):
    """A run as it was when it was loaded, to be read like a ``Run``.

    Attributes
    ----------
    record : Record
        Its line in the list.
    recipe : dict
        Its stored description.
    schedule : Journal
        Changes that were planned ahead.
    versions : dict
        Libraries that it began with.
    """

    _history: StoredHistory

    def __init__(self, store: RunStore, connection: Connection, run: str) -> None:
        record = queries.one(connection, run)
        if record is None:
            raise UnknownName(f"Expected a run that is in the store, got {run[:8]}, which was removed meanwhile.")
        self.recipe = dict(connection.execute(select(RECIPES).where(RECIPES.c.run == run)).one()._mapping)
        stored = {name: rebuild(held) for name, held in json.loads(self.recipe["settings"]).items()}
        super().__init__(**stored | {name: getattr(record, name) for name in LISTED})
        self.record, self.store = record, store
        self.versions: dict[str, str] = json.loads(self.recipe["versions"])
        self.schedule = Journal(Change(**rebuild(change)) for change in json.loads(self.recipe["schedule"]))
        self._history = StoredHistory(connection, record, self.recipe, self)

    def __repr__(self) -> str:
        return f"<run {self.id[:8]}: {self.record.solver} on {self.record.problem}, {self.status}>"

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def active(self) -> bool:
        return False

    @property
    def workers(self) -> WorkerTable:
        return WorkerTable(tuple(rows_of(self.problem_snapshot.get("workers", {})).values()))

    @cached_property
    def own(self) -> bool:
        """Whether this user began the run on this machine and in this folder, so that it needs no other trust."""
        return self.store.own and is_own(self.id, self.recipe)

    @property
    def trusted(self) -> tuple[str, ...]:
        """The names from which its problem and solver may be rebuilt."""
        return (*self.store.trusted, *self.names) if self.own else self.store.trusted

    @cached_property
    def problem(self) -> Problem:
        problem: Problem = rebuild(json.loads(self.recipe["problem"]), trusted=self.trusted)
        problem.restore(self.problem_snapshot)
        return problem

    @cached_property
    def solver(self) -> Solver:
        solver: Solver = rebuild(json.loads(self.recipe["solver"]), trusted=self.trusted)
        return solver

    @cached_property
    def initial(self) -> RunSpec:
        """The description with problem and solver as they were at the start.

        Raises
        ------
        ZovizError
            Where problem or solver cannot be made again.
        """
        return RunSpec(self.problem, self.solver, schedule=self.schedule, resolved=self.resolved, **self.settings)

    @property
    def evaluations(self) -> tuple[Array, Array]:
        """The calls that the store has, all where it was stored with every call: x (N, n) and values (N, 1 + m).

        Raises
        ------
        ZovizError
            Where it has none.
        """
        with self.store.database.reading() as connection:
            entries = resume.evaluations(connection, self.id, 0, RunStatus.FINISHED).values()
        joint = [entry for entry in entries if not entry.kind]
        if not joint:
            raise ZovizError(f'Expected a run with checkpoint="{EVERY_CALL}", got one whose calls were not stored.')
        return np.concatenate([one.x for one in joint]), np.concatenate([one.values for one in joint])

    @property
    def units(self) -> Units | None:
        return None if self.measured_units is None else of_sizes(self.problem.domain, **self.measured_units)

    def resume(self, *, problem: Problem | None = None, solver: Solver | None = None, **settings: Any) -> Run:
        """Make the run: started, it goes on from its last checkpoint, and ends as if it had never stopped.

        One that failed asks again for what it failed on. What the store has at this moment counts, not at loading.

        Parameters
        ----------
        problem, solver : optional
            For a run whose functions have no name by which they could be imported: the objects themselves.
        settings
            Other budgets, or another ``checkpoint``, than it had.

        Raises
        ------
        StoreError
            When it is started, where it is at work.
        ZovizError
            Where it cannot be made again, or other settings are asked for.
        """
        other = sorted(settings.keys() - set(FREE))
        if other:
            raise ZovizError(f"Expected one of {', '.join(FREE)} for a run that goes on, got {other[0]}: fork it.")
        with self.store.database.reading() as connection:
            now = StoredRun(self.store, connection, self.id)
            data = resume.snapshot(connection, self.id, "checkpoint")
            examination = resume.snapshot(connection, self.id, "examination")
            spent = points(data)
            entries = resume.evaluations(connection, self.id, spent, now.status)
        now._substitute(problem, solver)
        points_asked = max((ordinal + len(entry.x) for ordinal, entry in entries.items()), default=spent)
        resume_data = ResumeData(data, now.trace, now.path, now.journal, entries, points_asked, examination)
        return Run.of(now.initial.replaced(**settings), store=self.store, id=self.id, resume_data=resume_data)

    def resume_data(self, at: int) -> ResumeData:
        with self.store.database.reading() as connection:
            data = resume.snapshot(connection, self.id, "last step" if self.status.ended else "checkpoint")
            if data is not None and place(data)[0] > min(at, self.progress.iteration):
                data = None
            entries = resume.evaluations(connection, self.id, points(data), self.status)
        return ResumeData(data, self.trace, self.path, Journal(), entries, points(data), forked=True)

    def replay(self, *, problem: Problem | None = None, solver: Solver | None = None) -> Run:
        """Make a run that repeats this one bit for bit, its steering included, and ends where it ended.

        Parameters
        ----------
        problem, solver : optional
            For a run whose functions have no name by which they could be imported: the objects themselves.
        """
        self._substitute(problem, solver)
        return Run.of(repeat.replayed(self), store=self.store)

    def fork(
        self,
        at: int | None = None,
        changes: Mapping[str, Any] | None = None,
        *,
        problem: Problem | None = None,
        solver: Solver | None = None,
        **settings: Any,
    ) -> Run:
        """Make a run that equals this one up to iteration ``at``, then goes on with the same random numbers.

        What was computed before the last checkpoint up to there, or stored with every call, is not computed again.

        Parameters
        ----------
        at : int, optional
            Default: the last iteration that is stored.
        changes : mapping, optional
            Live parameters to set at ``at``.
        problem, solver : optional
            As for ``replay``.
        settings
            Settings of the new ``Run``, e.g. budgets, or another ``store``.
        """
        self._substitute(problem, solver)
        return Run.forked(self, at, changes, **{"store": self.store} | settings)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the run's course to a ``.csv``, ``.parquet`` or ``.nc`` file (the last two need the extra "export").

        Parameters
        ----------
        path : path
        """
        export(self, path, description(self.record, self.recipe, self.journal))

    def _substitute(self, problem: Problem | None, solver: Solver | None) -> None:
        """Use the given problem and solver instead of rebuilding them from the recipe.

        Raises
        ------
        ZovizError
            Where one differs from what was stored.
        """
        for kind, substitute in (("problem", problem), ("solver", solver)):
            if substitute is not None:
                stored, own = json.loads(self.recipe[kind]), substitute.clone()
                if isinstance(own, Problem) and own.noise == UNKNOWN:  # nothing is said of it: it is what it was
                    own.noise = stored["values"].get("noise", UNKNOWN)
                check_same(stored, describe(own), kind)
                setattr(self, kind, own)
                vars(self).pop("initial", None)
        if problem is not None:
            self.problem.restore(self.problem_snapshot)

    @property
    def problem_snapshot(self) -> dict[str, Any]:
        """The side effects of evaluating, such as call numbers, that a rebuilt problem takes over."""
        return cast("dict[str, Any]", self._history.outcome.get("problem", {}))

    @property
    def names(self) -> set[str]:
        """The classes, functions and programs that rebuilding takes: what to trust."""
        return names([json.loads(self.recipe[kind]) for kind in ("problem", "solver")])


def _changes(connection: Connection, run: str) -> list[Change]:
    query = select(*(JOURNAL.c[name] for name in Change._fields)).where(JOURNAL.c.run == run).order_by(JOURNAL.c.number)
    rows = connection.execute(query).all()
    return [
        Change(row[0], row[1], row[2], row[3], rebuild(json.loads(row.old)), rebuild(json.loads(row.new)))
        for row in rows
    ]


def _course(connection: Connection, run: str, kind: str, capacity: int) -> Trace:
    query = select(SEGMENTS.c.stride, SEGMENTS.c.data).where(SEGMENTS.c.run == run, SEGMENTS.c.kind == kind)
    rows = connection.execute(query.order_by(SEGMENTS.c.number)).all()
    return assemble([(row.stride, row.data) for row in rows], capacity)


def _outcome(connection: Connection, run: str) -> dict[str, Any]:
    """Return how a run ended, by name; empty where it has not, or was killed.

    It is read here and not where it is used: a page that shows the run would fail at each look at it.
    """
    outcome = _snapshot(connection, run, "outcome")
    kinds = {"active": np.ndarray, "hits": list, "spent_calls": bool, "ending": int}
    held = outcome if isinstance(outcome, dict) else {}
    wrong = [name for name, kind in kinds.items() if type(held.get(name)) is not kind]
    if outcome and wrong:
        raise ZovizError(
            f"Expected the outcome of the run {run[:8]} with {', '.join(kinds)}, got one whose {', '.join(wrong)} "
            "cannot be read: it was damaged or altered. Other runs of the store can be used."
        )
    return outcome


def _snapshot(connection: Connection, run: str, kind: str) -> dict[str, Any]:
    data = resume.snapshot(connection, run, kind)
    return {} if data is None else unpack(data)
