"""Describes the replay or the fork of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.oracle.samples import COUNTED
from zoviz.runs.engine.checkpoint import place
from zoviz.runs.engine.columns import CALLS, ITERATION
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.steering import Change
from zoviz.runs.run_view import RunView


def begun(source: RunView) -> RunSpec:
    """Return the description that a run began with.

    Raises
    ------
    ZovizError
        Where it has not begun.
    """
    if source.initial is None:
        raise ZovizError("Expected a run that has started, got none: there is nothing to repeat.")
    return source.initial


def forked(
    source: RunView, at: int | None = None, changes: Mapping[str, Any] | None = None, **settings: Any
) -> RunSpec:
    """Describe a run that equals ``source`` up to iteration ``at``, then goes on with ``changes``.

    Parameters left open, and units, are those that ``source`` took: larger budgets, or another version's rule, would
    choose others.

    Parameters
    ----------
    source : RunView
    at : int, optional
        Default: the last iteration of ``source``.
    changes : mapping, optional
        Live parameters to set at ``at``.
    settings
        Other settings than it had.

    Raises
    ------
    ZovizError
        Where the source has not begun.
    ValueError
        For a change of what is not live, or to a value that its parameter refuses.
    """
    spec = begun(source).clone()
    changes = dict(changes or {})
    for name, value in changes.items():
        if name not in spec.solver.live:
            live = f"one of {', '.join(spec.solver.live)}" if spec.solver.live else "nothing"
            raise ValueError(f"Expected {live} to change, got {name!r}.")
        spec.solver.clone().set(name, value)  # refuses a bad value now, not in mid-run
    at = source.progress.iteration if at is None else at
    if at < 0 or not float(at).is_integer():
        raise ValueError(f"Expected at a whole number of iterations, 0 or more, got {at!r}.")
    schedule = list(source.journal.until(at))
    schedule += [Change(int(at), 0, 0.0, name, None, value) for name, value in changes.items()]
    repeated = {
        "schedule": tuple(schedule),
        "resolved": dict(source.resolved),
        "unit_sizes": source.measured_units,
    }
    return spec.replaced(**{"study": "", "parent": source.id} | settings | repeated)


def calls_again(source: RunView, at: int) -> int:
    """Return how many calls of each replica a fork at iteration ``at`` makes again, as no state is kept there."""
    data = source.resume_data(at)
    kept = 0 if data.checkpoint is None else place(data.checkpoint)[1]
    return 0 if data.entries else max(calls_until(source, at) - kept, 0)


def calls_until(source: RunView, at: int) -> int:
    """Return the calls of each replica up to iteration ``at``, as the trace has them."""
    columns = source.trace.snapshot().columns
    row = max(int(np.searchsorted(columns[ITERATION], at, side="right")) - 1, 0)
    return int(np.nanmax(columns[CALLS][row]))


def onward(source: RunView, at: int) -> dict[str, Any]:
    """Return budgets with which a fork at ``at`` has a way to go: as before, and as much again where spent there.

    None of time: what is repeated takes a time of its own.
    """
    budgets, progress = begun(source).limits, source.progress
    if budgets["iterations"] is not None and budgets["iterations"] <= at:
        budgets["iterations"] += at
    for name in COUNTED:
        limit, used = budgets[name], progress.counts[name]
        if limit is not None and at >= progress.iteration and (source.spent_calls or used >= limit):
            budgets[name] = limit + used
    return budgets | {"seconds": None}


def replayed(source: RunView) -> RunSpec:
    """Describe a run that repeats ``source``, its steering included, and ends where it ended.

    Where time ended it in the midst of a step, that step is not repeated, nor are the calls that it had made.
    """
    spec = begun(source)
    end = spec.iterations if source.spent_calls else source.progress.iteration
    return forked(source, seconds=None, stop_at_targets=False, iterations=end)
