"""Reads what is known from before a run: tables, studies, caches and stored runs, as points and values."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zoviz.core.optional import require
from zoviz.core.types import Array
from zoviz.evaluation.program_io import outputs as outputs_of
from zoviz.problems.base import Problem

FIRST = ("f", "fun", "objective")
"""Names that the column of the objective may have."""
_CACHED = re.compile(r"\(([^()]*)\)\s*(\w+)\s*\(([^()]*)\)")
"""A line of NOMAD's cache: point, status and outputs."""


def past_points(source: Any, problem: Problem) -> dict[str, list[list[float]]] | None:
    """Return points x (N, n) and values (N, 1 + m) of a source as lists, f first, NaN where a value is not known.

    Parameters
    ----------
    source : object
        A file, open or by its path: CSV, with columns named as the variables (x1, x2, ... where they have no names), f,
        and the constraints (h1, h2, ...), or without names in this order; Parquet with such names; NOMAD's cache. Or a
        pandas table; arrays x and f, or x, f and h; a mapping of what this function returns; an Optuna study; a run,
        stored with every call. None: nothing is known.
    problem : Problem
        Says how many variables there are, and what they are called.

    Raises
    ------
    ValueError
        For what is none of these, or has other columns; and for a problem whose values are samples, or that has
        constraints that are kept while searching.
    """
    if source is None:
        return None
    if problem.keeps_rows or problem.stochastic or problem.online or problem.form != "constrained":
        reason = "constraints that are kept while searching" if problem.keeps_rows else "values that are samples"
        raise ValueError(f"Expected no past points beside {reason}, got some: leave them out.")
    if isinstance(source, Mapping):
        x, values = source["x"], source["values"]
    elif isinstance(source, (str, os.PathLike)):
        x, values = _of_file(Path(source).name, Path(source).read_bytes(), problem)
    elif hasattr(source, "read"):
        x, values = _of_file(Path(source.name).name, source.read(), problem)
    elif hasattr(source, "columns") and hasattr(source, "to_numpy"):
        x, values = _of_columns({str(name): source[name].to_numpy() for name in source.columns}, problem)
    elif hasattr(source, "trials") and hasattr(source, "directions"):
        x, values = _of_study(source, problem)
    elif hasattr(source, "evaluations"):
        x, values = source.evaluations
    elif isinstance(source, (tuple, list)) and len(source) in (2, 3):
        x, *columns = source
        values = np.column_stack([np.asarray(one, dtype=float) for one in columns])
    else:
        raise ValueError(
            f"Expected past points as a file, a table, arrays (x, f, h), a study or a run, got {source!r:.80}."
        )
    x, values = _numbers(x), _numbers(values)
    values = values[:, None] if values.ndim == 1 else values
    if x.ndim != 2 or x.shape[1] != problem.domain.n or len(x) != len(values):
        raise ValueError(
            f"Expected past points with {problem.domain.n} variables, and f and h of each, got x of shape {x.shape} "
            f"and values of shape {values.shape}."
        )
    if not len(x):
        raise ValueError("Expected a past point or more, got an empty table: leave it out.")
    return {"x": x.tolist(), "values": values.tolist()}


def _numbers(values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"Expected numbers in the table of past points, got {values!r:.80}.") from None


def _of_file(name: str, content: bytes, problem: Problem) -> tuple[Any, Any]:
    if name.endswith(".parquet"):
        parquet: Any = require("pyarrow.parquet", "export", "a .parquet file")
        table = parquet.read_table(io.BytesIO(content))
        return _of_columns({name: table.column(name).to_numpy() for name in table.column_names}, problem)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"Expected a text file or a .parquet one, got {name}: save the table as CSV.") from None
    if text.startswith(("CACHE_HITS", "BB_OUTPUT_TYPE")):
        return _of_cache(text)
    rows = [row for row in csv.reader(text.splitlines()) if row]
    if not rows:
        raise ValueError(f"Expected a table of past points in {name}, got an empty file.")
    head = [name.strip() for name in rows[0]]
    if not all(_is_number(one) for one in head):
        numbers = np.array([_row(row, len(head), name) for row in rows[1:]]).reshape(-1, len(head))
        return _of_columns(dict(zip(head, numbers.T, strict=True)), problem)
    n, table = problem.domain.n, np.array([_row(row, len(head), name) for row in rows])
    return table[:, :n], table[:, n:]


def _row(row: Sequence[str], width: int, name: str) -> list[float]:
    """Return a line of a table as numbers; NaN where a place is empty."""
    if len(row) != width or not all(_is_number(one) for one in row):
        raise ValueError(f"Expected {width} numbers a line in {name}, got {','.join(row)!r:.80}.")
    return [float(one) if one.strip() else np.nan for one in row]


def _is_number(text: str) -> bool:
    try:
        float(text or "nan")
    except ValueError:
        return not text.strip()
    return True


def _of_columns(columns: Mapping[str, Any], problem: Problem) -> tuple[Any, Any]:
    """Return points and values of columns by their names."""
    names = getattr(problem, "variable_names", None)
    variables: Sequence[str] = names or [f"x{i + 1}" for i in range(problem.domain.n)]
    objective = next((name for name in FIRST if name in columns), None)
    missing = [name for name in variables if name not in columns]
    more = not names and any(re.fullmatch(r"x\d+", name) and name not in variables for name in columns)
    if missing or more or objective is None:
        raise ValueError(
            f"Expected columns {', '.join(map(str, variables))} and f, got {', '.join(columns)}: name them so, and "
            "constraints h1, h2 and so on."
        )
    rows: Sequence[str] = getattr(problem, "constraint_names", None) or sorted(
        (name for name in columns if re.fullmatch(r"h\d+", name)), key=lambda name: int(name[1:])
    )
    count, nothing = len(columns[objective]), np.full(len(columns[objective]), np.nan)
    values = [columns[objective], *(columns.get(name, nothing) for name in rows)]
    x = np.column_stack([columns[name] for name in variables])
    return x.reshape(count, len(variables)), np.column_stack(values)


def _of_cache(text: str) -> tuple[Any, Any]:
    """Return points and values of NOMAD's cache; a point that it has not evaluated is left out."""
    types = next(line.split()[1:] for line in text.splitlines() if line.startswith("BB_OUTPUT_TYPE"))
    outputs = outputs_of(types, None)
    x, values = [], []
    for point, status, numbers in _CACHED.findall(text):
        found = [float(one) for one in numbers.split()]
        if len(found) == outputs.count:
            x.append([float(one) for one in point.split()])
            whole = [found[outputs.f], *(found[i] for i in outputs.h)]
            values.append(whole if status.endswith("EVAL_OK") else [np.nan] * len(whole))
    return x, values


def _of_study(study: Any, problem: Problem) -> tuple[Any, Any]:
    """Return points and values of an Optuna study; trials that failed or were pruned are failed calls."""
    if len(study.directions) != 1:
        raise ValueError(f"Expected a study of one objective, got {len(study.directions)}: choose one.")
    sign = -1.0 if study.directions[0].name == "MAXIMIZE" else 1.0
    from optuna.trial import TrialState

    whole, failed = (
        [one for one in study.get_trials(deepcopy=False, states=states) if len(one.params) == problem.domain.n]
        for states in ((TrialState.COMPLETE,), (TrialState.PRUNED, TrialState.FAIL))
    )
    names = getattr(problem, "variable_names", None) or [name for one in (whole + failed)[:1] for name in one.params]
    rows = sorted({name for one in whole for name in one.constraints}, key=lambda name: (len(name), name))
    x = [[one.params.get(name, np.nan) for name in names] for one in whole + failed]
    values = [[sign * one.value, *(one.constraints.get(name, np.nan) for name in rows)] for one in whole]
    values += [[np.nan] * (1 + len(rows)) for _ in failed]
    return np.reshape(x, (-1, problem.domain.n)), np.reshape(values, (-1, 1 + len(rows)))
