"""The player of a report: a run's course, and what the picture of its problem looked like along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bokeh.core.json_encoder import serialize_json
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent, ModelChangedEvent
from bokeh.model import Model

from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS, ITERATION
from zoviz.runs.run_view import RunView
from zoviz.views.pictures.base import Picture
from zoviz.views.plots.line_data import axis_values, row_indices

FRAMES = 60
"""Of a picture along a course: five a second."""
ROWS = 240
"""Points of a path at most."""
MOST_BYTES = 700_000
"""Of all frames: those that would need more are thinned."""


class Frames(NamedTuple):
    """The frames of a picture during a run.

    Attributes
    ----------
    calls : list of float
        Of each frame, F.
    targets : list of (str, str)
        Id and property of each model that changes, K.
    values : list of str
        Different values of these, as JSON.
    at : list of list of int
        By frame the indices of its K values.
    """

    calls: list[float]
    targets: Sequence[tuple[str, str]]
    values: list[str]
    at: list[list[int]]

    @property
    def text(self) -> str:
        """The frames as JSON."""
        values = f"[{','.join(self.values)}]"
        rest = serialize_json({"calls": self.calls, "targets": self.targets, "at": self.at})
        return f'{rest[:-1]}, "values": {values}}}'


def picture_of(run: RunView) -> tuple[Picture, Frames] | None:
    """Return the picture of a run's problem, drawn at the end of its path, with its frames; None where there is none.

    As on the page it is the first replica's.
    """
    if run.initial is None:
        return None
    problem = run.initial.problem.clone()
    kind = Picture.of(problem)
    if kind is None or not kind.follows_path():
        return None
    picture = kind()
    found = picture.iterates(run)
    if found is None:
        return None
    trace = run.trace.snapshot()
    calls = np.interp(found[0], trace.columns[ITERATION], axis_values(trace, CALLS))
    return picture, frames_of(picture, problem, found[1], calls)


def frames_of(picture: Picture, problem: Problem, path: Array, calls: Array) -> Frames:
    """Draw a path (rows, n) up to ever later points, and return what changed; the picture then has all of it.

    Parameters
    ----------
    picture : Picture
    problem : Problem
    path : Array, shape (rows, n)
    calls : Array, shape (rows,)
        At each row, from the smallest on.
    """
    kept = row_indices(calls, False, ROWS)
    path, calls = path[kept], calls[kept]
    ends = np.unique(np.append(row_indices(calls, False, FRAMES), len(calls) - 1)) + 1
    changed = _changing(picture, problem, [path[:end] for end in ends])
    known, shots = picture.figure.references(), []
    for end in ends:
        picture.update(problem, picture.prepare(problem, path[:end]))
        shots.append([_encoded(model, name, known) for model, name in changed])
    step, last = 1, len(shots) - 1
    while step <= last and sum(map(len, {one for shot in shots[last % step :: step] for one in shot})) > MOST_BYTES:
        step *= 2
    numbers: dict[str, int] = {}
    chosen = range(last % step, last + 1, step)  # the last one is among them
    at = [[numbers.setdefault(value, len(numbers)) for value in shots[i]] for i in chosen]
    targets = [(model.id, name) for model, name in changed]
    return Frames([float(calls[ends[i] - 1]) for i in chosen], targets, list(numbers), at)


def _changing(picture: Picture, problem: Problem, paths: Sequence[Array]) -> list[tuple[Model, str]]:
    """Return the properties of a picture's models that change while it draws these paths one after the other."""
    document, changed = Document(), dict[tuple[Model, str], None]()

    def note(event: Any) -> None:
        if isinstance(event, (ColumnDataChangedEvent, ModelChangedEvent)):
            changed[event.model, event.attr] = None

    document.add_root(picture.figure)
    document.on_change(note)
    for path in paths:
        picture.update(problem, picture.prepare(problem, path))
    document.clear()  # for a page of its own
    return list(changed)


def _encoded(model: Model, name: str, known: set[Model]) -> str:
    """Return the value of a property as the browser's library reads it."""
    return str(serialize_json(Serializer(references=known, deferred=False).encode(getattr(model, name))))
