"""A cell of a study: its identity, and its run, in this process or in another."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.storage.database import AtWork
from zoviz.runs.storage.recipe import describe, names, rebuild, unnamed
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.solvers.parameter_lookup import owner

DONE = (RunStatus.FINISHED, RunStatus.DIVERGED, RunStatus.FAILED)
"""Statuses of a cell that needs no more work, unless failed cells are to be run again."""

_EVERY = 0.5
"""Seconds between two looks at a cell that another process is running."""


class Cell(NamedTuple):
    """One run of a study: a problem, a solver, values of their parameters and a seed; its replicas run in lock-step.

    Attributes
    ----------
    id : str
        Of its run in the store. It follows from all that the cell consists of, so that no cell is done twice.
    problem, solver : str
        Names in the study.
    values : dict
        Parameters that this cell sets.
    seed : int
    """

    id: str
    problem: str
    solver: str
    values: dict[str, Any]
    seed: int

    @property
    def method(self) -> str:
        """The solver's name, followed by the values that the cell sets."""
        values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"{self.solver} ({values})" if values else self.solver


class Job(NamedTuple):
    """A cell's id and the specification of its run.

    Attributes
    ----------
    id : str
        Of its run in the store.
    spec : RunSpec
    failed : float or None
        Time stamp of the failure to retry; a newer failure is not retried.
    """

    id: str
    spec: RunSpec
    failed: float | None = None


class PackedJob(NamedTuple):
    """A job that can be sent to another process: problem and solver as recipes, settings by name."""

    id: str
    problem: Any
    solver: Any
    settings: dict[str, Any]
    failed: float | None


def identify(place: tuple[str, str], spec: RunSpec, owner: str | None = None) -> str:
    """Return the cell's id: 32 hexadecimal digits, from its owner and everything that determines its outcome.

    Functions count by their names; where one has none, the names in the study (``place``) of problem and solver do.
    """
    whole = [spec.study, *(describe(one) for one in (spec.problem, spec.solver, spec.identity))]
    if unnamed(whole):
        whole.append(list(place))
    if owner:
        whole.append({"owner": owner})
    digest = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).digest()
    return uuid.UUID(bytes=digest[:16]).hex


def fitted(problem: Problem, solver: Solver, values: Mapping[str, Any]) -> tuple[Problem, Solver]:
    """Return clones of the problem and the solver with the cell's values set.

    Raises
    ------
    ValueError
        For a parameter that neither has, or a value that it does not take.
    """
    problem, solver = problem.clone(), solver.clone()
    for name, value in values.items():
        holder, own = owner(problem, solver, name)
        setattr(holder, own, value)
    return problem, solver


def perform(store: Store, job: Job) -> str:
    """Run a cell, resume it where it ended early, or wait for the process that is running it.

    A run that was interrupted or stopped goes on from its last checkpoint, and so does one that failed where the job
    says that it is to be run again.

    Returns
    -------
    str
        Its status at the end. What the black box raised is in the store, as the run's message.
    """
    while True:
        record = store.record(job.id)
        status = None if record is None else record.status
        again = record is not None and status is RunStatus.FAILED and record.updated == job.failed
        if status in DONE and not again:
            return str(status)
        if status is None:
            run = Run.of(job.spec, store=store, id=job.id)
        elif status.active:
            time.sleep(_EVERY)
            continue
        else:
            run = store.load(job.id).resume(problem=job.spec.problem, solver=job.spec.solver)
        try:
            run.run()
        except AtWork:
            continue
        except Exception:  # a black box may raise anything: the store has it, and the study's table tells
            if run.error is None:  # it never began
                raise
        return run.status


def packed(job: Job) -> PackedJob:
    """Return the job with recipes in the place of objects, for another process.

    Raises
    ------
    ZovizError
        Where a function has no name by which another process could import it.
    """
    problem, solver = describe(job.spec.problem), describe(job.spec.solver)
    nameless = unnamed([problem, solver])
    if nameless:
        raise ZovizError(
            f"Expected functions that another process can import, got {nameless[0]}: put it into a module, or use one "
            "worker."
        )
    return PackedJob(job.id, problem, solver, job.spec.settings, job.failed)


def perform_elsewhere(store: Store, job: PackedJob) -> str:
    """Rebuild a job's objects from their recipes and ``perform`` it."""
    trusted = (*store.trusted, *names([job.problem, job.solver]))
    problem, solver = (rebuild(one, trusted=trusted) for one in (job.problem, job.solver))
    return perform(store, Job(job.id, RunSpec(problem, solver, **job.settings), job.failed))
