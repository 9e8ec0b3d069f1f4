"""Runs by names that differ, for figures that stand still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zoviz.core.registry import title_of
from zoviz.runs.run_view import RunView

Runs = RunView | Sequence[RunView] | Mapping[str, RunView]
"""One run, several, or several by name."""


def named_runs(runs: Runs) -> dict[str, RunView]:
    """Return runs that have begun by names that differ: their labels, or the titles of their solvers.

    Raises
    ------
    ValueError
        Where there is no run, or one that has not begun.
    """
    if isinstance(runs, Mapping):
        runs_by_name = dict(runs)
    else:
        runs_by_name = {}
        for run in [runs] if isinstance(runs, RunView) else runs:
            title = run.label or title_of(run.solver)
            runs_by_name[title if title not in runs_by_name else f"{title} #{len(runs_by_name) + 1}"] = run
    not_begun = [name for name, run in runs_by_name.items() if not len(run.trace)]
    if not runs_by_name or not_begun:
        raise ValueError(f"Expected runs that have begun, got {not_begun or 'none'}: call start() or run() first.")
    return runs_by_name
