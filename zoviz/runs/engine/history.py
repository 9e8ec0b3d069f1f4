"""What a run has done so far, as its readers see it, the states that forks go on from, and the recording."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from zoviz.core.types import Array, Tally
from zoviz.core.units import Units
from zoviz.oracle import Oracle
from zoviz.runs.engine import measures
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.columns import ITERATION, SECONDS
from zoviz.runs.engine.guard import Divergence
from zoviz.runs.engine.measures import Now
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.steering import Journal
from zoviz.runs.engine.stopping import BUDGETS, Ending, Progress, RunStatus, Target, check_known
from zoviz.runs.engine.trace import Trace
from zoviz.solvers.base import Solver

PATH_POINTS, PATH_VARIABLES = 256, 5000
"""Iterates of the first replica that a run keeps, evenly over its course; none where there are more variables."""


class RunHistory:
    """What a run has done so far. As it is here nothing: a worker, and a stored run's history, have more.

    Parameters
    ----------
    resolved : mapping
        Values that the run was given for parameters left open.

    Attributes
    ----------
    status : RunStatus
    message : str
        The sentence on how the run ended; empty before that.
    error : BaseException or None
        The exception that ended the run as failed.
    spent_calls : bool
        Whether the budget of calls or samples ended the run, in mid-step.
    ending : Ending
        Why it ended; of use once it has.
    answer : Answer or None
        The point that was chosen and judged, where the run does so; None before its end.
    oracle : Oracle or None
        The worker's; None before it has begun.
    trace, path : Trace
        The columns of the run, one row per recorded iteration; the iterates of the first replica, thinned likewise.
    journal : Journal
        The changes of parameters.
    targets : list of Target
        The targets with their first hits.
    resolved : dict
        The values chosen for parameters left at None.
    """

    status: RunStatus = RunStatus.READY
    message: str = ""
    error: BaseException | None = None
    spent_calls: bool = False
    ending: Ending = Ending.FAILED
    answer: Answer | None = None
    oracle: Oracle | None = None

    def __init__(self, resolved: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.trace, self.path, self.journal = Trace(), Trace(), Journal()
        self.targets: list[Target] = []
        self.resolved = dict(resolved)

    @property
    def progress(self) -> Progress:
        """How far it has come; any thread may read it."""
        return Progress(dict.fromkeys(BUDGETS, 0), math.nan)

    @property
    def tolerances(self) -> Array:
        """The largest h that counts as feasible, (m,) in the user's units; empty before that is known."""
        return np.empty(0) if self.oracle is None else self.oracle.best.tolerance

    @property
    def units(self) -> Units | None:
        """The units by which the solver's points, values and multipliers become the user's; None where equal."""
        return None if self.oracle is None else self.oracle.units

    @property
    def measured_units(self) -> dict[str, Any] | None:
        """The sizes of the units in which the solver sees the problem, by name; None where these are the user's own."""
        return None if self.units is None else self.units.sizes

    @property
    def frozen(self) -> int:
        """The number of replicas that a non-finite value, or the guard, stopped."""
        return 0 if self.oracle is None else int((~self.oracle.active).sum())

    @property
    def divergences(self) -> Sequence[Divergence]:
        """The replicas that the guard stopped, with when and why, in order."""
        return ()

    @property
    def has_result(self) -> bool:
        """Whether there is an outcome."""
        return False

    @property
    def result(self) -> Result:
        """The outcome so far of a run that has one."""
        raise NotImplementedError("A run that has not begun has no outcome.")


class Marks:
    """At most two states of a run: at its start or before its last change, and the last before a pause or its end.

    The worker's thread writes them; any thread may read.

    Attributes
    ----------
    copy : callable or None
        Returns the present state, None where there is nothing to go on from; without it no state is kept.
    """

    def __init__(self) -> None:
        self.copy: Callable[[], dict[str, Any] | None] | None = None
        self._kept: dict[str, dict[str, Any]] = {}
        self._calls, self._seconds = 0, 0.0  # before the step in progress
        self._longest = 0, 0.0  # calls and seconds of a step

    def until(self, iteration: int) -> dict[str, Any] | None:
        """Return the last state that is kept up to an iteration; None without any."""
        fitting = [one for one in self._kept.values() if one["iteration"] <= iteration]
        return max(fitting, key=lambda one: (one["iteration"], len(one["journal"])), default=None)

    @property
    def last(self) -> dict[str, Any] | None:
        """The state before the last pause or the end; None before that."""
        return self._kept.get("last")

    def begin(self) -> None:
        """Keep the state at the start, or before a change."""
        self._keep("begin")

    def end(self) -> None:
        """Keep the state before a pause, or after the last step."""
        self._keep("last")

    def step(self, oracle: Oracle, seconds: float, kept: float, limit: float | None) -> None:
        """Keep the state before a step that may not end, since what is left of a budget is less than two steps took.

        Parameters
        ----------
        oracle : Oracle
        seconds, kept : float
            Computing time so far, and what is kept of its budget for who goes on at the end.
        limit : float or None
            The budget of computing time.
        """
        if self.copy is None:
            return
        calls, seconds_of_step = oracle.account.spent - self._calls, seconds - self._seconds
        self._longest = max(self._longest[0], calls), max(self._longest[1], seconds_of_step)
        self._calls, self._seconds = oracle.account.spent, seconds
        few_calls = oracle.remaining[oracle.active].min(initial=float("inf")) < 2 * self._longest[0]
        if few_calls or (limit is not None and limit - seconds - kept < 2 * self._longest[1]):
            self._keep("last")

    def _keep(self, kind: str) -> None:
        state = None if self.copy is None else self.copy()
        if state is not None:
            self._kept[kind] = state


class Recording:
    """The recording of a run, which writes the trace, the path and the targets of its history.

    Parameters
    ----------
    history : RunHistory
        Of the run, with its targets.
    tally : Tally or None
        What sums figures over every iteration.

    Attributes
    ----------
    open : bool
        Whether a replica has not hit some target yet.
    """

    def __init__(self, history: RunHistory, tally: Tally | None) -> None:
        self._history, self._tally, self._exact = history, tally, measures.ExactPoints()
        self.open = bool(history.targets)

    def begin(self, now: Now, problem: str) -> None:
        """Record the start, whose measures tell whether a problem of this name has those of the targets."""
        measured = self.measured(now)
        check_known(self._history.targets, measured, problem)
        self._check_targets(now, measured)
        self._history.trace.append(self.row(now, measured))
        self._keep_point(now)

    def add(self, solver: Solver, before: Any, after: Any, sample: Any) -> None:
        """Add a step of a solver, from one state to the next, to the sums over all of them."""
        if self._tally is not None:
            self._tally.add(solver.iterate(before), solver.iterate(after), sample)

    def is_due(self, iteration: int) -> bool:
        """Return whether anything is recorded of this iteration."""
        return self.open or self._history.path.wants(iteration) or self._history.trace.wants(iteration)

    def step(self, now: Now, is_last: bool) -> None:
        """Record a step as far as it is due; the row of the last one waits for the answer that is polished."""
        if self._history.path.wants(now.iteration):
            self._keep_point(now)
        due = self._history.trace.wants(now.iteration) and not is_last
        if due or self.open:
            measured = self.measured(now)
            if self.open:
                self._check_targets(now, measured)
            if due:
                self._history.trace.append(self.row(now, measured))

    def measured(self, now: Now) -> dict[str, Any]:
        """Return the measures of the present state, and sums over all steps so far."""
        measured = measures.metrics(now, self._exact)
        return measured if self._tally is None else measured | self._tally.row()

    def row(self, now: Now, measured: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the present figures, measured here unless they are given; of the first calls before a method began."""
        if now.state is None:
            row = measures.first_row(now.oracle)
        else:
            row = measures.row(now, measured or self.measured(now), self._exact)
        return {ITERATION: now.iteration, SECONDS: now.seconds, **row}

    def _check_targets(self, now: Now, measured: Mapping[str, Array]) -> None:
        counts: dict[str, Any] = {"iteration": now.iteration, "seconds": now.seconds, **now.oracle.account.counted}
        targets = self._history.targets
        self.open = any([target.check(measured[target.metric], counts) for target in targets])  # a list: each

    def _keep_point(self, now: Now) -> None:
        self._history.path.append({ITERATION: now.iteration, **measures.points(now, PATH_VARIABLES)})

    def snapshot(self) -> dict[str, Any]:
        """Return the first hits and the sums, under names that stores hold."""
        tally = None if self._tally is None else self._tally.snapshot()
        return {"hits": [target.hit for target in self._history.targets], "tally": tally}

    def restore(self, state: Mapping[str, Any], now: Now) -> None:
        """Go on from a snapshot, with the trace and the path as they were then."""
        if self._tally is not None:
            self._tally.restore(state["tally"])
        for target, hit in zip(self._history.targets, state["hits"], strict=True):
            target.restore(hit)
        self.open = any(target.hits < len(target.iteration) for target in self._history.targets)
        # The exact values that the next row looks up, from here: computed elsewhere they may differ by round-off.
        if self._history.trace.wants(now.iteration) or self.open:
            self.measured(now)
