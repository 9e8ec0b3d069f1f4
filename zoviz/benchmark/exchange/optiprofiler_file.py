"""Results that OptiProfiler keeps in ``data_for_loading.h5``: the values of every evaluation of every run.

References
----------
Huang, Ragonneau and Zhang, OptiProfiler: a platform for benchmarking optimization solvers, https://www.optprof.com
(version 1.3.5, ``optiprofiler/loader.py``, for the layout of the file).
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from zoviz.benchmark.exchange.imported_runs import History, Import, ImportedProblem, ImportedRuns
from zoviz.core.errors import ZovizError
from zoviz.core.optional import require

SUFFIX = ".h5"
_NEEDED = ("solver_names", "problem_names", "problem_dims", "fun_histories", "maxcv_histories", "n_evals")
_PLAIN = "plain"
"""OptiProfiler's word for problems as they are: not noisy, perturbed, truncated or otherwise changed."""


def read_optiprofiler(file: BinaryIO, name: str) -> Import:
    """Return the runs of an OptiProfiler file; pickled objects in it are not read, as that would run code.

    Parameters
    ----------
    file : binary file
    name : str
        Of the file, for sentences.

    Raises
    ------
    ZovizError
        Where it is no such file.
    MissingExtra
        Without h5py.
    """
    h5py: Any = require("h5py", "export", "a .h5 file of OptiProfiler")
    try:
        with h5py.File(file, "r") as content:
            libraries = [_library(content[key], name) for key in content]
    except OSError as error:
        raise ZovizError(f"Expected a file of OptiProfiler, got {name}, which is no HDF5 file: {error}.") from None
    problems: dict[str, dict[str, ImportedProblem]] = {}
    remarks: list[str] = []
    for own, remark in libraries:
        remarks += [remark] if remark else []
        for solver, its in own.items():
            problems[solver] = problems.get(solver, {}) | its
    if not libraries:
        raise ZovizError(f"Expected a file data_for_loading.h5 of OptiProfiler, got {name} without results.")
    return Import([ImportedRuns(solver, "OptiProfiler", own) for solver, own in problems.items()], remarks)


def _library(group: Any, name: str) -> tuple[dict[str, dict[str, ImportedProblem]], str]:
    """Return, by solver, the problems of one of the file's libraries; a sentence where they cannot be compared."""
    lacking = [key for key in _NEEDED if key not in group]
    if lacking:
        raise ZovizError(
            f"Expected a file data_for_loading.h5 of OptiProfiler, got {name} without {lacking[0]}: choose another one."
        )
    feature = _text(group["feature_stamp"][()]) if "feature_stamp" in group else _PLAIN
    solvers, problems = ([_text(one) for one in group[key][()]] for key in ("solver_names", "problem_names"))
    if feature != _PLAIN:
        return {}, (
            f"{name}: {len(problems)} problems left out, because OptiProfiler had modified their values ({feature}): "
            "only unmodified problems equal those of a study."
        )
    f, violation, counts = (group[key][()] for key in ("fun_histories", "maxcv_histories", "n_evals"))
    dimensions = group["problem_dims"][()]
    starts = _starts(group, len(problems))
    out: dict[str, dict[str, ImportedProblem]] = {solver: {} for solver in solvers}
    for p, problem in enumerate(problems):
        for s, solver in enumerate(solvers):
            histories = [
                _history(f[p, s, r], violation[p, s, r], int(count)) for r, count in enumerate(counts[p, s]) if count
            ]
            if histories:
                out[solver][problem] = ImportedProblem(int(dimensions[p]), _distinct(histories), starts[p])
    return out, ""


def _history(f: np.ndarray, violation: np.ndarray, count: int) -> History:
    """Return the values of a run's evaluations: what stands after them repeats the last."""
    return History(np.arange(1.0, count + 1.0), f[:count].astype(float), violation[:count].astype(float))


def _distinct(histories: list[History]) -> list[History]:
    """Return one history where all are equal: runs of a method without chance are written several times."""
    first = histories[0]
    same = all(
        np.array_equal(first.f, one.f, equal_nan=True)
        and np.array_equal(first.violation, one.violation, equal_nan=True)
        for one in histories[1:]
    )
    return histories[:1] if same else histories


def _starts(group: Any, count: int) -> list[tuple[float, float] | None]:
    """Return objective and violation at every problem's start; None where runs begin at different ones."""
    if "fun_inits" not in group or "maxcv_inits" not in group:
        return [None] * count
    values = [np.asarray(group[key][()], dtype=float).reshape(count, -1) for key in ("fun_inits", "maxcv_inits")]
    return [
        (float(f[0]), float(violation[0])) if np.all(f == f[0]) and np.all(violation == violation[0]) else None
        for f, violation in zip(*values, strict=True)
    ]


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
