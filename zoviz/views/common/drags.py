"""Changes of parameters as a person made them: one for each drag of a handle, which stands last, and which is meant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.engine.steering import Change
from zoviz.runs.run_view import RunView

DRAG = 1.0
"""Seconds of a run within which further changes of one parameter belong to the same drag of its handle."""
NEAR = 0.02
"""How near to a mark a click is meant for it, as a share of the course."""


def by_drag(changes: Sequence[Change]) -> list[list[Change]]:
    """Return the changes of each drag: a handle sends several values on its way to where it is left."""
    out: list[list[Change]] = []
    last = -math.inf
    for change in changes:
        if out and out[-1][0].name == change.name and change.seconds - last < DRAG:
            out[-1].append(change)
        else:
            out.append([change])
        last = change.seconds
    return out


def drags(changes: Sequence[Change]) -> list[Change]:
    """Return changes with those of one drag as one, from its first value to where it was left."""
    merged = [one[0]._replace(new=one[-1].new) for one in by_drag(changes)]
    return [change for change in merged if change.new != change.old]


def last_standing(changes: Sequence[Change]) -> Change | None:
    """Return the last drag that no later one has put back; None where all are put back, or there is none."""
    standing: list[Change] = []
    for change in drags(changes):
        top = standing[-1] if standing else None
        if top is not None and (top.name, top.old, top.new) == (change.name, change.new, change.old):
            standing.pop()
        else:
            standing.append(change)
    return standing[-1] if standing else None


def iteration_at(run: RunView, axis: str, place: float) -> int | None:
    """Return the iteration that a click on a plot means: the last before the change it is near, else the last recorded.

    A fork at the change's own iteration would repeat it. None where the run has nothing against this axis.
    """
    columns = run.trace.snapshot().columns
    if axis not in columns or not len(columns[axis]):
        return None
    places = columns[axis] if columns[axis].ndim == 1 else np.nanmean(columns[axis], axis=1)
    marks = [change.iteration for change in drags(list(run.journal))]
    away = np.abs(np.interp(marks, columns[ITERATION], places) - place)
    if marks and away.min() <= NEAR * (places[-1] - places[0]):
        return max(marks[int(np.argmin(away))] - 1, 0)
    before = np.flatnonzero(places <= place)
    return int(columns[ITERATION][before[-1]]) if before.size else 0
