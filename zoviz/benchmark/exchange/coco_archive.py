"""Results of COCO's loggers: an ``.info`` file for each function, which names the files of its runs.

References
----------
Hansen, Auger, Ros, Mersmann, Tušar and Brockhoff (2021), COCO: a platform for comparing continuous optimizers in a
black-box setting, Optimization Methods and Software 36, section 6; files as coco-experiment 2.8.2 writes them
("bbob-new2") and as the archives since 2009 have them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from zoviz.benchmark.exchange.imported_runs import History, Import, ImportedProblem, ImportedRuns
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array

_FIELD = re.compile(r"(\w+)\s*=\s*('[^']*'|[^,]+)")
_RUN = re.compile(r"(\d+):(\d+)(?:\|([^,\s]+))?")
_OPTIMUM = re.compile(r"Fopt\s*\(([^)]+)\)")
_EVALUATIONS, _BEST = 0, 2
"""Columns of all formats: calls, and the best value so far less the optimal one."""
_NOISY = 100
"""Numbers of functions above which they are those of the noisy suite, where a file does not name its suite."""


class _Entry(NamedTuple):
    """An entry of an .info file: a function in one dimension, with its runs by instance and number of calls."""

    suite: str
    function: int
    n: int
    solver: str
    file: str
    runs: list[tuple[int, int]]


def read_coco(files: Mapping[str, str], name: str) -> Import:
    """Return the runs of COCO's files; every instance of a function in a dimension is a problem of its own.

    Its name is COCO's, such as ``bbob_f001_i01_d02``, and its values are those of the function, the optimal one among
    them.

    Parameters
    ----------
    files : mapping of str to str
        Texts of files by their paths, with ``/`` between folders.
    name : str
        Of the archive, for sentences.

    Raises
    ------
    ZovizError
        Where there is no .info file, or a file that one of them names is missing or is written otherwise.
    """
    entries = [entry for path, text in files.items() if path.endswith(".info") for entry in _entries(path, text)]
    if not entries:
        raise ZovizError(f"Expected the files of a COCO logger, an .info file among them, got none in {name}.")
    problems: dict[str, dict[str, ImportedProblem]] = {}
    left_out: dict[str, int] = {}
    for entry in entries:
        if "constrained" in entry.suite or "biobj" in entry.suite:
            left_out[entry.suite] = left_out.get(entry.suite, 0) + 1
            continue
        own = problems.setdefault(entry.solver, {})
        for (instance, spent), (optimum, rows) in zip(entry.runs, _runs(files, entry), strict=True):
            problem = f"{entry.suite}_f{entry.function:03d}_i{instance:02d}_d{entry.n:02d}"
            earlier = own[problem].histories if problem in own else []
            own[problem] = ImportedProblem(entry.n, [*earlier, _history(optimum, rows, spent)], None, optimum)
    remarks = [
        f"{name}: {count} functions of the suite {suite} left out: COCO's files do not hold their objective."
        for suite, count in left_out.items()
    ]
    return Import([ImportedRuns(solver, "COCO", own) for solver, own in problems.items()], remarks)


def _entries(path: str, text: str) -> list[_Entry]:
    """Return the entries of an .info file: a line of fields, a comment, and a line of runs, each."""
    out, fields = [], dict[str, str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("%"):
            continue
        if "funcId" in line:
            fields = {key: value.strip(" '") for key, value in _FIELD.findall(line)}
        elif fields:
            file, _, _ = line.partition(",")
            function = int(re.sub(r"\D", "", fields["funcId"]))
            suite = fields.get("suite") or ("bbob-noisy" if function > _NOISY else "bbob")
            runs = [(int(instance), int(calls)) for instance, calls, _ in _RUN.findall(line) if int(calls)]
            file = posixpath.join(posixpath.dirname(path), file.strip().replace("\\", "/"))
            out.append(_Entry(suite, function, int(fields["DIM"]), fields.get("algId", "COCO"), file, runs))
    return out


def _runs(files: Mapping[str, str], entry: _Entry) -> list[tuple[float, Array]]:
    """Return each run's optimal value and rows (T, 2) of calls and best value less the optimal one.

    Rows at which a target was hit (.dat) and rows at given calls (.tdat) are put together.
    """
    hit = _segments(files, entry.file, len(entry.runs))
    timed = f"{entry.file.removesuffix('.dat')}.tdat"
    others = _segments(files, timed, len(entry.runs)) if timed in files else [(np.nan, np.empty((0, 2)))] * len(hit)
    out = []
    for (optimum, rows), (_, more) in zip(hit, others, strict=True):
        whole = np.concatenate([rows, more])
        out.append((optimum, whole[np.lexsort((-whole[:, 1], whole[:, 0]))]))
    return out


def _segments(files: Mapping[str, str], path: str, count: int) -> list[tuple[float, Array]]:
    """Return the optimal value and the rows of each run of a file, which begin with a comment each."""
    if path not in files:
        raise ZovizError(f"Expected the file {path}, which an .info file names, got none: give the whole folder.")
    segments: list[tuple[float, list[list[float]]]] = []
    for line in files[path].splitlines():
        if line.startswith("%"):
            stated = _OPTIMUM.search(line)
            segments.append((float(stated[1]) if stated else np.nan, []))
        elif line.strip() and segments:
            words = line.split()
            segments[-1][1].append([float(words[_EVALUATIONS]), float(words[_BEST])])
    if len(segments) != count or any(np.isnan(optimum) for optimum, _ in segments):
        raise ZovizError(
            f"Expected {count} runs in {path}, each with a first line that has Fopt, got {len(segments)}: the "
            "archive is of another format or damaged."
        )
    return [(optimum, np.array(rows, dtype=float).reshape(-1, 2)) for optimum, rows in segments]


def _history(optimum: float, rows: Array, spent: int) -> History:
    """Return the history of a run, to its last call."""
    last = np.array([[spent, rows[-1, 1] if len(rows) else np.nan]])
    rows = rows if len(rows) and rows[-1, 0] >= spent else np.concatenate([rows, last])
    return History(rows[:, 0], optimum + rows[:, 1], np.zeros(len(rows)))
