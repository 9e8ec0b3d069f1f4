"""The standing benchmark's results for one version and form, as a small file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoviz.benchmark.courses import LEVELS, Benchmark
from zoviz.benchmark.running_time import expected_running_time
from zoviz.benchmark.standard.forms import Form
from zoviz.core.types import Array
from zoviz.studies.study import Study

FOLDER = Path(__file__).parent / "recorded"
_PARTS = (0.1, 0.3, 1.0)
"""Of the budget, after which the merit is kept."""
_DIGITS = 6


class Cell(NamedTuple):
    """The results of one solver on one problem.

    Attributes
    ----------
    merit : list of float or None
        Median over replicas of the lowest merit after a tenth, three tenths and all of the budget; None: none had one.
    solved : list of int
        Replicas that reached each of ``LEVELS``.
    ert : list of float or None
        Expected running time to each of them in sweeps of n + 1 calls; None where no replica reached it.
    """

    merit: list[float | None]
    solved: list[int]
    ert: list[float | None]


class Part(NamedTuple):
    """The results under one noise.

    Attributes
    ----------
    starts, best : dict of str to float or None
        By problem the merit of the start, and the value that levels are measured from.
    cells : dict of str to dict of str to Cell
        By problem and solver; refused pairs are missing.
    failures : int
        Runs that failed, which count as they had come by then.
    """

    starts: dict[str, float | None]
    best: dict[str, float | None]
    cells: dict[str, dict[str, Cell]]
    failures: int


class Record(NamedTuple):
    """The results of the standing benchmark of one version.

    Attributes
    ----------
    version, form, rule : str
    sweeps : float
    replicas : int
    made_with : dict of str to str
        Versions of the packages that numbers may depend on.
    dimensions : dict of str to int
        Of the problems.
    parts : dict of str to Part
        By the words of the noise.
    """

    version: str
    form: str
    rule: str
    sweeps: float
    replicas: int
    made_with: dict[str, str]
    dimensions: dict[str, int]
    parts: dict[str, Part]

    @property
    def path(self) -> Path:
        """The file of the record."""
        return FOLDER / f"{self.version}-{self.form}.json"

    def write(self, path: Path) -> None:
        """Write the record, one line per problem and noise, so that a diff shows what changed."""
        plain = self._asdict()
        parts = plain.pop("parts")
        heads = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain.items())
        text = ",\n".join(f"{json.dumps(noise)}: {_part_text(part)}" for noise, part in parts.items())
        path.write_text(f'{{{heads},\n"parts": {{{text}}}}}\n', encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record that ``write`` wrote."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        parts = {
            noise: Part(
                one["starts"],
                one["best"],
                {p: {s: Cell(*cell) for s, cell in own.items()} for p, own in one["cells"].items()},
                one["failures"],
            )
            for noise, one in plain["parts"].items()
        }
        return cls(**plain | {"parts": parts})


def _part_text(part: Part) -> str:
    """Return the results under one noise as JSON, with a line for each problem."""
    ends = f'"failures": {part.failures},\n"starts": {json.dumps(part.starts)},\n"best": {json.dumps(part.best)}'
    cells = ",\n".join(f"{json.dumps(problem)}: {json.dumps(own)}" for problem, own in part.cells.items())
    return f'{{{ends},\n"cells": {{\n{cells}}}}}'


def record_of(form: Form, own_version: str, studies: Iterable[tuple[str, Study]]) -> Record:
    """Return the results of finished studies, by the name of their noise."""
    parts, dimensions = {}, dict[str, int]()
    for noise, study in studies:
        dimensions |= {name: one.domain.n for name, one in study.problems.items()}
        parts[noise] = _part(Benchmark.of_study(study), form, _failures(study))
    made_with = {name: version(name) for name in ("numpy", "scipy", "clarabel")}
    return Record(own_version, form.name, form.rule, form.sweeps, form.replicas, made_with, dimensions, parts)


def _failures(study: Study) -> int:
    return sum(status == "failed" for status in study.statuses().values())


def _part(bench: Benchmark, form: Form, failures: int) -> Part:
    hits = [bench.hits(tau) for tau in LEVELS]
    ert = [expected_running_time(one) / (one.dimensions[:, None] + 1.0) for one in hits]
    cells: dict[str, dict[str, Cell]] = {}
    for p, problem in enumerate(bench.problems):
        for s, solver in enumerate(bench.solvers):
            courses = bench.courses.get((problem, solver), [])
            if courses:
                budget = form.sweeps * (bench.dimensions[p] + 1.0)
                merits = [np.array([one.merit_at(part * budget) for one in courses]) for part in _PARTS]
                cells.setdefault(problem, {})[solver] = Cell(
                    [_median(each) for each in merits],
                    [int(np.isfinite(one.calls[p, s]).sum()) for one in hits],
                    [_rounded(float(one[p, s])) for one in ert],
                )
    ends = {problem: (_rounded(bench.first(problem)), _rounded(bench.best(problem))) for problem in bench.problems}
    return Part(
        {name: first for name, (first, _) in ends.items()},
        {name: best for name, (_, best) in ends.items()},
        cells,
        failures,
    )


def _median(values: Array) -> float | None:
    """Return the lower median, which is no mean of a finite and an infinite one; None where it is infinite."""
    return _rounded(float(np.quantile(values, 0.5, method="inverted_cdf")))


def _rounded(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None


def recorded(form: str, folder: Path = FOLDER) -> list[Record]:
    """Return the recorded results of a form, the oldest version first."""
    from packaging.version import Version

    records = [Record.read(path) for path in folder.glob(f"*-{form}.json")]
    return sorted(records, key=lambda one: Version(one.version))
