"""A run as readers see it, whether it is at work here or was read from a store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.core.units import Units
from zoviz.evaluation.worker_log import WorkerTable
from zoviz.problems.base import Problem
from zoviz.runs.best_design import BestDesign, best_design
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.checkpoint import ResumeData
from zoviz.runs.engine.guard import Divergence
from zoviz.runs.engine.history import RunHistory
from zoviz.runs.engine.measures import Points
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.spec import RunSettings, RunSpec
from zoviz.runs.engine.steering import Journal
from zoviz.runs.engine.stopping import Ending, Progress, RunStatus, Target
from zoviz.runs.engine.trace import Trace
from zoviz.solvers.base import Solver


class RunView(RunSettings):
    """What there is to read of a run: a ``Run`` or a ``StoredRun``, beside its settings.

    Attributes
    ----------
    store : object or None
        Where it is kept.
    """

    store: Any
    _history: RunHistory

    @property
    def id(self) -> str:
        """The run's own id for ever, 32 hexadecimal digits."""
        raise NotImplementedError

    @property
    def problem(self) -> Problem:
        """The problem that the run solves."""
        raise NotImplementedError

    @property
    def solver(self) -> Solver:
        """The solver; of a stored run as it was at the start."""
        raise NotImplementedError

    @property
    def initial(self) -> RunSpec | None:
        """What the run is made of, as it was when it started; None before that."""
        raise NotImplementedError

    def resume_data(self, at: int) -> ResumeData:
        """Return what a fork at an iteration takes over: the last state that is kept up to there, its rows, and values.

        Without a state it begins anew, with the values that are stored.
        """
        raise NotImplementedError

    @property
    def status(self) -> RunStatus:
        """The status: ready, running, paused, finished, diverged, stopped, failed or interrupted."""
        return self._history.status

    @property
    def active(self) -> bool:
        """Whether the run is going on or paused here; a stored run never is."""
        return self.status.active

    @property
    def message(self) -> str:
        """The sentence on how the run ended, or on what to know while it is at work."""
        return self._history.message

    @property
    def error(self) -> BaseException | None:
        """The exception that ended the run as failed here; None where none did."""
        return self._history.error

    @property
    def trace(self) -> Trace:
        """The trace of the run so far: its columns, one row per recorded iteration."""
        return self._history.trace

    @property
    def path(self) -> Trace:
        """The iterates of the first replica, thinned like the trace: ``iteration`` and ``x`` (rows, n)."""
        return self._history.path

    @property
    def journal(self) -> Journal:
        """The changes of parameters so far."""
        return self._history.journal

    @property
    def in_force(self) -> dict[str, Any]:
        """The live parameters by name, as its start and its journal have them; None where the rule's choice stands."""
        solver = self.solver if self.initial is None else self.initial.solver
        changed = {change.name: change.new for change in self.journal}
        begun = {name: solver.get(name) for name in solver.live if name not in changed}
        return begun | {name: self.as_set(name, value) for name, value in changed.items()}

    def as_set(self, name: str, value: Any) -> Any:
        """Return a value of a live parameter as a person sets it: None where it is what a rule chose for it."""
        solver = self.solver if self.initial is None else self.initial.solver
        return None if solver.get(name) is None and value == self.resolved.get(name) else value

    @property
    def hits(self) -> list[Target]:
        """The targets with their first hits so far."""
        return self._history.targets

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The values chosen for parameters left at None: by the solver's rule, or those that the run was given."""
        return self._history.resolved

    @property
    def progress(self) -> Progress:
        """The counters of the run; any thread may read them."""
        return self._history.progress

    @property
    def tolerances(self) -> Array:
        """The largest h that counts as feasible, (m,) in the user's units; empty before that is known."""
        return self._history.tolerances

    @property
    def units(self) -> Units | None:
        """The units by which the solver's points, values and multipliers become the user's; None where equal."""
        return self._history.units

    @property
    def measured_units(self) -> dict[str, Any] | None:
        """The sizes of the units in which the solver saw the problem, by name; None where these are the user's own."""
        return self._history.measured_units

    @property
    def frozen(self) -> int:
        """The number of replicas that a non-finite value, or the guard, stopped."""
        return self._history.frozen

    @property
    def divergences(self) -> Sequence[Divergence]:
        """The replicas that the guard stopped, with when and why, in order."""
        return self._history.divergences

    @property
    def spent_calls(self) -> bool:
        """Whether the budget of calls or samples ended the run, in mid-step."""
        return self._history.spent_calls

    @property
    def ending(self) -> Ending:
        """Why the run ended; of use once it has."""
        return self._history.ending

    @property
    def workers(self) -> WorkerTable:
        """Who computes how many calls for how long, and what is queued, where several workers do; printed, a table."""
        raise NotImplementedError

    @property
    def answer(self) -> Answer | None:
        """The point that was chosen and judged, with how sure it is; None before that, and of a run not ``judged``."""
        return self._history.answer

    @property
    def has_result(self) -> bool:
        """Whether there is an outcome."""
        return self._history.has_result

    @property
    def result(self) -> Result:
        """The outcome, in SciPy's names.

        Raises
        ------
        ZovizError
            Where the run has no iterate yet.
        """
        self._check_result()
        return self._history.result

    @property
    def best_design(self) -> BestDesign:
        """The answer, or the best point so far, with its constraints by their names; printed, it is a table."""
        self._check_result()
        last = {name: column[-1] for name, column in self.trace.snapshot().columns.items() if len(column)}
        return best_design(self._named_problem, self._points(), self.tolerances, self.answer, last)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report of the run, with its forks beside it where its store knows some, as one file to be sent.

        Parameters
        ----------
        path : path
            ``.html``: a page that needs nothing else, with plots that zoom and hover, and a player of the course.
            ``.md``: the same figures as Markdown. ``.pdf``: two pages for print, which need the extra ``figures``.

        Raises
        ------
        ValueError
            For another suffix, and where the run has not begun.
        """
        # By name, as what follows: a run knows neither views nor diagnosis, and most programs never need Panel.
        import_module("zoviz.views.report.files").write_report(self, path)

    def remedies(self) -> list[Any]:
        """Return at most three remedies that the run's verdict suggests, with what trying each costs; none if well."""
        return list(import_module("zoviz.diagnosis.remedies").remedies(self))

    def try_remedies(self, calls: int | None = None) -> Any:
        """Fork the run for each of its remedies and once without, with common random numbers, and compare them.

        Parameters
        ----------
        calls : int, optional
            Calls of each replica from the fork on; default: half of those that the run has made.

        Returns
        -------
        zoviz.diagnosis.trial.Trial

        Raises
        ------
        ZovizError
            Where the run has no iterate, or nothing in its trace tells what is better.
        """
        return import_module("zoviz.diagnosis.trial").try_remedies(self, calls)

    @property
    def _named_problem(self) -> Problem:
        """The problem, with as many constraints as it turned out to have."""
        return self.problem

    def _points(self) -> Points:
        """Return the points among which the best design is."""
        result = self.result
        return Points(result.best_x, result.best_fun, result.best_h, result.x, result.fun, result.h)

    def _check_result(self) -> None:
        if self.status is RunStatus.READY:
            raise ZovizError("Expected a run that has started, got none: call start() or run() first.")
        if not self.has_result:
            raise ZovizError(f"The run {self.id[:8]} has no iterate yet (it is {self.status}). {self.message}".rstrip())
