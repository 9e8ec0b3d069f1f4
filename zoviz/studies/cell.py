"""One cell of a study: its identity, and how it is run to its end in this process or in another."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.storage import recipe
from zoviz.runs.storage.database import AtWork
from zoviz.runs.storage.recipe import describe, names, rebuild, unnamed
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.solvers.parameter_lookup import owner

DONE = (RunStatus.FINISHED, RunStatus.FAILED)
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


class Parcel(NamedTuple):
    """A cell with what running it takes: the objects, or the recipes of both for another process.

    ``failed`` is when a run that has failed, and is to be run again, was last heard of; one that failed later is done.
    """

    id: str
    problem: Any
    solver: Any
    settings: dict[str, Any]
    failed: float | None = None


def identify(study: str, place: tuple[str, str], problem: Problem, solver: Solver, settings: Mapping[str, Any]) -> str:
    """Return the cell's id, 32 hexadecimal digits that depend on all that decides its outcome.

    Functions count by their names; where one has none, the names in the study (``place``) of problem and solver do.
    """
    decisive = {name: value for name, value in settings.items() if name not in ("label", "checkpoint")}
    # By the names that the first stores had, so that what was done then is not done again.
    whole = [study, *(recipe.as_first_stored(describe(one)) for one in (problem, solver, decisive))]
    if unnamed(whole):
        whole.append(list(place))
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


def perform(store: Store, parcel: Parcel) -> str:
    """Run a cell, resume it where it ended early, or wait for the process that is running it.

    A run that was interrupted or stopped goes on from its last checkpoint, and so does one that failed where the parcel
    says that it is to be run again.

    Returns
    -------
    str
        Its status at the end. What the black box raised is in the store, as the run's message.
    """
    while True:
        record = store.record(parcel.id)
        status = None if record is None else record.status
        again = record is not None and status is RunStatus.FAILED and record.updated == parcel.failed
        if status in DONE and not again:
            return str(status)
        if status is None:
            run = Run(problem=parcel.problem, solver=parcel.solver, store=store, **parcel.settings)
            run.id = parcel.id
        elif status.active:
            time.sleep(_EVERY)
            continue
        else:
            run = store.resume(parcel.id, problem=parcel.problem, solver=parcel.solver)
        try:
            run.run()
        except AtWork:
            continue
        except Exception:
            if run.error is None:  # it never began; else it is in the store, and the study's table tells
                raise
        return run.status


def wrapped(parcel: Parcel) -> Parcel:
    """Return the parcel with recipes in the place of objects, for another process.

    Raises
    ------
    ZovizError
        Where a function has no name by which another process could import it.
    """
    problem, solver = describe(parcel.problem), describe(parcel.solver)
    nameless = unnamed([problem, solver])
    if nameless:
        raise ZovizError(
            f"Expected functions that another process can import, got {nameless[0]}: put it into a module, or use one "
            "worker."
        )
    return parcel._replace(problem=problem, solver=solver)


def perform_elsewhere(store: Store, parcel: Parcel) -> str:
    """Rebuild a parcel's objects from their recipes and ``perform`` it."""
    trusted = (*store.trusted, *names([parcel.problem, parcel.solver]))
    problem, solver = (rebuild(one, trusted=trusted) for one in (parcel.problem, parcel.solver))
    return perform(store, parcel._replace(problem=problem, solver=solver))
