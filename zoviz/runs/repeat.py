"""A run once more: what a replay or a fork is made of, whether the first one is at work or in a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.engine.journal import Change, Journal
from zoviz.runs.engine.run_view import Progress
from zoviz.solvers.base import Solver


class Repeatable(Protocol):
    """A run that has begun, here or in a store.

    Attributes
    ----------
    initial : tuple of Problem and Solver, or None
        As they were at the start.
    settings : mapping
        Its other parameters, by name.
    spent_calls : bool
        Whether it ended in mid-step, when its calls were spent.
    """

    @property
    def initial(self) -> tuple[Problem, Solver] | None:
        """Problem and solver at the start."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Parameters of the run but problem and solver."""

    @property
    def journal(self) -> Journal:
        """Steering so far."""

    @property
    def progress(self) -> Progress:
        """Counters."""

    @property
    def spent_calls(self) -> bool:
        """Whether the call budget ended it."""


def forked(
    source: Repeatable, at: int | None, changes: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments of a ``Run`` that repeats ``source`` up to iteration ``at``, then goes on with ``changes``.

    Raises
    ------
    ZovizError
        Where the source has not begun.
    ValueError
        For a change of what is not live, or to a value that its parameter refuses.
    """
    if source.initial is None:
        raise ZovizError("Expected a run that has started, got none: there is nothing to repeat.")
    problem, solver = source.initial[0].clone(), source.initial[1].clone()
    for name, value in (changes or {}).items():
        if name not in solver.live:
            live = f"one of {', '.join(solver.live)}" if solver.live else "nothing"
            raise ValueError(f"Expected {live} to change, got {name!r}.")
        solver.clone().set(name, value)  # refuses a bad value now, not in mid-run
    at = source.progress.iteration if at is None else at
    if at < 0 or not float(at).is_integer():
        raise ValueError(f"Expected at a whole number of iterations, 0 or more, got {at!r}.")
    script = list(source.journal.until(at))
    script += [Change(int(at), 0, 0.0, name, None, value) for name, value in (changes or {}).items()]
    return {**source.settings, **settings, "problem": problem, "solver": solver, "script": tuple(script)}


def onward(source: Repeatable, at: int) -> dict[str, Any]:
    """Budgets with which a fork at ``at`` has a way to go: as before, and as much again where that is spent there.

    None of time: what is repeated takes a time of its own.
    """
    budgets, done = source.settings, source.progress
    iterations, calls = budgets["iterations"], budgets["calls"]
    if iterations is not None and iterations <= at:
        iterations += at
    if calls is not None and at >= done.iteration and (source.spent_calls or done.calls >= calls):
        calls += done.calls
    return {"iterations": iterations, "calls": calls, "seconds": None}


def replayed(source: Repeatable) -> dict[str, Any]:
    """Arguments of a ``Run`` that repeats ``source``, its steering included, and ends where it ended."""
    end = source.settings["iterations"] if source.spent_calls else source.progress.iteration
    return forked(source, None, None, {"seconds": None, "stop_at_targets": False, "iterations": end})
