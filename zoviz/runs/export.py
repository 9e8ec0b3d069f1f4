"""Writes stored runs as files for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from zoviz.core.optional import require
from zoviz.oracle.samples import COUNTED
from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.engine.steering import Journal
from zoviz.runs.run_view import RunView
from zoviz.runs.storage.database import UnknownName
from zoviz.runs.storage.queries import Record


def export(run: RunView, path: str | os.PathLike[str], about: Mapping[str, str] = MappingProxyType({})) -> None:
    """Write a run's trace to a file; the suffix of its name says in which format.

    Parameters
    ----------
    run : RunView
    path : path
        ``.json``: the best design, by the names of its variables and constraints. ``.csv``, ``.parquet``: one line per
        recorded iteration and replica, numbers with every bit. ``.nc``: a NetCDF file with dimensions ``iteration``,
        ``replica`` and those of vectors; the iterates of the first replica and the outcome too. Parquet and NetCDF
        files carry what ``about`` says, and the method's form.
    about : mapping
        The run's description, as text by name.

    Raises
    ------
    UnknownName
        For another suffix.
    MissingExtra
        Where the packages that write such files are not installed.
    """
    path = Path(path)
    writers: dict[str, Callable[[RunView, Path, Mapping[str, str]], None]] = {
        ".json": _json,
        ".csv": _csv,
        ".parquet": _parquet,
        ".nc": _netcdf,
    }
    if path.suffix not in writers:
        raise UnknownName(f"Expected a name that ends in {', '.join(writers)}, got {path.name!r}.")
    form = run.result.form if run.has_result else ""
    writers[path.suffix](run, path, {**about, "form": form})


def description(record: Record, recipe: Mapping[str, Any], journal: Journal) -> dict[str, str]:
    """Return a stored run's description, as text by name."""
    attributes = {
        name: str(getattr(record, name)) for name in ("id", "label", "status", "message", "notes", "study", "parent")
    }
    attributes |= {name: recipe[name] for name in ("problem", "solver", "settings", "versions")}
    attributes |= {"tags": json.dumps(record.tags)}
    attributes["journal"] = json.dumps([tuple(change) for change in journal], default=str)
    return attributes | {"seed": str(record.seed), "created": repr(record.created)}


def _json(run: RunView, path: Path, about: Mapping[str, str]) -> None:
    path.write_text(json.dumps(run.best_design.plain(), indent=1) + "\n", encoding="utf-8")


def _csv(run: RunView, path: Path, about: Mapping[str, str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        run.trace.write_csv(file)


def _parquet(run: RunView, path: Path, about: Mapping[str, str]) -> None:
    pyarrow: Any = require("pyarrow", "export", "a .parquet file")
    parquet: Any = require("pyarrow.parquet", "export", "a .parquet file")
    parquet.write_table(pyarrow.table(run.trace.flat()).replace_schema_metadata(dict(about)), path)


def _netcdf(run: RunView, path: Path, about: Mapping[str, str]) -> None:
    require("h5netcdf", "export", "a .nc file")
    dataset(run, about).to_netcdf(path, engine="h5netcdf")


def dataset(run: RunView, about: Mapping[str, str]) -> Any:
    """Return the run as an ``xarray.Dataset``: trace by iteration and replica, path, and outcome."""
    xarray: Any = require("xarray", "export", "a dataset")
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    for name, column in run.trace.snapshot().columns.items():
        dimensions = ("iteration", "replica", f"{name}_component")[: column.ndim]
        variables[_plain(name)] = dimensions, column
    path = run.path.snapshot().columns
    if path:
        variables["path"] = ("path_iteration", "variable"), path["x"]
        variables["path_iteration"] = ("path_iteration",), path[ITERATION]
    if run.has_result:
        result = run.result
        for name, dimensions in _OUTCOME.items():
            variables[f"final_{name}"] = dimensions, getattr(result, name)
    return xarray.Dataset(variables, attrs=dict(about))


_OUTCOME = {
    "x": ("replica", "variable"),
    "fun": ("replica",),
    "violation": ("replica",),
    "maxcv": ("replica",),
    "multipliers": ("replica", "constraint"),
    "best_x": ("replica", "variable"),
    "best_fun": ("replica",),
    "h": ("replica", "constraint"),
    "best_h": ("replica", "constraint"),
    **dict.fromkeys((*COUNTED, "failures"), ("replica",)),
}


def _plain(name: str) -> str:
    """Return a name that NetCDF takes: without the slash, which separates groups."""
    return name.replace("/", "_")
