"""The results of a study as a table with one row for each replica."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zoviz.core.optional import require
from zoviz.oracle.samples import COUNTED
from zoviz.runs.store import Store
from zoviz.studies.cell import Cell

MEASURES = ("objective", "violation", "best_fun", *COUNTED, "failures", "iterations", "seconds")
"""The columns of numbers that stand before those of first hits."""


def rows(store: Store, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the outcome of every replica of every cell that has an iterate.

    Returns
    -------
    list of dict
        ``problem``, ``solver``, ``seed``, the cell's values by name, ``replica``, ``status``, ``success``, ``id``,
        the numbers of ``MEASURES``, and "calls to <metric> <threshold>" for every target (NaN where it was not hit).
    """
    lines: list[dict[str, Any]] = []
    for cell in cells:
        if store.record(cell.id) is None:
            continue
        stored = store.load(cell.id)
        if not stored.has_result:
            continue
        result = stored.result
        hits = {f"calls to {target.metric} {target.threshold:g}": target.calls for target in stored.hits}
        for r in range(stored.replicas):
            lines.append(
                {
                    "problem": cell.problem,
                    "solver": cell.solver,
                    **cell.values,
                    "seed": cell.seed,
                    "replica": r,
                    "status": stored.status,
                    "success": bool(result.success[r]),
                    "objective": float(result.fun[r]),
                    "violation": float(result.violation[r]),
                    "best_fun": float(result.best_fun[r]),
                    **{name: getattr(result, name)[r].item() for name in COUNTED},
                    "failures": int(result.failures[r]),
                    "iterations": result.nit,
                    "seconds": stored.record.seconds,
                    **{name: float(calls[r]) for name, calls in hits.items()},
                    "id": cell.id,
                }
            )
    return lines


def dataset(table: Sequence[dict[str, Any]], cells: Sequence[Cell]) -> Any:
    """Return an ``xarray.Dataset`` of the numbers, with dimensions problem, solver, set, seed and replica.

    Every parameter that a set has a value for is a coordinate along ``set``.

    Raises
    ------
    MissingExtra
        Without xarray.
    """
    xarray: Any = require("xarray", "export", "a dataset")
    sets = list({str(cell.values): cell.values for cell in cells}.values())
    axes: dict[str, list[Any]] = {
        "problem": list(dict.fromkeys(cell.problem for cell in cells)),
        "solver": list(dict.fromkeys(cell.solver for cell in cells)),
        "set": list(range(len(sets))),
        "seed": sorted({cell.seed for cell in cells}),
        "replica": list(range(1 + max((row["replica"] for row in table), default=0))),
    }
    varied = list(dict.fromkeys(name for values in sets for name in values))
    coords = axes | {name: ("set", [values.get(name) for values in sets]) for name in varied if name not in axes}
    arrays = _arrays(table, {cell.id: cell for cell in cells}, sets, axes)
    return xarray.Dataset({name: (tuple(axes), array) for name, array in arrays.items()}, coords=coords)


def _arrays(
    table: Sequence[dict[str, Any]], cells: Mapping[str, Cell], sets: list[dict[str, Any]], axes: dict[str, list[Any]]
) -> dict[str, np.ndarray]:
    """Return every number of the table by name, with an axis for each of ``axes``."""
    place = {str(values): i for i, values in enumerate(sets)}
    names = [name for name in (table[0] if table else {}) if name in MEASURES or name.startswith("calls to ")]
    arrays = {name: np.full([len(axis) for axis in axes.values()], np.nan) for name in names}
    for row in table:
        cell = cells[row["id"]]
        here = {"problem": cell.problem, "solver": cell.solver, "seed": cell.seed, "replica": row["replica"]}
        here["set"] = place[str(cell.values)]
        at = tuple(axis.index(here[name]) for name, axis in axes.items())
        for name, array in arrays.items():
            array[at] = row[name]
    return arrays
