"""The certainty of an answer: intervals of the optimal value, of constraints, of x and of what limits are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zoviz.certainty.stationarity import ANY, NOT_NEGATIVE, Activity, Interval
from zoviz.core import defaults
from zoviz.core.types import Array

DIGIT = 99
"""Calls for a tenth of the width, beside those that there were: errors fall with the root of the calls, and with them
the radius within which a quadratic fits."""
LARGEST = 0.5
"""Share of a direction's largest variable from which on another one names it, too."""
WEAK = 1e-3
"""Share of the largest multiplier below which that of a method says nothing: it may be on its way to 0."""
_MOST = 8
"""Rows, and directions, that a sentence lists."""
_EXACT = 1e-9
"""Width, relative to a figure of at least 1, that is none."""
UNKNOWN = "cannot tell"
"""In place of a figure that nothing is known of."""


class Direction(NamedTuple):
    """A direction in which x is known with one error.

    Attributes
    ----------
    step : Array, shape (n,)
        A step of length 1 along it, in the user's units, where lengths count as ``unit``.
    error : float
        The standard error of x along it, in such steps.
    flat : bool
        Whether f changes less along it than the noise can tell.
    unit : Array, shape (n,)
    """

    step: Array
    error: float
    flat: bool
    unit: Array

    @property
    def largest(self) -> tuple[int, ...]:
        """The variables that change most along it, from 0."""
        size = np.abs(self.step) / self.unit
        order = np.argsort(-size, kind="stable")
        return tuple(int(i) for i in order if size[i] >= LARGEST * size[order[0]])


@dataclass(frozen=True)
class Certainty:
    """How sure an answer is: estimates with intervals at a point, and at the minimum near it.

    Figures that nothing is known of are NaN, from -inf to inf.

    Attributes
    ----------
    x : Array, shape (n,)
        The point.
    f_x : Interval
        f there.
    f_star : Interval
        f at the local minimum near it, f*.
    gain : Interval
        What could still be gained nearby, f(x) - f*.
    h_x : tuple of Interval
        The constraints at x.
    p_feasible : Array, shape (m,)
        The probability that each holds at x.
    activity : tuple of Activity
        Whether each is active at the minimum.
    multipliers : tuple of Interval
        What a unit of each limit is worth: by how much f* falls where h_j <= 1 is allowed instead of h_j <= 0, to first
        order.
    x_star : tuple of Interval
        The minimum, variable by variable.
    directions : tuple of Direction
        How well x is known along directions that are independent of each other.
    noise : Array, shape (m + 1,)
        Standard deviation of a call.
    calls, archive : int
        Calls that were made to judge x, and earlier ones that lend curvatures.
    level : float
        Of the intervals.
    note : str
        What limits it; may be empty.
    """

    x: Array
    f_x: Interval
    f_star: Interval
    gain: Interval
    h_x: tuple[Interval, ...]
    p_feasible: Array
    activity: tuple[Activity, ...]
    multipliers: tuple[Interval, ...]
    x_star: tuple[Interval, ...]
    directions: tuple[Direction, ...]
    noise: Array
    calls: int
    archive: int = 0
    level: float = 0.95
    note: str = ""

    @property
    def noisy(self) -> bool:
        """Whether more calls would narrow the intervals."""
        return bool((self.noise > 0.0).any())

    @property
    def tells_minimum(self) -> bool:
        """Whether anything is known of the minimum near the point."""
        return bool(np.isfinite(self.f_star.value))

    @property
    def next_digit(self) -> int:
        """Further calls for intervals a tenth as wide, one digit more; 0 where values repeat."""
        return DIGIT * self.calls if self.noisy else 0

    @property
    def flat(self) -> tuple[tuple[int, ...], ...]:
        """The variables that change most along each direction that f does not tell."""
        return tuple(one.largest for one in self.directions if one.flat)

    @property
    def sentence(self) -> str:
        """The certainty in a few plain words."""
        parts = list(filter(None, [f"f(x) {text_of(self.f_x)}", self.nearby]))
        if self.activity:
            listed = {word: [f"h{j + 1}" for j, one in enumerate(self.activity) if one is word] for word in Activity}
            parts += [f"{word}: {_short(rows)}" for word, rows in listed.items() if rows]
            least = int(np.argmin(self.p_feasible))
            if self.noisy:
                parts.append(f"P(h{least + 1} <= 0) {_share(self.p_feasible[least])}, the least")
        return "; ".join([*parts, *self._rest]) + "."

    @property
    def minimum(self) -> str:
        """f, the minimum near the point, and the price of another digit, in a few plain words."""
        return "; ".join(filter(None, [f"f(x) {text_of(self.f_x)}", self.nearby, self._digit, self.note])) + "."

    @property
    def nearby(self) -> str:
        """f* and what could still be gained, in a few plain words; empty where nothing is known of them."""
        if not self.tells_minimum:
            return ""
        gain = f"at most {self.gain.high:.2g}" if self.gain.high > 0.0 else "nothing"
        return f"f* {text_of(self.f_star)}; possible gain nearby {gain}"

    @property
    def _digit(self) -> str:
        return f"another digit would take about {_round(self.next_digit):,} calls" if self.noisy else ""

    @property
    def _rest(self) -> list[str]:
        flat = ", ".join(" + ".join(f"x{i + 1}" for i in one) for one in self.flat)
        return list(filter(None, [f"not determined: {flat}" if flat else "", self._digit, self.note]))

    def table(self, names: tuple[str, ...] = ()) -> list[tuple[str, str, str, str]]:
        """Return the constraints' lines: name, value, word with probability, worth of a unit of the limit."""
        rows = []
        for j, (h, word, worth) in enumerate(zip(self.h_x, self.activity, self.multipliers, strict=True)):
            probability = f", P(h <= 0) {_share(self.p_feasible[j])}" if self.noisy else ""
            name = names[j] if names else f"h{j + 1}"
            rows.append((name, text_of(h), f"{word}{probability}", text_of(worth)))
        return rows

    def __str__(self) -> str:
        return self.listed()

    def listed(self, variables: tuple[str, ...] = (), constraints: tuple[str, ...] = ()) -> str:
        """Return all figures as a table of lines, by the names of variables (n) and constraints (m), and the sentence.

        Without names they are x1, x2 ... and h1, h2 ....
        """
        lines = [("f(x)", text_of(self.f_x), "", ""), ("f*", text_of(self.f_star), "", "")]
        lines.append(("possible gain nearby", text_of(self.gain), "", ""))
        rows = [("row", "value", "activity", "worth of a unit"), *self.table(constraints)] if self.h_x else []
        titles = variables or [f"x{i + 1}" for i in range(len(self.x_star))]
        known = [(name, one) for name, one in zip(titles, self.x_star, strict=True) if np.isfinite(one.low)]
        x = [(name, text_of(one), "", "") for name, one in known]
        cells = [*lines, *rows, *x]
        widths = [max(len(row[k]) for row in cells) for k in range(4)]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join([*text, self.sentence])

    def __repr__(self) -> str:
        return self.sentence


def at_point(
    x: Array,
    outputs: Sequence[Interval],
    p_feasible: Array,
    activity: Sequence[Activity],
    noise: Array,
    calls: int,
    note: str,
    multipliers: Sequence[Interval] = (),
    level: float = 0.95,
) -> Certainty:
    """Return what is known of a point alone: nothing of the minimum near it.

    Parameters
    ----------
    x : Array, shape (n,)
    outputs : sequence of Interval
        f and h at x.
    p_feasible : Array, shape (m,)
    activity : sequence of Activity
    noise : Array, shape (m + 1,)
    calls : int
    note : str
    multipliers : sequence of Interval
        Default: nothing is known.
    level : float
    """
    return Certainty(
        x=x,
        f_x=outputs[0],
        f_star=ANY,
        gain=NOT_NEGATIVE,
        h_x=tuple(outputs[1:]),
        p_feasible=p_feasible,
        activity=tuple(activity),
        multipliers=tuple(multipliers) or (NOT_NEGATIVE,) * len(activity),
        x_star=tuple(Interval(float(one), -np.inf, np.inf) for one in x),
        directions=(),
        noise=noise,
        calls=calls,
        level=level,
        note=note,
    )


def exact(
    x: Array, f: float, h: Array, multipliers: Array, tolerance: float | Array = defaults.FEASIBILITY_TOLERANCE
) -> Certainty:
    """Return what is known at no further call of a point whose values repeat: these, and which rows are 0.

    Parameters
    ----------
    x : Array, shape (n,)
    f : float
    h : Array, shape (m,)
    multipliers : Array, shape (m,)
        Those of the method, which have no intervals; NaN for none.
    tolerance : float or Array, shape (m,)
        Largest h that counts as 0.
    """
    known = np.nan_to_num(multipliers)
    at_zero, positive = np.abs(h) <= tolerance, known > WEAK * known.max(initial=0.0)
    slack = (h < 0.0) & ~at_zero & ~positive  # a row with a multiplier may be reached yet
    worth = [
        Interval(0.0, 0.0, 0.0) if none else Interval(float(y) if np.isfinite(y) else np.nan, 0.0, np.inf)
        for none, y in zip(slack, multipliers, strict=True)
    ]
    words = np.where(slack, Activity.INACTIVE, np.where(at_zero & positive, Activity.ACTIVE, Activity.UNDECIDED))
    return at_point(
        x,
        [Interval(float(one), float(one), float(one)) for one in (f, *h)],
        (h <= tolerance).astype(float),
        [Activity(word) for word in words],
        np.zeros(len(h) + 1),
        0,
        "values repeat, but the calls nearby do not determine f*",
        worth,
    )


def unknown(x: Array, f: float, h: Array, reason: str) -> Certainty:
    """Return the certainty of an answer of which nothing but noisy values is known.

    Parameters
    ----------
    x : Array, shape (n,)
    f : float
    h : Array, shape (m,)
    reason : str
        Why.
    """
    outputs = [Interval(float(one), -np.inf, np.inf) for one in (f, *h)]
    undecided, nothing = [Activity.UNDECIDED] * len(h), np.full(len(h) + 1, np.nan)
    return at_point(x, outputs, nothing[1:], undecided, nothing, 0, reason)


def text_of(interval: Interval) -> str:
    """Return a figure with its interval, to the digits that the interval leaves."""
    value, low, high = interval
    if np.isnan(value):
        return UNKNOWN
    if not (np.isfinite(low) or np.isfinite(high)):
        return f"{value:.6g} (no interval)"
    if high - low <= _EXACT * max(abs(value), 1.0):
        return f"{value:.10g}"
    if not np.isfinite(high):
        return f"{value:.6g} (no upper end)"
    digits = int(np.clip(1 - np.floor(np.log10(high - low) + 1e-9), 0, 12))
    size = max(abs(low), abs(high))
    if size >= 1e6 or size < 1e-4:
        value_, low_, high_ = (f"{end:.2e}" if end else "0" for end in interval)
        return f"{value_} ({low_} to {high_})"
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _share(probability: float) -> str:
    return "> 99.9 %" if probability > 0.999 else "< 0.1 %" if probability < 0.001 else f"= {100.0 * probability:.3g} %"


def _round(count: int) -> int:
    """Return a count to two digits."""
    return int(float(f"{count:.2g}"))


def _short(rows: list[str]) -> str:
    return ", ".join(rows[:_MOST]) + (f" and {len(rows) - _MOST} more" if len(rows) > _MOST else "")
