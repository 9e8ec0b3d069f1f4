"""Points with values from before a run: one may begin it, and its models may use them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.ranking import ON_BOUNDARY
from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation
from zoviz.core.units import Units

_SAME, _ROUND_OFF = 1e-3, 1e-9
"""A past value and a fresh one at a point are the same up to this share of it (a table may be printed with few digits,
in x too), and up to this share of what the table's values range over."""
_ERRORS = 5.0
"""Standard deviations of their difference by which they may differ under noise: the best of many was a lucky one."""
_STEEP, _TENTH = 1e3, 0.1
"""A row is steep where its spread over the table is a thousand times 1, and what a tenth of its values are within."""
_VIOLATION = 10.0
"""Price of a violation over that of f, each in units of its spread over the table."""
_DENSE = 100.0
"""How many times as dense as on average rows lie where a search has ended; of rows drawn evenly, one table in 1000."""


class Known(NamedTuple):
    """What is known of points (N, n) as a solver sees them: values (N, 1 + m), f first, and their ``sizes`` (1 + m,).

    Those that are not ``trusted`` are shifted to agree with a fresh call at one of them: their differences may still
    tell where to call next. Where the fresh values were those of the table to the bit, values ``repeat``. Where runs
    begin at the best point the problem's ``own`` starts (R, n) were called, too.
    """

    points: Array
    values: Array
    sizes: Array
    trusted: bool
    repeat: bool
    own: Array


class PastPoints:
    """Points with values from before a run, which are trusted until a fresh call at one of them gives others.

    Parameters
    ----------
    x : Array, shape (N, n)
    values : Array, shape (N, 1 + m)
        f and h side by side, in the user's units; NaN where one is not known, and for f where the call failed.

    Attributes
    ----------
    trusted : bool
    shift : Array, shape (1 + m,)
        By how much the fresh value at ``best`` is larger; 0 before there is one.
    repeat : bool
        Whether it was the same to the bit.
    own : Array, shape (R, n)
        Each replica's own start, where runs begin at ``best``; (0, n) where they do not.
    """

    def __init__(self, x: Array, values: Array) -> None:
        self.x, self.values, self.trusted = x, values, True
        self.shift, self.repeat, self.own = np.zeros(values.shape[1]), False, np.empty((0, x.shape[1]))

    @classmethod
    def of(cls, setting: Mapping[str, Any] | None, domain: Set, m: int | None = None) -> PastPoints | None:
        """Return the points of a run's setting ``past`` that lie in the domain; None where there are none.

        Columns of constraints that the table does not have are not known.

        Raises
        ------
        ValueError
            For more constraints than the problem has.
        """
        if setting is None:
            return None
        x, values = (np.asarray(setting[name], dtype=float) for name in ("x", "values"))
        if m is not None and (missing := 1 + m - values.shape[1]):
            if missing < 0:
                raise ValueError(f"Expected past points with f and {m} constraints, got {values.shape[1]} values each.")
            values = np.column_stack([values, np.full((len(values), missing), np.nan)])
        inside = domain.contains(x, ON_BOUNDARY)
        return cls(x[inside], values[inside]) if inside.any() else None

    @cached_property
    def whole(self) -> np.ndarray:
        """The rows of which every value is known, (N,) of bool."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    @cached_property
    def best(self) -> Array | None:
        """The point (n,) of the least ``merit``; None where no row is whole."""
        x, values = self.x[self.whole], self.values[self.whole]
        return x[int(np.argmin(self.merit(values)))] if len(x) else None

    @cached_property
    def gathered(self) -> bool:
        """Whether a search has ended at the best point, or somebody chose the rows: they are dense around it, or few.

        Dense by the volume of the cube that has n + 1 others. What is best of points that lie evenly is no better a
        start than another.
        """
        x = np.unique(self.x[self.whole], axis=0)
        width = np.ptp(x, axis=0)
        free = width > 0.0
        distance = np.sort((np.abs(x - self.best)[:, free] / width[free]).max(axis=1, initial=0.0))
        count, n = len(x), int(free.sum())
        return count < n + 2 or bool((2.0 * distance[n + 1]) ** n * _DENSE * count <= n + 1)

    @cached_property
    def sizes(self) -> Array:
        """What values are of the order of, (1 + m,): the distance of their quartiles.

        For a row that is steep it is the second smallest value, or 1: that it is missed by far more elsewhere brings no
        point near its limit.
        """
        table = self.values[self.whole]
        low, high = np.quantile(table, [0.25, 0.75], axis=0)
        sizes, rows = np.where(high > low, high - low, 1.0), np.maximum(np.abs(table), 1.0)
        steep = sizes > _STEEP * np.quantile(rows, _TENTH, axis=0)
        steep[0] = False
        return np.where(steep, np.sort(rows, axis=0)[:2][-1], sizes)

    def merit(self, values: Array) -> Array:
        """Return f and a price on violations, in units of ``sizes``, of values (k, 1 + m), (k,)."""
        values = values / self.sizes
        merit = values[:, 0] + _VIOLATION * np.maximum(values[:, 1:], 0.0).sum(axis=1)
        return np.where(np.isfinite(merit), merit, np.inf)

    @property
    def used(self) -> bool:
        """Whether models use the values: where a fresh call gave others, only if runs begin at the best point."""
        return self.trusted or len(self.own) > 0

    @property
    def corrected(self) -> Array:
        """The values, shifted where they are not trusted."""
        return self.values if self.trusted else self.values + np.where(np.isfinite(self.shift), self.shift, 0.0)

    @property
    def _at_best(self) -> Array:
        """The mean of the values at the best point, (1 + m,)."""
        mean: Array = self.values[(self.x == self.best).all(axis=1) & self.whole].mean(axis=0)
        return mean

    def compare(self, value: Array) -> None:
        """Take in the fresh value (1 + m,) at the best point."""
        self.shift = value - self._at_best  # NaN where the call failed, which no table foretells that has a value
        self.repeat = self.repeats(self.best, value)

    def repeats(self, x: Array | None, value: Array) -> bool:
        """Return whether x (n,) is the best point, and a fresh value (1 + m,) there that of the table to the bit."""
        known = x is not None and self.best is not None and np.array_equal(x, self.best)
        return known and np.array_equal(value, self._at_best)

    def judge(self, noise: Array | float = 0.0, units: Units | None = None) -> bool:
        """Return whether the values are trusted, with noise of these standard deviations (1 + m,), in these units."""
        size = 1.0 if units is None else np.append(units.f, units.h)
        usual = np.ptp(self.values[self.whole], axis=0)
        limit = _SAME * np.abs(self._at_best) + _ROUND_OFF * usual + _ERRORS * np.sqrt(2.0) * noise * size
        self.trusted = bool((np.abs(self.shift) <= limit).all())
        return self.trusted

    def seen(self, units: Units | None) -> Known | None:
        """Return what is known in these units; None where no row is whole, or none is used."""
        if self.best is None or not self.used:
            return None
        points, own, sizes = self.x, self.own, self.sizes
        value = Evaluation(self.corrected[:, 0], self.corrected[:, 1:])
        if units is not None:
            points, own, sizes = units.inverse(points), units.inverse(own), sizes / np.append(units.f, units.h)
            value = units.value(value)
        return Known(points, value.stacked, sizes, self.trusted, self.repeat, own)

    def snapshot(self) -> dict[str, Any]:
        """Return what a fresh call has shown, as checkpoints hold it."""
        return {"shift": self.shift.copy(), "trusted": self.trusted, "repeat": self.repeat, "own": self.own}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Take over a ``snapshot``."""
        self.shift, self.trusted, self.repeat = snapshot["shift"].copy(), snapshot["trusted"], snapshot["repeat"]
        self.own = snapshot["own"]

    @property
    def sentence(self) -> str:
        """The sentence on what became of them."""
        count = f"{len(self.x)} past point{'s' * (len(self.x) > 1)}"
        if self.best is None:
            return f"Of {count} none has all values: they only tell where calls fail."
        if self.trusted:
            return f"{count[0].upper()}{count[1:]} were known."
        return f"A fresh call at one of {count} gave other values: none of them counts as a value."
