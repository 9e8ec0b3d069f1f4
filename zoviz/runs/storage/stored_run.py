"""A run as a store has it: to be read and drawn like one that is at work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from zoviz.core.binary import unpack
from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.engine.journal import Change, Journal
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.run_view import Progress
from zoviz.runs.engine.stopping import Limits, RunStatus, Target, build
from zoviz.runs.engine.trace import CAPACITY, Trace
from zoviz.runs.engine.worker import PATH_POINTS
from zoviz.runs.storage import queries, recipe
from zoviz.runs.storage.recipe import check_same, describe, rebuild
from zoviz.runs.storage.schema import JOURNAL, RECIPES, SEGMENTS, SNAPSHOTS
from zoviz.runs.storage.signature import is_own
from zoviz.runs.storage.trace_segments import assemble
from zoviz.solvers.base import Solver


class Stored:
    """What a store knows of a run at the moment of loading, with the names that a ``Run`` has for it.

    Attributes
    ----------
    record : Record
        Its line in the list.
    trace, path : Trace
    journal, script : Journal
        Steering so far; changes that it was told to make by itself.
    settings : dict
        Parameters of the run but problem and solver.
    versions : dict
        Libraries that it began with.
    resolved : dict
        What the solver's rule chose.
    """

    error = None

    def __init__(self, connection: Connection, run: str, trusted: tuple[str, ...] = (), own: bool = False) -> None:
        record = queries.one(connection, run)
        assert record is not None  # whoever asks has found it
        self.record = record
        self._trusted, self._trusts_own = trusted, own
        self.recipe = dict(connection.execute(select(RECIPES).where(RECIPES.c.run == run)).one()._mapping)
        self.versions: dict[str, str] = json.loads(self.recipe["versions"])
        held = json.loads(self.recipe["settings"])
        self.settings: dict[str, Any] = {name: rebuild(value) for name, value in held.items()}
        self.settings |= {"label": self.record.label, "parent": self.record.parent}
        self.resolved: dict[str, Any] = rebuild(json.loads(self.recipe["resolved"]))
        self.script = Journal(_change(rebuild(change)) for change in json.loads(self.recipe["schedule"]))
        self.journal = Journal(_changes(connection, run))
        self.trace = _course(connection, run, "trace", CAPACITY)
        self.path = _course(connection, run, "path", PATH_POINTS)
        self._outcome = _snapshot(connection, run, "outcome")

    def __repr__(self) -> str:
        return f"<run {self.id[:8]}: {self.record.solver} on {self.record.problem}, {self.status}>"

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""
        return self.record.id

    @property
    def label(self) -> str:
        """Name for people."""
        return self.record.label

    @property
    def status(self) -> RunStatus:
        """The status: running, paused, finished, stopped, failed or interrupted."""
        return self.record.status

    @property
    def message(self) -> str:
        """One sentence on how the run ended."""
        return self.record.message

    @property
    def active(self) -> bool:
        """False: nothing here is going on."""
        return False

    @property
    def replicas(self) -> int:
        """R."""
        return self.record.replicas

    @property
    def seed(self) -> int:
        """Seed of its random numbers."""
        return self.record.seed

    @cached_property
    def own(self) -> bool:
        """Whether this user has begun it, on this machine and from this folder, so that it needs no other trust."""
        return self._trusts_own and is_own(self.id, self.recipe)

    @property
    def trusted(self) -> tuple[str, ...]:
        """Names from which its problem and solver may be made again."""
        return (*self._trusted, *self.names) if self.own else self._trusted

    @cached_property
    def problem(self) -> Problem:
        """The problem, made again from its class and values."""
        problem = rebuild(recipe.read(self.recipe["problem"]), trusted=self.trusted)
        problem.recall(self.memory)
        return problem

    @cached_property
    def solver(self) -> Solver:
        """The solver as it was at the start, made again from its class and values."""
        return rebuild(recipe.read(self.recipe["solver"]), trusted=self.trusted)

    def around(self, problem: Problem | None, solver: Solver | None) -> Stored:
        """Itself, with these objects in the place of those to be made again.

        Raises
        ------
        ZovizError
            Where one is not what was stored.
        """
        for kind, given in (("problem", problem), ("solver", solver)):
            if given is not None:
                check_same(recipe.read(self.recipe[kind]), describe(given), kind)
                setattr(self, kind, given.clone())
        if problem is not None:
            self.problem.recall(self.memory)
        return self

    @property
    def initial(self) -> tuple[Problem, Solver]:
        """Problem and solver as they were at the start."""
        return self.problem, self.solver

    @property
    def limits(self) -> Limits:
        """Its budgets."""
        return Limits(*(self.settings[name] for name in Limits._fields))

    @property
    def progress(self) -> Progress:
        """Counters when it was last heard of."""
        done = self.record.iterations, self.record.calls, self.record.seconds
        return Progress(*done, self.limits.fraction(*done))

    @property
    def spent_calls(self) -> bool:
        """Whether the call budget ended the run, in mid-step."""
        return bool(self._outcome and self._outcome["spent_calls"])

    @property
    def memory(self) -> dict[str, Any]:
        """What evaluating left behind beside values."""
        return self._outcome.get("memory", {})

    @property
    def names(self) -> set[str]:
        """Classes, functions and programs that making its problem and solver again takes: what to trust."""
        return recipe.names([recipe.read(self.recipe[kind]) for kind in ("problem", "solver")])

    @property
    def hits(self) -> list[Target]:
        """Targets with their first hits."""
        targets = build(self.settings["targets"], self.replicas)
        for target, known in zip(targets, self._outcome["hits"] if self._outcome else [], strict=False):
            target.iteration, target.calls, target.seconds = known
        return targets

    @property
    def frozen(self) -> int:
        """Replicas that a non-finite value stopped."""
        return int((~self._outcome["active"]).sum()) if self._outcome else 0

    @property
    def has_iterate(self) -> bool:
        """Whether there is a result."""
        return bool(self._outcome)

    @property
    def result(self) -> Result:
        """The outcome, in SciPy's names.

        Raises
        ------
        ZovizError
            Where the run had no iterate yet.
        """
        if not self.has_iterate:
            raise ZovizError(f"The run {self.id[:8]} has no iterate yet (it is {self.status}). {self.message}".rstrip())
        names = ("x", "fun", "maxcv", "success", "multipliers", "best_feasible", "best_value", "calls", "failures")
        values: Mapping[str, Any] = {name: np.array(self._outcome[name]) for name in names}
        message = self._outcome["message"] if self.status.ended else f"The run is {self.status}."
        return Result(
            **values,
            status=self.status,
            message=message,
            nit=int(self._outcome["iteration"]),
            nfev=values["calls"].copy(),
            seed=self.seed,
            trace=self.trace,
        )


def _change(stored: Any) -> Change:
    """A planned change; the first stores have its values in their order."""
    return Change(**stored) if isinstance(stored, Mapping) else Change(*stored)


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


def _snapshot(connection: Connection, run: str, kind: str) -> dict[str, Any]:
    query = select(SNAPSHOTS.c.data).where(SNAPSHOTS.c.run == run, SNAPSHOTS.c.kind == kind)
    data = connection.execute(query).scalar()
    return {} if data is None else unpack(data)
