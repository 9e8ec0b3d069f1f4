"""The best design of a run: variables, objective and constraints at one point, by their names, for people and files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.ranking import is_feasible, quartile
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.core.units import as_box
from zoviz.problems.base import Problem
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.columns import OBJECTIVE, VIOLATION
from zoviz.runs.engine.measures import Points


class BestDesign(NamedTuple):
    """The best point of all replicas of a run, in the user's units.

    Attributes
    ----------
    kind : str
        What the point is, in a sentence's words.
    variables, constraints : tuple of str
        Their names, n and m.
    x, lower, upper : Array, shape (n,)
        The point, and the bounds; infinite where there are none.
    f : float
    h : Array, shape (m,)
        Feasible where at most 0, but for the tolerance; NaN where it is not known.
    feasible : bool
        Whether it is known that h is within the tolerance.
    replica, replicas : int
        Whose point it is, from 0, and of how many.
    middle : float
        The median of f over the replicas' own best points; NaN where half of them have none.
    """

    kind: str
    variables: tuple[str, ...]
    constraints: tuple[str, ...]
    x: Array
    lower: Array
    upper: Array
    f: float
    h: Array
    feasible: bool
    replica: int
    replicas: int
    middle: float

    @property
    def value(self) -> str:
        """f as text."""
        return f"{self.f:.10g}" if np.isfinite(self.f) else "unknown"

    def plain(self) -> dict[str, Any]:
        """Return it as plain numbers and lists, for JSON; infinite and unknown numbers are None."""
        ends = zip(self.lower, self.upper, strict=True)
        return {
            "kind": self.kind,
            "feasible": self.feasible,
            "f": _finite(self.f),
            "x": dict(zip(self.variables, map(_finite, self.x), strict=True)),
            "bounds": dict(zip(self.variables, ([_finite(low), _finite(high)] for low, high in ends), strict=True)),
            "h": dict(zip(self.constraints, map(_finite, self.h), strict=True)),
            "replica": self.replica + 1,
            "replicas": self.replicas,
        }

    def csv(self) -> str:
        """Return a table with f, every variable with its bounds, and every constraint, to the last bit."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "value", "lower", "upper"])
        writer.writerow(["f", repr(float(self.f)), "", ""])
        for name, value, low, high in zip(self.variables, self.x, self.lower, self.upper, strict=True):
            ends = [repr(float(end)) if np.isfinite(end) else "" for end in (low, high)]
            writer.writerow([name, repr(float(value)), *ends])
        for name, value in zip(self.constraints, self.h, strict=True):
            writer.writerow([name, repr(float(value)) if np.isfinite(value) else "", "", "0.0"])
        return file.getvalue()

    def __str__(self) -> str:
        width = max(map(len, [*self.variables, *self.constraints]))
        rows = []
        for name, value, low, high in zip(self.variables, self.x, self.lower, self.upper, strict=True):
            rows.append(f"{name:{width}}  {value:<18.10g} in [{low:g}, {high:g}]")
        for name, value in zip(self.constraints, self.h, strict=True):
            rows.append(f"{name:{width}}  {value:<18.10g} <= 0" if np.isfinite(value) else f"{name:{width}}  unknown")
        return "\n".join([f"{self.kind[:1].upper()}{self.kind[1:]}: f = {self.value}", *rows])


def best_design(
    problem: Problem,
    points: Points,
    tolerance: float | Array,
    answer: Answer | None = None,
    measured: Mapping[str, Array] = MappingProxyType({}),
) -> BestDesign:
    """Return the best design: the run's answer, else the best feasible point queried, else the least violating iterate.

    Parameters
    ----------
    problem : Problem
        Names and bounds are its own.
    points : Points
    tolerance : float or Array, shape (m,)
        Largest h that counts as feasible.
    answer : Answer, optional
        That was chosen and judged at the run's end.
    measured : mapping of str to Array, shape (R,)
        The last row of the trace, whose objective and violation stand for those that no call gives, as a mean over
        samples.
    """
    known, sampled = np.isfinite(points.best_fun), problem.stochastic or problem.online
    if known.any():
        r, kind = int(np.nanargmin(points.best_fun)), "best feasible point"
        x, f, h = points.best_x[r], points.best_fun[r], points.best_h[r]
        each = np.where(known, points.best_fun, np.inf)
    else:
        fun, violation, kind = points.fun, np.maximum(points.h, 0.0).max(axis=1, initial=0.0), _NONE_FEASIBLE
        if sampled:
            kind = _ROUND if problem.online else _MEAN
            fun, violation = measured.get(OBJECTIVE, fun), measured.get(VIOLATION, violation)
        r = int(np.lexsort((fun, np.where(np.isfinite(fun), violation, np.inf)))[0])
        x, f, h = points.x[r], fun[r], points.h[r]
        each = np.where(np.isnan(fun), np.inf, fun)
    middle, box = quartile(each), as_box(problem.domain) or Box.free(len(x))
    within = bool(np.isfinite(h).all() and is_feasible(h, tolerance))
    feasible = bool(known.any() or within or (sampled and violation[r] <= np.max(tolerance, initial=0.0)))
    variables, constraints = problem.labels
    middle = middle if np.isfinite(middle) else np.nan
    ends = box.lower, box.upper
    if answer is not None:
        x, f, h, feasible, kind = answer.x, answer.fun, answer.h, answer.feasible, answer.kind
    return BestDesign(kind, variables, constraints, x, *ends, float(f), h, feasible, r, len(known), middle)


_NONE_FEASIBLE = "iterate that violates least, as no point is feasible"
_MEAN = "last iterate; f is the mean over samples at the last row of the trace"
_ROUND = "last iterate; f is the objective of the round in the last row of the trace, as each round has its own"


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
