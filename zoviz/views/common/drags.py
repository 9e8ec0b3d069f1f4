"""Changes of parameters as a person made them: one for each drag of a handle, and which stands last."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zoviz.runs.engine.steering import Change

DRAG = 1.0
"""Seconds of a run within which further changes of one parameter belong to the same drag of its handle."""


def drags(changes: Sequence[Change]) -> list[Change]:
    """Return changes with those of one drag as one: a handle sends several values on its way to where it is left."""
    merged: list[Change] = []
    last = -math.inf
    for change in changes:
        if merged and merged[-1].name == change.name and change.seconds - last < DRAG:
            merged[-1] = merged[-1]._replace(new=change.new)
        else:
            merged.append(change)
        last = change.seconds
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
