r"""The course of every run of a benchmark: the lowest merit so far against the calls, and when it reached a level.

The merit is that of OptiProfiler's protocol, with v the violation, v_0 that of the start,

.. math:: \varphi(x) = f(x) \text{ where } v \le v_1, \quad f(x) + 10^5 (v - v_1) \text{ where } v_1 < v \le v_2,
          \quad \infty \text{ else}, \qquad v_1 = \max(t, \min(10^{-2}, 10^{-10} \max(1, v_0))),
          \quad v_2 = \max(0.1, 2 v_0)

with t the tolerance of the runs, 0 in the protocol. A run has reached the level tau once (Moré and Wild)

.. math:: \varphi(x) \le \varphi_{best} + \tau (\varphi_0 - \varphi_{best}).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.runs.engine import columns
from zoviz.runs.stored_run import StoredRun
from zoviz.studies.definition import Definition
from zoviz.studies.study import Study

LEVELS = (1e-1, 1e-3, 1e-5)
"""Levels of which tables tell."""
_PENALTY = 1e5
_STRICT, _LOOSE, _FAR = 1e-10, 1e-2, 0.1
"""Of the published merit: least and largest violation that counts as none, and least that counts as too much."""


class Course(NamedTuple):
    """The lowest merit of one replica of a run at each of its rows.

    Attributes
    ----------
    calls : Array, shape (T,)
        Never falls.
    merit : Array, shape (T,)
        Falls; +inf before the first point that has one.
    """

    calls: Array
    merit: Array

    def thinned(self) -> Course:
        """Return the course with only the first row, the last one, and those at which a value falls."""
        changes = np.ones(len(self.merit), dtype=bool)
        changes[1:-1] = self.merit[1:-1] != self.merit[:-2]
        return Course(self.calls[changes], self.merit[changes])

    def calls_to(self, level: float) -> float:
        """Return the calls at the first row whose merit is at most ``level``; +inf where none is."""
        first = int(np.searchsorted(-self.merit, -level))
        return float(self.calls[first]) if first < len(self.merit) else np.inf

    def merit_at(self, calls: float) -> float:
        """Return the lowest merit within a number of calls; +inf before the first row."""
        rows = int(np.searchsorted(self.calls, calls, side="right"))
        return float(self.merit[rows - 1]) if rows else np.inf


class Hits(NamedTuple):
    """The calls that solvers took to a level, p problems x s solvers x r replicas.

    Attributes
    ----------
    problems, solvers : tuple of str
    dimensions : Array, shape (p,)
        Numbers of variables.
    calls : Array, shape (p, s, r)
        +inf where the level was not reached, NaN where there is no such run.
    spent : Array, shape (p, s, r)
        Calls of the whole run; NaN where there is none.
    """

    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    dimensions: Array
    calls: Array
    spent: Array

    def complete(self) -> Hits:
        """Return the problems for which every solver has every replica.

        Raises
        ------
        ZovizError
            Where there is none.
        """
        whole = np.asarray(np.isfinite(self.spent).all(axis=(1, 2)))
        if not whole.any():
            raise ZovizError(
                "Expected a problem that every solver has run, with equally many replicas, got none: run the study "
                "to its end."
            )
        names = tuple(name for name, there in zip(self.problems, whole, strict=True) if there)
        return Hits(names, self.solvers, self.dimensions[whole], self.calls[whole], self.spent[whole])


def merit(f: Array, violation: Array, first_violation: float, tolerance: float = 0.0) -> Array:
    """Return the published merit of points.

    Parameters
    ----------
    f, violation : Array
        Of one shape.
    first_violation : float
        v_0.
    tolerance : float
        Violation that counts as none, where it is above the protocol's v_1.

    Returns
    -------
    Array
        Of the same shape; +inf where f or the violation is NaN.
    """
    none = max(tolerance, min(_LOOSE, _STRICT * max(1.0, first_violation)))
    too_much = max(_FAR, 2.0 * first_violation)
    whole = f + _PENALTY * np.maximum(violation - none, 0.0)
    return np.where((violation <= too_much) & ~np.isnan(f), whole, np.inf)


def courses_of(stored: StoredRun, tolerance: float) -> list[Course]:
    """Return the course of each replica of a stored run, read from its trace.

    The trace holds at most 4096 rows, of iterations at equal distances, closer at the beginning; the calls to a level
    are those at the first row after it. Of infeasible points those count at which a row stands, of feasible ones all.
    The start has a row of its own before the first: what finding units costs may have met better points by then.
    """
    rows = stored.trace.snapshot().columns
    if columns.VIOLATION not in rows:
        raise ZovizError(f"Expected a run of a problem with constraints or without, got {stored.id[:8]} of a stream.")
    violation, calls = rows[columns.VIOLATION], rows[columns.CALLS]
    best = rows.get(columns.BEST_OBJECTIVE, np.full_like(violation, np.nan))
    courses = []
    for r in range(stored.replicas):
        at_iterate = merit(rows[columns.OBJECTIVE][:, r], violation[:, r], float(violation[0, r]), tolerance)
        lowest = np.fmin(at_iterate, np.where(np.isnan(best[:, r]), np.inf, best[:, r]))
        met = np.minimum.accumulate(np.concatenate([at_iterate[:1], lowest]))
        courses.append(Course(np.concatenate([calls[:1, r], calls[:, r]]).astype(float), met).thinned())
    return courses


class _Points(NamedTuple):
    """The rows of all courses in one array, so that a level is looked up in all of them at once.

    Attributes
    ----------
    calls, merit : Array, shape (N,)
    starts, lengths : Array of int, shape (K,)
        Where the rows of each course begin, and how many there are.
    place : list of (p, s, r)
        Problem, solver and replica of each course.
    replicas : int
        The most of a pair.
    """

    calls: Array
    merit: Array
    starts: NDArray[np.int_]
    lengths: NDArray[np.int_]
    place: list[tuple[int, int, int]]
    replicas: int

    @classmethod
    def of(
        cls, problems: Sequence[str], solvers: Sequence[str], courses: Mapping[tuple[str, str], Sequence[Course]]
    ) -> _Points:
        at_problem, at_solver = ({name: k for k, name in enumerate(names)} for names in (problems, solvers))
        place = [
            (at_problem[problem], at_solver[solver], r)
            for (problem, solver), own in courses.items()
            if problem in at_problem and solver in at_solver
            for r in range(len(own))
        ]
        rows = [courses[problems[p], solvers[s]][r] for p, s, r in place]
        lengths = np.array([len(one.calls) for one in rows], dtype=int)
        calls, merit = (np.concatenate([[], *(one[k] for one in rows)]) for k in (0, 1))
        replicas = max((r + 1 for _, _, r in place), default=0)
        return cls(calls, merit, np.cumsum(lengths) - lengths, lengths, place, replicas)

    def calls_to(self, levels: Array) -> Array:
        """Return the calls (K,) at the first row of each course whose merit is at most its level (K,), else +inf."""
        above = np.add.reduceat(~(self.merit <= np.repeat(levels, self.lengths)), self.starts, dtype=int)
        first = np.minimum(self.starts + above, len(self.calls) - 1)
        return np.where(above < self.lengths, self.calls[first], np.inf)


class Benchmark:
    """Courses of several solvers on several problems, r replicas each.

    Parameters
    ----------
    problems, solvers : sequence of str
    dimensions : sequence of int
        Numbers of variables of the problems.
    courses : mapping of (problem, solver) to sequence of Course
        A pair may be missing.
    best : mapping of str to float, optional
        Known optimal values; of other problems the lowest merit that a run met counts.
    starts : mapping of str to float, optional
        Merits of the starts; of other problems the largest counts with which a run began to have one.

    Examples
    --------
    >>> from zoviz import Study
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import COBYLA, ZOCEG
    >>> study = Study("two", LoadTracking(n=5), [ZOCEG(), COBYLA()], calls=500).run()
    >>> Benchmark.of_study(study).hits(1e-3).calls.shape
    (1, 2, 8)
    """

    def __init__(
        self,
        problems: Sequence[str],
        solvers: Sequence[str],
        dimensions: Sequence[float] | Array,
        courses: Mapping[tuple[str, str], Sequence[Course]],
        best: Mapping[str, float] | None = None,
        starts: Mapping[str, float] | None = None,
    ) -> None:
        self.problems, self.solvers = tuple(problems), tuple(solvers)
        self.dimensions = np.array(dimensions, dtype=float)
        self.courses = {key: list(own) for key, own in courses.items()}
        self._known, self._starts = dict(best or {}), dict(starts or {})
        self._points = _Points.of(self.problems, self.solvers, self.courses)

    @classmethod
    def of_study(cls, study: Study) -> Benchmark:
        """Return the benchmark of a study's runs that have begun; seeds' replicas stand side by side.

        Solvers that differ by the study's parameter sets count as solvers of their own. Optima that the problems know
        are used.
        """
        own = study.definition
        courses = {}
        for run in own.runs:
            if study.store.record(run.id) is not None and len((stored := study.store.load(run.id)).trace):
                courses[run.id] = courses_of(stored, own.tolerance)
        return cls.of_runs(own, courses)

    @classmethod
    def of_runs(cls, definition: Definition, courses: Mapping[str, Sequence[Course]]) -> Benchmark:
        """Return the benchmark of the runs of a study whose courses are given, by run id."""
        by_pair: dict[tuple[str, str], list[Course]] = {}
        for run in definition.runs:
            if run.id in courses:
                by_pair.setdefault((run.problem, run.solver), []).extend(courses[run.id])
        known = {name: facts.optimum for name, facts in definition.problems.items() if facts.optimum is not None}
        dimensions = [facts.n for facts in definition.problems.values()]
        solvers = [name for name in definition.solvers if any(solver == name for _, solver in by_pair)]
        return cls(list(definition.problems), solvers, dimensions, by_pair, known)

    @property
    def optima(self) -> dict[str, float]:
        """Known optimal values by problem."""
        return dict(self._known)

    @property
    def replicas(self) -> int:
        """The largest number of replicas of any solver on any problem."""
        return self._points.replicas

    def with_optima(self, optima: Mapping[str, float]) -> Benchmark:
        """Return the benchmark with further optimal values; those that it knows stay."""
        known = dict(optima) | self._known
        return Benchmark(self.problems, self.solvers, self.dimensions, self.courses, known, self._starts)

    def of_problems(self, problems: Collection[str]) -> Benchmark:
        """Return the benchmark of some of its problems."""
        own = [p for p, name in enumerate(self.problems) if name in problems]
        names = [self.problems[p] for p in own]
        courses = {(name, solver): each for (name, solver), each in self.courses.items() if name in names}
        return Benchmark(names, self.solvers, self.dimensions[own], courses, self._known, self._starts)

    def starts(self, problem: str) -> Array:
        """Return the initial merits (k,) of the runs on a problem that have one."""
        firsts = [one.merit[0] for (name, _), each in self.courses.items() if name == problem for one in each]
        return np.array([value for value in firsts if np.isfinite(value)])

    def level(self, problem: str, tau: float) -> float:
        """Return the merit that a run must reach to have reached the level tau on a problem."""
        best = self.best(problem)
        return best + tau * max(self.first(problem) - best, 0.0)

    def best(self, problem: str) -> float:
        """Return the value that levels of a problem are measured from: the known optimum, or the lowest merit met."""
        return self._known[problem] if problem in self._known else self._ends[problem][1]

    def first(self, problem: str) -> float:
        """Return the merit at a problem's start; if it has none, the largest first merit of its runs."""
        return self._ends[problem][0]

    @cached_property
    def _ends(self) -> dict[str, tuple[float, float]]:
        """First and lowest merit of each problem."""
        ends = {}
        for problem in self.problems:
            own = [one.merit for (name, _), courses in self.courses.items() if name == problem for one in courses]
            starts = [float(finite[0]) for merit in own if (finite := merit[np.isfinite(merit)][:1]).size]
            if problem in self._starts:
                starts = [self._starts[problem]]
            lowest = min((float(merit[-1]) for merit in own), default=np.nan)
            ends[problem] = max(starts, default=np.nan), lowest
        return ends

    def hits(self, tau: float) -> Hits:
        """Return the calls to the level tau of every run.

        Raises
        ------
        ValueError
            For a tau outside (0, 1).
        """
        if not 0.0 < tau < 1.0:
            raise ValueError(f"Expected a level between 0 and 1, got {tau:g}: it is a share of the way to the best.")
        shape = len(self.problems), len(self.solvers), self._points.replicas
        calls, spent = np.full(shape, np.nan), np.full(shape, np.nan)
        levels = np.array([self.level(problem, tau) for problem in self.problems])
        points = self._points
        if points.place:
            place = tuple(np.array(points.place).T)
            calls[place] = points.calls_to(levels[place[0]])
            spent[place] = points.calls[points.starts + points.lengths - 1]
        return Hits(self.problems, self.solvers, self.dimensions, calls, spent)

    def shortfalls(self, sweeps: float = np.inf) -> Array:
        r"""Return the share of the initial gap that remained after a number of sweeps of n + 1 calls.

        .. math:: (\varphi_k - \varphi_{best}) / (\varphi_0 - \varphi_{best})

        Returns
        -------
        Array, shape (p, s, r)
            NaN where there is no such run, +inf where it has met no point with a merit, 0 where the start is best.
        """
        replicas = max((len(own) for own in self.courses.values()), default=0)
        left = np.full((len(self.problems), len(self.solvers), replicas), np.nan)
        for p, problem in enumerate(self.problems):
            best, way, most = self.best(problem), self.first(problem) - self.best(problem), self.dimensions[p] + 1.0
            for s, solver in enumerate(self.solvers):
                own = np.array([one.merit_at(sweeps * most) for one in self.courses.get((problem, solver), [])])
                left[p, s, : len(own)] = (own - best) / way if way > 0.0 else np.where(np.isfinite(own), 0.0, own)
        return left
