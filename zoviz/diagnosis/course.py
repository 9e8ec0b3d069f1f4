"""The course of a run: medians over its replicas, from its trace, as verdicts judge it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from zoviz.core import defaults
from zoviz.core.types import Array
from zoviz.runs.engine import columns as names
from zoviz.runs.engine.trace import Snapshot

ROWS = 240
"""Rows that a verdict looks at, evenly over the calls: enough for its windows, and as quick for a long run."""
FEWEST_ROWS = 8
BARELY = 2.0
"""Times the tolerance, up to which nothing is said to be infeasible: a method that goes to the tolerance's edge ends on
either side of it."""
OUTSIDE = 1e-2
"""Share of a course's usual violation, from which on its end is outside the constraints."""
EXPLODED = 1e9
"""Times the objective at the start, beyond which a run has run away whatever else is measured."""


MEASURES = {
    "gap": names.GAP,
    "KKT residual": names.STATIONARITY,
    "mean regret": names.AVERAGE_REGRET,
    "objective": names.OBJECTIVE,
}
"""Columns of a trace by the measure of distance from a solution that they are, the most telling first."""


class Course(NamedTuple):
    """The course of a run: medians over its replicas at T rows, of the violation the upper quartiles, too.

    Attributes
    ----------
    iterations, calls : Array, shape (T,)
    distance : Array, shape (T,)
        From a solution, as ``measure`` says; 0 or more.
    violation : Array, shape (T,)
    upper_violation : Array, shape (T,)
        Upper quartiles: what a quarter of the replicas violates the constraints by, or more.
    measure : str
        "gap", "KKT residual", "mean regret", or "objective", of which the least on the way is subtracted.
    broken : bool
        Whether the last values are not finite, or beyond every scale.
    replicas : int
        How many the values are medians of.
    constrained : bool
        Whether there are constraints.
    outside : int
        Replicas that end outside the constraints, by much of what they violated them by on the way.
    strict : bool
        Whether ``violation`` is the upper quartile instead.
    rows : ndarray of int, shape (T,)
        Which rows of the trace these are.
    pace : float
        Seconds of computing for a call of each replica; NaN where they are not known.
    changed : int
        The place of the first row after the last change of a parameter; 0 where none was changed. Before it there is
        the run's start alone.
    """

    iterations: Array
    calls: Array
    distance: Array
    violation: Array
    upper_violation: Array
    measure: str
    broken: bool
    replicas: int
    constrained: bool
    outside: int = 0
    strict: bool = False
    rows: np.ndarray = np.zeros(0, dtype=int)
    changed: int = 0
    pace: float = math.nan

    def last(self, values: Array, share: float = 0.2) -> float:
        """Return the median of the last part of values (T,)."""
        return percentile(values[-max(3, int(share * values.size)) :], 50)

    def middle(self, values: Array) -> float:
        """Return the median of a fifth of values (T,) in mid-course."""
        half, width = values.size // 2, max(1, values.size // 10)
        return percentile(values[max(half - width, 0) : half + width + 1], 50)


def course_of(
    snapshot: Snapshot,
    tolerance: float = defaults.FEASIBILITY_TOLERANCE,
    constrained: bool | None = None,
    since: int = 0,
) -> Course | None:
    """Return the course of a trace; None while it has too few rows for a verdict.

    Parameters
    ----------
    snapshot, tolerance, constrained
        As of ``verdict``.
    since : int
        The iteration from which on rows count; of those before, only the run's start is kept, to compare with.
    """
    columns = snapshot.columns
    first = rows_before(snapshot, since)
    if snapshot.rows - first < FEWEST_ROWS:
        return None
    places = columns[names.ITERATION]
    if names.CALLS in columns:  # of the replica that made the most
        places = columns[names.CALLS][:, int(columns[names.CALLS][-1].argmax())]
    at = first + np.searchsorted(places[first:], np.linspace(places[first], places[-1], ROWS))
    at = at.clip(0, snapshot.rows - 1)
    at = at[np.append(True, at[1:] > at[:-1])]
    at = at if at.size >= FEWEST_ROWS else np.arange(first, snapshot.rows)[-ROWS:]
    at = np.append(0, at) if first else at
    places = np.maximum(places - (places[first] if first else 0.0), 0.0)
    measure, values = _measured(columns, at)
    if values is None:
        return None
    violations = columns[names.VIOLATION][at] if names.VIOLATION in columns else np.zeros((at.size, 1))
    violation, upper = (np.maximum(one, 0.0) for one in _quantiles(violations, 0.5, 0.75))
    finite = np.isfinite(values) & np.isfinite(violation)
    broken = (not finite[-1] and bool(np.isfinite(values[1:]).any())) or _exploded(columns, at)
    replicas = columns[names.CALLS].shape[1] if names.CALLS in columns else 1
    if constrained is None:
        constrained = names.DUAL in columns or bool(violations.any())
    if finite.sum() < FEWEST_ROWS:
        if not broken:
            return None
        values, violation, upper = np.zeros((3, at.size))
        finite = np.ones(at.size, dtype=bool)
    values, violation, upper, at = values[finite], violation[finite], upper[finite], at[finite]
    return Course(
        iterations=columns[names.ITERATION][at],
        calls=places[at],
        distance=values - values.min() if measure == "objective" else np.abs(values),
        violation=violation,
        upper_violation=upper,
        measure=measure,
        broken=broken,
        replicas=replicas,
        constrained=constrained,
        outside=_replicas_outside(violations, tolerance),
        rows=at,
        changed=1 if first else 0,
        pace=_pace(columns),
    )


def rows_before(snapshot: Snapshot, iteration: int) -> int:
    """Return how many rows of a trace are of before an iteration."""
    return int(np.searchsorted(snapshot.columns[names.ITERATION], iteration)) if iteration > 0 and snapshot.rows else 0


def _measured(columns: Mapping[str, Array], at: np.ndarray) -> tuple[str, Array | None]:
    """Return the best measure of distance from a solution that a trace has, and its medians (T,) at some rows."""
    for measure, name in MEASURES.items():
        if name in columns and np.isfinite(columns[name][at]).any():
            # The middle of magnitudes: replicas on either side of f* are as far from it as they are.
            values = columns[name][at]
            return measure, _quantiles(values if measure == "objective" else np.abs(values), 0.5)[0]
    return "objective", None


def _pace(columns: Mapping[str, Array]) -> float:
    """Return the seconds of computing for a call of each replica."""
    if names.SECONDS not in columns or names.CALLS not in columns:
        return math.nan
    seconds, calls = np.ptp(columns[names.SECONDS]), float(np.ptp(columns[names.CALLS].max(axis=1)))
    return float(seconds) / calls if calls > 0.0 else math.nan


def _exploded(columns: Mapping[str, Array], at: np.ndarray) -> bool:
    """Return whether the objective has left every scale: a mean regret saturates where an iterate runs away."""
    if names.OBJECTIVE not in columns:
        return False
    first, last = np.abs(_quantiles(columns[names.OBJECTIVE][at[[0, -1]]], 0.5)[0])
    return bool(last > EXPLODED * (1.0 + np.nan_to_num(first)))


def _quantiles(values: Array, *shares: float) -> list[Array]:
    """Return quantiles (T,) over replicas of values (T, R), the upper one of two; those that are frozen left out."""
    ordered = np.sort(values, axis=1)  # NaN last
    count = (~np.isnan(ordered)).sum(axis=1)
    last, rows = np.maximum(count - 1, 0), np.arange(len(ordered))
    return [ordered[rows, np.minimum((share * count).astype(int), last)] for share in shares]


def percentile(values: Array, percent: float) -> float:
    """Return a percentile of values (T,), between the two next to it; NaN where one of them is.

    NumPy's own gives the interpreter away to other threads for each: a page that judges a run as this goes on would
    wait for its steps several times over.
    """
    ordered = sorted(values.tolist())
    if any(map(math.isnan, ordered)):
        return math.nan
    place = 0.01 * percent * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below]) if place > below else ordered[below]


def _replicas_outside(violations: Array, tolerance: float) -> int:
    """Return how many replicas end outside the constraints, each by its own violations (T, R); NaN is not counted."""
    last = violations[-max(3, len(violations) // 5) :]
    ends, usual = (np.sort(part, axis=0)[len(part) // 2] for part in (last, violations))
    scale = np.maximum(np.maximum(violations[0], usual), tolerance)
    return int((ends > np.maximum(OUTSIDE * scale, BARELY * tolerance)).sum())
