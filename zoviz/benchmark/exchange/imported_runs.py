"""Runs from other benchmarks' files, compared with those of a study as further solvers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from zoviz.benchmark.courses import Benchmark, Course, merit
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.studies.definition import ProblemFacts

_SAME = 1e-6
"""Relative difference of two merits of a start, up to which it is the same start."""
_LISTED = 3
"""Names that a sentence lists."""


class History(NamedTuple):
    """The values that a run evaluated, in order.

    Attributes
    ----------
    calls, f, violation : Array, shape (T,)
        Calls so far, which grow; objective and violation there, or the best so far.
    """

    calls: Array
    f: Array
    violation: Array


class ImportedProblem(NamedTuple):
    """The imported results of one problem.

    Attributes
    ----------
    n : int
        Variables.
    histories : list of History
        One for each run.
    start : (float, float) or None
        Objective and violation at the start that all runs have in common; None where they have none.
    optimum : float or None
        The optimal value that the file states.
    """

    n: int
    histories: list[History]
    start: tuple[float, float] | None = None
    optimum: float | None = None

    def courses(self, tolerance: float, first_violation: float) -> list[Course]:
        """Return the course of each run; the lowest merit so far at each of its calls."""
        return [
            Course(
                np.asarray(one.calls, dtype=float),
                np.minimum.accumulate(merit(one.f, one.violation, first_violation, tolerance)),
            ).thinned()
            for one in self.histories
        ]


class ImportedRuns(NamedTuple):
    """The runs of one solver in a file of another benchmark.

    Attributes
    ----------
    solver : str
        Its name in the file.
    source : str
        What wrote the file: "OptiProfiler", "COCO".
    problems : dict of str to ImportedProblem
        By their names in the collection.
    """

    solver: str
    source: str
    problems: dict[str, ImportedProblem]


class Import(NamedTuple):
    """The results that were read from files.

    Attributes
    ----------
    runs : list of ImportedRuns
    remarks : list of str
        What of the files cannot be compared, in sentences.
    """

    runs: list[ImportedRuns]
    remarks: list[str]

    @classmethod
    def joined(cls, parts: Iterable[Import]) -> Import:
        """Return the results of several imports as one."""
        each = list(parts)
        return cls([run for one in each for run in one.runs], [remark for one in each for remark in one.remarks])


class Joined(NamedTuple):
    """A benchmark with imported solvers, and sentences on what is and what is not compared."""

    benchmark: Benchmark
    remarks: list[str]


def names_of(imports: Sequence[ImportedRuns], taken: Sequence[str] = ()) -> list[str]:
    """Return the names of imported solvers in a benchmark: the file's name, marked as imported."""
    names: list[str] = []
    for one in imports:
        name, k = f"{one.solver} (imported)", 1
        while name in taken or name in names:
            k += 1
            name = f"{one.solver} (imported {k})"
        names.append(name)
    return names


def benchmark_of(imports: Sequence[ImportedRuns]) -> Joined:
    """Return the benchmark of the imported runs only, at the protocol's own tolerance.

    Raises
    ------
    ZovizError
        Where the files have no run.
    """
    problems: dict[str, ImportedProblem] = {}
    for one in imports:
        problems = one.problems | problems
    if not problems:
        raise ZovizError("Expected runs in the imported files, got none that can be compared: choose other files.")
    bare = Benchmark(list(problems), [], [one.n for one in problems.values()], {}, _optima(problems))
    return _put_together(bare, imports, {name: name for name in problems}, 0.0, [])


def join(
    bench: Benchmark, facts: Mapping[str, ProblemFacts], tolerance: float, imports: Sequence[ImportedRuns]
) -> Joined:
    """Return a study's benchmark with the imported solvers beside its own, on the problems that both have.

    A problem of the study is that of a file which has its published name, else its name in the study, with as many
    variables and, where the file knows it, the same start. Problems that a file lacks stay in the benchmark; profiles
    leave them out, as those that any solver lacks.

    Parameters
    ----------
    bench : Benchmark
        Of the study.
    facts : mapping of str to ProblemFacts
        Of the study's problems.
    tolerance : float
        Violation that counts as none in the study, and then in the imported runs, too.
    imports : sequence of ImportedRuns
    """
    names = {facts[name].published or name: name for name in bench.problems}
    remarks, comparable = [], []
    for one in imports:
        common: dict[str, ImportedProblem] = {}
        other: dict[str, list[str]] = {"n": [], "start": []}
        for name, problem in one.problems.items():
            if name not in names:
                continue
            reason = _difference(bench, names[name], problem, tolerance)
            if reason:
                other[reason].append(name)
            else:
                common[name] = problem
        comparable.append(one._replace(problems=common))
        remarks += _remarks(one, common, other)
    known = {names[name]: value for one in comparable for name, value in _optima(one.problems).items()}
    return _put_together(bench.with_optima(known), comparable, names, tolerance, remarks)


def _optima(problems: Mapping[str, ImportedProblem]) -> dict[str, float]:
    return {name: one.optimum for name, one in problems.items() if one.optimum is not None}


def _difference(bench: Benchmark, name: str, problem: ImportedProblem, tolerance: float) -> str:
    """Return in what an imported problem differs from the study's of the same name: "n", "start" or nothing."""
    if problem.n != bench.dimensions[bench.problems.index(name)]:
        return "n"
    starts = bench.starts(name)
    if problem.start is None or not starts.size:
        return ""
    there = _merit_of_start(problem, tolerance)
    return "" if np.all(np.abs(starts - there) <= _SAME * max(1.0, abs(there))) else "start"


def _merit_of_start(problem: ImportedProblem, tolerance: float) -> float:
    if problem.start is None:
        return float("nan")
    f, violation = problem.start
    return float(merit(np.array([f]), np.array([violation]), violation, tolerance)[0])


def _remarks(one: ImportedRuns, common: Mapping[str, object], other: Mapping[str, list[str]]) -> list[str]:
    """Return sentences on the problems of a file that cannot be compared."""
    whose, rest = f"{one.solver}, imported", len(one.problems) - len(common) - sum(map(len, other.values()))
    remarks = [f"{whose}: {len(common)} of the file's {len(one.problems)} problems are in this study, too."]
    if not common:
        remarks = [
            f"{whose}: none of the file's {len(one.problems)} problems, {_list(one.problems)}, is in this study. A "
            "problem counts as the same under the same name, without noise, and from the same start."
        ]
    elif rest:
        remarks[0] = remarks[0].removesuffix(".") + "; the others are left out."
    if other["n"]:
        remarks.append(f"{whose}: {_list(other['n'])} left out, of another number of variables here.")
    if other["start"]:
        remarks.append(f"{whose}: {_list(other['start'])} left out, since the file's runs begin elsewhere.")
    return remarks


def _list(names: Sequence[str] | Mapping[str, object]) -> str:
    shown = list(names)[:_LISTED]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _put_together(
    bench: Benchmark,
    imports: Sequence[ImportedRuns],
    names: Mapping[str, str],
    tolerance: float,
    remarks: Sequence[str],
) -> Joined:
    """Put imported courses beside a benchmark's, with equally many replicas of each."""
    imports = [one for one in imports if one.problems]
    counts = [len(problem.histories) for one in imports for problem in one.problems.values()]
    own = bench.replicas
    replicas = min([*([own] if own else []), *(count for count in counts if count > 1)], default=1)
    courses = {pair: list(each[:replicas]) for pair, each in bench.courses.items()}
    remarks, starts = list(remarks), {}
    for label, one in zip(names_of(imports, bench.solvers), imports, strict=True):
        for name, problem in one.problems.items():
            ours = names[name]
            first = 0.0 if problem.start is None else problem.start[1]
            if problem.start is not None:
                starts[ours] = _merit_of_start(problem, tolerance)
            each = problem.courses(tolerance, first)
            # A single run is that of a method without chance: it counts in every replica, as OptiProfiler has it.
            courses[ours, label] = each * replicas if len(each) == 1 else each[:replicas]
    if imports and 0 < replicas < own:
        remarks.append(f"Only the first {replicas} of {own} replicas are compared, since a file has no more runs.")
    if imports and own:
        remarks += _budgets(bench, courses, names_of(imports, bench.solvers))
    solvers = [*bench.solvers, *names_of(imports, bench.solvers)]
    starts |= {name: bench.first(name) for name in bench.problems if np.isfinite(bench.first(name))}
    whole = Benchmark(bench.problems, solvers, bench.dimensions, courses, bench.optima, starts)
    return Joined(whole, remarks)


def _budgets(
    bench: Benchmark, courses: Mapping[tuple[str, str], Sequence[Course]], imported: Sequence[str]
) -> list[str]:
    """Return a sentence where imported runs are shorter than the study's on the same problems, or longer."""
    sweeps = dict(zip(bench.problems, bench.dimensions + 1.0, strict=True))
    remarks = []
    for solver in imported:
        common = [problem for problem, name in courses if name == solver]
        theirs = [max(one.calls[-1] for one in courses[problem, solver]) / sweeps[problem] for problem in common]
        ours = [
            max(one.calls[-1] for one in each) / sweeps[problem]
            for (problem, name), each in courses.items()
            if problem in common and name in bench.solvers
        ]
        if theirs and ours and max(theirs) < 0.9 * max(ours):
            remarks.append(
                f"{solver} ended within {max(theirs):.0f} sweeps of n + 1 calls, the study within "
                f"{max(ours):.0f}: beyond that its profile is flat for lack of calls."
            )
        elif theirs and ours and max(ours) < 0.9 * max(theirs):
            remarks.append(
                f"{solver} had up to {max(theirs):.0f} sweeps of n + 1 calls, the study {max(ours):.0f}: compare up to "
                "there."
            )
    return remarks
