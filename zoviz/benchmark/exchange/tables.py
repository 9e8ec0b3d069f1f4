"""A benchmark's results as tables of tidy data, and such tables as files."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoviz.benchmark.courses import LEVELS, Benchmark
from zoviz.benchmark.profiles import Profile
from zoviz.benchmark.stored_study import StudySnapshot
from zoviz.core.errors import ZovizError
from zoviz.core.optional import require

if TYPE_CHECKING:
    import pandas

SUFFIXES = (".csv", ".parquet", ".nc")
"""Of files of tables."""
_AXES = ("problem", "solver", "replica", "profile", "step")
"""Columns that say which line it is: dimensions of a NetCDF file."""


def tidy(snapshot: StudySnapshot, bench: Benchmark) -> pandas.DataFrame:
    """Return one row for each replica: problem, n, solver, replica, verdict, calls, the merit and calls to levels.

    Parameters
    ----------
    snapshot : StudySnapshot
        Of the study.
    bench : Benchmark
        Of the study, from whose values levels are measured; rows of solvers that were imported into it follow, with
        no run.
    """
    rows = []
    taken: dict[tuple[str, str], int] = {}
    for run in snapshot.definition.runs:
        if run.id not in snapshot.outcomes or run.problem not in bench.problems:
            continue
        outcome, pair = snapshot.outcomes[run.id], (run.problem, run.solver)
        verdict = "" if outcome.verdict is None else str(outcome.verdict.word)
        for course in outcome.courses:
            r = taken.get(pair, 0)
            taken[pair] = r + 1
            rows.append(_row(bench, pair, r, course, run.id, verdict))
    own = {run.solver for run in snapshot.definition.runs}
    return _frame([*rows, *(row for row in imported_rows(bench) if row["solver"] not in own)])


def imported_rows(bench: Benchmark) -> list[dict[str, Any]]:
    """Return a row for each course of a benchmark, without a link to a stored run."""
    return [
        _row(bench, pair, r, course, "", "") for pair, each in bench.courses.items() for r, course in enumerate(each)
    ]


def _row(bench: Benchmark, pair: tuple[str, str], r: int, course: Any, run: str, verdict: str) -> dict[str, Any]:
    problem, solver = pair
    return {
        "problem": problem,
        "n": int(bench.dimensions[bench.problems.index(problem)]),
        "solver": solver,
        "replica": r,
        "run": run,
        "verdict": verdict,
        "calls": course.calls[-1],
        "merit": course.merit[-1],
        **{f"calls to {tau:g}": course.calls_to(bench.level(problem, tau)) for tau in LEVELS},
    }


def tidy_courses(bench: Benchmark) -> pandas.DataFrame:
    """Return ``tidy`` of a benchmark without a study, which has imported runs only."""
    return _frame(imported_rows(bench))


def profile_table(profiles: Mapping[str, Profile]) -> pandas.DataFrame:
    """Return one row for each step of each curve: profile, solver, step, cost and share from there on."""
    rows = [
        {"profile": name, "solver": solver, "step": k, "cost": float(x), "share": float(y)}
        for name, profile in profiles.items()
        for solver, places, shares in zip(profile.solvers, profile.x, profile.y, strict=True)
        for k, (x, y) in enumerate(zip(places, shares, strict=True))
    ]
    return _frame(rows)


def _frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame(rows)


def table_file(table: pandas.DataFrame, suffix: str) -> bytes:
    """Return a table as a file: ``.csv``, ``.parquet`` with a line for each, ``.nc`` with axes such as the problem.

    Raises
    ------
    ZovizError
        For another suffix, or a table without a line.
    MissingExtra
        Where the packages that write such files are not installed.
    """
    if table.empty:
        raise ZovizError("Expected results to write, got none: run the study first.")
    if suffix == ".csv":
        return table.to_csv(index=False).encode()
    if suffix == ".parquet":
        require("pyarrow", "export", "a .parquet file")
        out = io.BytesIO()
        table.to_parquet(out, index=False)
        return out.getvalue()
    if suffix == ".nc":
        return _netcdf(table)
    raise ZovizError(f"Expected a name that ends in {', '.join(SUFFIXES)}, got {suffix!r}.")


def _netcdf(table: pandas.DataFrame) -> bytes:
    """Return a table as NetCDF: its columns as arrays over the columns that say which line it is."""
    require("xarray", "export", "a .nc file")
    require("h5netcdf", "export", "a .nc file")
    axes = [name for name in _AXES if name in table]
    words = {name: "" for name in table if name not in axes and not _of_numbers(table[name])}
    data = table.set_index(axes).to_xarray().fillna(words)
    data = data.assign({name: data[name].astype(str) for name in words})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.nc"
        data.to_netcdf(path, engine="h5netcdf")
        return path.read_bytes()


def _of_numbers(column: Any) -> bool:
    return column.dtype.kind in "fiu"
