"""Studies: problems x solvers x parameter sets x seeds, each combination a stored run that can be resumed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import param
from tqdm import tqdm

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.problems.families import kind_of
from zoviz.runs.engine.spec import RunSpec, SharedSettings
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.studies import cell, results_table
from zoviz.studies.cell import DONE, Cell, Job
from zoviz.studies.definition import Definition, PlannedRun, ProblemFacts
from zoviz.studies.process_pool import LOST, process_pool, wait_for_all

if TYPE_CHECKING:
    from zoviz.runs.engine.keywords import StudyKeywords


class Study(SharedSettings):
    """All combinations of problems, solvers, parameter sets and seeds, each a stored run of R replicas.

    The replicas of a cell advance in lock-step. Only what is missing is run: a cell's id follows from all that decides
    its outcome, so that a study that was interrupted, or that grew, goes on where it is. A cell that was interrupted
    or stopped goes on from its last checkpoint, and so does one that failed, once in every ``run``, unless that is told
    to leave it.

    Parameters
    ----------
    name : str
        Of the study; its runs carry it.
    problems, solvers : mapping of str, or sequence, or one
        Without names they get those of their classes.
    values : sequence of dict, optional
        Parameter sets, e.g. ``grid(primal_step=[...])``: names of the problem's or the solver's parameters
        (``problem.n``, ``estimator.batch_size``). Combinations in which the solver refuses the problem are left out
        and listed in ``refusals``.
    seeds : iterable of int
    replicas, calls, iterations, seconds, samples, zeta_samples, targets, stop_at_targets, tolerance, checkpoint
    curvature_scaling
        As for ``Run``; but the tolerance is one figure for all, in the functions' units: by default 1e-6, as usual in
        benchmarks.
    sweeps : float, optional
        Budget of calls per replica in sweeps of n + 1, with each problem's own n, in the place of ``calls``.
    store : Store or str
    command : sequence of str, optional
        Arguments of ``zoviz benchmark`` that make the same study again, kept with it.

    Raises
    ------
    ValueError
        For no budget, an unknown parameter, or a value that it does not take.

    Examples
    --------
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOBCEG, ZOCEG
    >>> study = Study("blocks", LoadTracking(n=5), [ZOCEG(), ZOBCEG()], calls=500, replicas=3)
    >>> len(study.run().table())  # a row for each replica
    6
    """

    name = param.String(default="study", doc="Name of the study.")

    def __init__(
        self,
        name: str,
        problems: Problem | Sequence[Problem] | Mapping[str, Problem],
        solvers: Solver | Sequence[Solver] | Mapping[str, Solver],
        *,
        values: Sequence[Mapping[str, Any]] = ({},),
        seeds: Iterable[int] = (0,),
        sweeps: float | None = None,
        store: Store | str = defaults.STORE_URL,
        command: Sequence[str] = (),
        **settings: Unpack[StudyKeywords],
    ) -> None:
        tolerance = settings.get("tolerance")
        self._tolerance = defaults.FEASIBILITY_TOLERANCE if tolerance is None else tolerance
        super().__init__(name=name, **settings | {"tolerance": self._tolerance})
        self.store = Store(store) if isinstance(store, str) else store
        self.problems, self.solvers = _by_name(problems), _by_name(solvers)
        if self.calls is not None and sweeps is not None:
            raise ValueError("Expected calls or sweeps as the budget of calls, got both: give one of them.")
        self._sweeps, self._command = sweeps, list(command)
        self.refusals: list[str] = []
        self._jobs: dict[str, Job] = {}
        self.cells = list(self._make([dict(one) for one in values], tuple(seeds)))

    def _make(self, values: list[dict[str, Any]], seeds: tuple[int, ...]) -> Iterator[Cell]:
        for (p, problem), (s, solver), setting in itertools.product(
            self.problems.items(), self.solvers.items(), values
        ):
            own, method = cell.fitted(problem, solver, setting)
            reason = method.accepts(own)
            if reason is not None:
                self.refusals.append(reason)
                continue
            for seed in seeds:
                label = _label(s, setting, seed, len(seeds))
                spec = RunSpec(own, method, seed=seed, label=label, study=self.name, **self._settings(own))
                if not spec.ends:
                    raise ValueError("Expected a budget, got none: give calls, iterations, seconds or samples.")
                id = cell.identify((p, s), spec, self.store.owner)
                if id not in self._jobs:
                    self._jobs[id] = Job(id, spec)
                    yield Cell(id, p, s, setting, seed)

    def _settings(self, problem: Problem) -> dict[str, Any]:
        """Return the settings of a run on a problem: the calls of a number of sweeps depend on its n."""
        if self._sweeps is None:
            return self.settings
        return self.settings | {"calls": max(1, int(self._sweeps * (problem.domain.n + 1)))}

    @property
    def definition(self) -> Definition:
        """What the study consists of, as its store keeps it."""
        optima = {name: one.known_optimum for name, one in self.problems.items()}
        facts = {
            name: ProblemFacts(
                one.domain.n,
                None if optima[name] is None else float(optima[name].value),
                kind_of(one),
                one.published_name,
            )
            for name, one in self.problems.items()
        }
        runs = [
            PlannedRun(cell.id, cell.problem, cell.method, spec.settings["calls"], spec.replicas)
            for cell, spec in ((cell, self.spec(cell.id)) for cell in self.cells)
        ]
        return Definition(facts, runs, self._tolerance, self.refusals, self._command)

    def spec(self, id: str) -> RunSpec:
        """Return the description of a cell's run, by its id."""
        return self._jobs[id].spec

    @property
    def missing(self) -> list[Cell]:
        """Return the cells that have neither finished nor failed."""
        status = self.statuses()
        return [cell for cell in self.cells if status[cell.id] not in DONE]

    def statuses(self) -> dict[str, RunStatus | None]:
        """Return the status of every cell's run by id, deleted ones too; None for those that have not begun."""
        records = (one for deleted in (False, True) for one in self.store.runs(study=self.name, deleted=deleted))
        statuses = {record.id: record.status for record in records}
        return {cell.id: statuses.get(cell.id) for cell in self.cells}

    def run(
        self,
        workers: int = 1,
        executor: Executor | None = None,
        progress: bool = True,
        retries: int = 3,
        keep_failed: bool = False,
    ) -> Study:
        """Run the cells that are missing, and those that failed before once more.

        Parameters
        ----------
        workers : int
            Processes; 1: this one.
        executor : concurrent.futures.Executor, optional
            Who does the cells instead, e.g. ``distributed.Client(...).get_executor()``. Its workers write to the
            store themselves: on other machines it must be PostgreSQL.
        progress : bool
            Show a bar.
        retries : int
            How often cells are handed out again whose worker died.
        keep_failed : bool
            Leave the cells alone that failed before; else each of them goes on from its last checkpoint, once.

        Raises
        ------
        ZovizError
            Where cells are still missing after that, e.g. since the store's disk is full; the others are kept.
        """
        self._begin()
        try:
            return self._run(workers, executor, progress, retries, keep_failed)
        finally:
            self.store.end_study(self.name)

    def _begin(self) -> None:
        """Write what the study consists of, with what it consisted of before it grew."""
        record, own = self.store.study(self.name), self.definition
        whole = own if record is None else own.with_earlier(Definition.of(record.definition))
        self.store.begin_study(self.name, whole.plain())

    def _run(self, workers: int, executor: Executor | None, progress: bool, retries: int, keep_failed: bool) -> Study:
        before = {} if keep_failed else self._failures()
        with tqdm(total=len(self.cells), unit=" runs", disable=not progress) as bar:
            bar.update(len(self.cells) - len(self._due(before)))
            here = executor is None and workers == 1
            for _ in range(1 if here else retries + 1):
                if not (due := self._due(before)):
                    break
                lost = self._in_turn(due, bar) if here else self._spread(due, workers, executor, bar)
        if due := self._due(before):
            raise ZovizError(f"Expected every run to end, got {len(due)} that did not: {lost}.")
        return self

    def _failures(self) -> dict[str, float]:
        """Return the time of the last sign of life of each failed and not deleted cell, by id."""
        return {record.id: record.updated for record in self.store.runs(study=self.name, status=RunStatus.FAILED)}

    def _due(self, before: Mapping[str, float]) -> list[Job]:
        """Return the cells that are missing, and those whose failure is the one in ``before``."""
        status, now = self.statuses(), self._failures()
        again = {id: when for id, when in before.items() if now.get(id) == when}
        return [
            job._replace(failed=again.get(id))
            for id, job in self._jobs.items()
            if status[id] not in DONE or id in again
        ]

    def _in_turn(self, due: list[Job], bar: tqdm) -> str:
        """Run cells in this process; return the reason for one that would still be missing."""
        for job in due:
            cell.perform(self.store, job)
            bar.update()
        return LOST

    def _spread(self, due: list[Job], workers: int, executor: Executor | None, bar: tqdm) -> str:
        """Submit cells to an executor; return the reason that the last crashed worker gave, if one did."""
        jobs = [cell.packed(job) for job in due]
        with process_pool(workers) if executor is None else nullcontext(executor) as pool:
            futures = [pool.submit(cell.perform_elsewhere, self.store, job) for job in jobs]
            return wait_for_all(futures, bar)

    def table(self) -> list[dict[str, Any]]:
        """Return one row for each replica of each cell that has begun; see ``results_table.rows``."""
        return results_table.rows(self.store, self.cells)

    def dataset(self) -> Any:
        """Return an ``xarray.Dataset`` with dimensions problem, solver, set, seed and replica; NaN where missing.

        Raises
        ------
        MissingExtra
            Without xarray.
        """
        return results_table.dataset(self.table(), self.cells)


def grid(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return all combinations as parameter sets: ``grid({"n": [5, 10], "primal_step": [0.1, 0.01]})`` has four."""
    return [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]


def draws(ranges: Mapping[str, tuple[str, float, float]], count: int, seed: int = 0) -> list[dict[str, float]]:
    """Draw random parameter sets.

    Parameters
    ----------
    ranges : mapping of str to (str, float, float)
        ``("log", low, high)`` or ``("lin", low, high)`` for every name.
    count, seed : int
    """
    numbers = np.random.default_rng(seed).random((count, len(ranges)))
    return [
        {name: _between(*ranges[name], float(share)) for name, share in zip(ranges, row, strict=True)}
        for row in numbers
    ]


def _between(kind: str, low: float, high: float, share: float) -> float:
    if kind not in ("log", "lin") or not low < high or (kind == "log" and low <= 0):
        raise ValueError(f"Expected ('log' or 'lin', low, high) with low < high, got {(kind, low, high)}.")
    return float(low * (high / low) ** share) if kind == "log" else low + (high - low) * share


def _by_name(items: Any) -> dict[str, Any]:
    if isinstance(items, Mapping):
        return dict(items)
    named: dict[str, Any] = {}
    for one in [items] if isinstance(items, (Problem, Solver)) else items:
        name = type(one).__name__
        named[name if name not in named else f"{name} #{len(named) + 1}"] = one
    return named


def _label(solver: str, values: Mapping[str, Any], seed: int, seeds: int) -> str:
    parts = [
        solver,
        *(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in values.items()),
    ]
    return " ".join([*parts, f"seed={seed}"] if seeds > 1 else parts)
