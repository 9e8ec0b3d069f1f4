"""Marks on the horizontal axis where a parameter was changed, a target first hit, or the task itself changed."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import UP_TO_N, value_words
from zoviz.runs.engine.columns import ITERATION, SAMPLES, STAGE, ZETA_SAMPLES
from zoviz.runs.engine.steering import Change
from zoviz.runs.run_view import RunView
from zoviz.solvers.base import Solver
from zoviz.views.common.colours import EVENT, PHASE, TARGET, ink_on
from zoviz.views.common.drags import drags
from zoviz.views.plots.line_data import AxisSpan
from zoviz.views.plots.line_labels import LETTER

_HEAD, _HIGH = 0.05, 0.085
"""Width and height of a mark's number, as shares of a narrow plot's frame."""
_LEVELS = 3
"""Heights at which marks stand that are too near each other for one."""
MOST_PHASES, MOST_STAGES = 40, 12
"""Marks of a problem's phases and of a solver's stages on a plot: of more, every second, third, ... is drawn."""


def _parameter(solver: Solver, name: str) -> param.Parameter | None:
    """Return a parameter of a solver or of a part of it by its dotted name; None where it has no such parameter."""
    prefix, _, own = name.rpartition(".")
    part = solver.parts().get(f"{prefix}." if prefix else "")
    return None if part is None or own not in part.param else part.param[own]


def _text(run: RunView, name: str, value: Any) -> str:
    """Return the value of a parameter in words, with what is used of it where that is less."""
    parameter = _parameter(run.solver, name)
    limited = parameter is not None and (parameter.metadata or {}) == UP_TO_N
    if limited and value is not None and value > run.problem.domain.n:
        return f"{value}, of which {run.problem.domain.n} are used"
    return value_words(value, digits=4)


def places_of(run: RunView, changes: Sequence[Change], axis: str) -> list[float]:
    """Return where changes of a run stand on an axis; empty where the run has nothing against it."""
    if axis in (SAMPLES, ZETA_SAMPLES):  # a change tells when it was made in every other counter
        return _along(run.trace.snapshot().columns, [change.iteration for change in changes], axis)
    return [getattr(change, axis) for change in changes]


def symbol_of(solver: Solver, name: str) -> str:
    """Return the symbol of a parameter of a solver, the last word of its label if that is one; else the label."""
    label = solver.label_of(name)
    last = label.rpartition(" ")[2]
    return last if len(last.partition("_")[0]) <= 2 else label


def event_marks(run: RunView, axis: str) -> dict[str, list]:
    """Return a mark for each change of a parameter, numbered, in the words of the form, with its old and new value.

    ``label`` has the symbol and the new value alone.
    """
    changes = drags(list(run.journal))
    at = places_of(run, changes, axis)
    changes = changes[: len(at)]
    return {
        "x": at,
        "y": [0.95] * len(changes),
        "number": [str(at) for at in range(1, len(changes) + 1)],
        "label": [f"{symbol_of(run.solver, one.name)} → {value_words(one.new, digits=3)}" for one in changes],
        "text": [
            f"<b>{html.escape(run.solver.label_of(change.name))}</b> "
            f"{_text(run, change.name, change.old)} → {_text(run, change.name, change.new)}<br>"
            f"iteration {change.iteration:,}, {change.calls:,} calls"
            for change in changes
        ],
    }


def target_marks(run: RunView, axis: str) -> dict[str, list]:
    """Return a mark for each target, at its first hit, with the number of replicas that hit it and their mean."""
    hit = [target for target in run.hits if target.hits and np.isfinite(target.hit[axis]).any()]
    return {
        "x": [float(np.nanmin(target.hit[axis])) for target in hit],
        "y": [0.97] * len(hit),
        "text": [
            f"<b>{target.metric} ≤ {target.threshold:g}</b> hit by {target.hits} of {target.iteration.size} replicas"
            f"<br>first at iteration {np.nanmin(target.iteration):,.0f}, on average "
            f"{np.nanmean(target.iteration):,.0f} ({np.nanmean(target.calls):,.0f} calls)"
            for target in hit
        ],
    }


def phase_marks(run: RunView, axis: str) -> dict[str, list]:
    """Return a mark where each phase of the problem, and each stage of the solver, began, so far."""
    columns = run.trace.snapshot().columns
    phases = [] if run.initial is None else run.initial.problem.phases(run.progress.iteration)
    phases = phases[:: -(-len(phases) // MOST_PHASES) or 1]
    if run.initial is not None and STAGE in columns:
        stages = _stages(run.initial.solver, columns)
        phases = [*phases, *stages[:: -(-len(stages) // MOST_STAGES) or 1]]
    if axis not in columns:
        return dict(NO_MARKS)
    at = _along(columns, [iteration for iteration, _ in phases], axis)
    return {
        "x": at,
        "y": [0.97] * len(phases),
        "text": [f"<b>{name}</b><br>from iteration {iteration:,}" for iteration, name in phases],
    }


def _along(columns: Mapping[str, np.ndarray], iterations: Sequence[int], axis: str) -> list[float]:
    """Return where iterations stand on an axis, between two rows of the trace in proportion; empty without it."""
    if not iterations or axis not in columns:
        return []
    if axis == ITERATION:
        return [float(iteration) for iteration in iterations]
    along = columns[axis] if columns[axis].ndim == 1 else columns[axis].mean(axis=1)
    return [float(x) for x in np.interp(iterations, columns[ITERATION], along)]


def _stages(solver: Solver, columns: Mapping[str, np.ndarray]) -> list[tuple[int, str]]:
    """Return the iteration of the first row of every stage after the first, with the stage's title."""
    numbers = columns[STAGE].max(axis=1, where=np.isfinite(columns[STAGE]), initial=0.0).astype(int)
    rows = np.flatnonzero(np.diff(numbers, prepend=0) > 0)
    return [(int(columns[ITERATION][row]), solver.stage_title(int(numbers[row]))) for row in rows]


class MarkKind(NamedTuple):
    """A kind of mark: a function that finds the marks of a run, and their look; sizes in pixels."""

    find: Callable[[RunView, str], dict[str, list]]
    colour: str
    marker: str
    dash: str
    size: int = 11


_OFF = 10
"""Pixels from the middle of a mark's number to its label."""
STEERING = "marks"
"""The kind of marks of changes, which all visible runs have in their colours."""
MARKS = {
    STEERING: MarkKind(event_marks, EVENT, "circle", "dashed", 14),
    "targets": MarkKind(target_marks, TARGET, "diamond", "dotdash"),
    "phases": MarkKind(phase_marks, PHASE, "square", "dotted", 6),
}
"""Every kind, by the name of its data on a page."""

NO_MARKS: dict[str, list] = {name: [] for name in ("x", "y", "text", "number", "label", "colour", "ink", "side", "off")}


def steering_marks(runs: Iterable[tuple[RunView, str]], axis: str, span: AxisSpan) -> dict[str, list]:
    """Return the marks of several runs' changes, each in its run's colour, below those that it would overlap.

    Parameters
    ----------
    runs : iterable of (Run or StoredRun, str)
        With their colours.
    axis : str
    span : AxisSpan
        Of the horizontal axis.
    """
    rows: list[dict[str, Any]] = []
    for run, colour in runs:
        marks = event_marks(run, axis)
        count = len(marks["x"])
        marks |= {"colour": [colour] * count, "ink": [ink_on(colour)] * count, "side": ["left"] * count}
        marks["off"] = [_OFF] * count
        rows += [dict(zip(NO_MARKS, row, strict=True)) for row in zip(*(marks[name] for name in NO_MARKS), strict=True)]
    free = [-math.inf] * _LEVELS
    for row in sorted(rows, key=lambda row: row["x"]):
        _stack(row, float(span.shares(np.array([row["x"]]))[0]), free)
    return {name: [row[name] for row in rows] for name in NO_MARKS}


def _stack(row: dict[str, Any], at: float, free: list[float]) -> None:
    """Give a mark its height, and its label a side, or none, where marks before it end at ``free`` on each height."""
    half, word = _HEAD / 2, LETTER * len(row["label"])
    for side, begin, end in (("left", at - half, at + half + word), ("right", at - half - word, at + half)):
        level = next((level for level, taken in enumerate(free) if taken <= begin), None)
        if level is not None and begin >= -half and end <= 1.0 + half:
            row["side"], row["off"] = side, _OFF if side == "left" else -_OFF
            break
    else:
        end, row["label"] = at + half, ""
        level = next((level for level, taken in enumerate(free) if taken <= at - half), 0)
    row["y"] -= _HIGH * level
    free[level] = end
