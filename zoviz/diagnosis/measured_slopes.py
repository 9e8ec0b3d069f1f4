"""Slopes of all functions at a point, by the differences that suit their values: exact, rounded, noisy, or classes.

What values are is found out, not believed: those at the point and at some beside it are asked for again, and differing
ones are noise, declared or not; digits tell rounding; a function of a few values alone has no slope.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.diagnosis.differences import BASES, ROUNDS, Differences, Kind, Measurement, evaluated, repeats_of
from zoviz.oracle import Oracle

AGAIN = 5
"""Points beside x that are asked for twice: noise may be absent at x."""
CLASSES, CLASSES_OF_LINE = 3, 2
"""Values that a function takes at most, in all and along a coordinate, to have no slope: 0 and 1, or a clip's end."""


class Slopes(NamedTuple):
    """Values and slopes of the functions at a point, f first, each with its standard error, and what they are.

    Attributes
    ----------
    value, value_error : Array, shape (m + 1,)
    slope, slope_error, base_weight : Array, shape (m + 1, n)
        As of ``Differences``; 0 with an error of 0 where there is no slope.
    noise : Array, shape (m + 1,)
        Standard deviation of values that were asked for again; 0 where all were the same.
    step : Array, shape (m + 1,)
        What values are rounded to; 0 where they have all their digits.
    flat : ndarray of bool, shape (m + 1,)
        Functions that take a few values alone around x, and have no slope.
    jumps : ndarray of bool, shape (m + 1,)
        Those of them that take more than one value.
    largest : Array, shape (m + 1,)
        The largest value that was seen of a function.
    calls : int
    """

    value: Array
    value_error: Array
    slope: Array
    slope_error: Array
    base_weight: Array
    noise: Array
    step: Array
    flat: np.ndarray
    jumps: np.ndarray
    largest: Array
    calls: int

    @property
    def bounded(self) -> bool:
        """Whether errors are bounds (rounding, truncation) rather than standard deviations of noise."""
        return bool((~(self.noise > 0.0) | (self.step > 2.0 * self.noise)).any())

    def draws(self, random: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Return errors of values (count, m + 1) and slopes (count, m + 1, n), drawn from their normal law."""
        values = random.standard_normal((count, *self.value.shape)) * self.value_error
        own = np.square(self.slope_error) - np.square(self.base_weight * self.value_error[:, None])
        slopes = random.standard_normal((count, *self.slope.shape)) * np.sqrt(np.maximum(own, 0.0))
        return values, slopes + self.base_weight * values[..., None]


def cost(n: int, contract: str, repeats: int) -> tuple[int, int]:
    """Return the least and the largest number of calls that ``slopes`` takes in n coordinates that are not fixed.

    The largest is that of values which turn out to be noisy, or rounded, in part.
    """
    kind = _declared(contract)
    count, most = repeats_of(kind, repeats), 4 * n * ROUNDS
    if kind is Kind.COMMON:
        return count + 4 * n * count, count + 4 * n * (ROUNDS + count - 1)
    noisy = BASES * repeats + 4 * n * repeats
    if kind is Kind.INDEPENDENT:
        return noisy, noisy + 4 * n * (ROUNDS - 1) + most
    return 2 + 4 * n + min(AGAIN, 4 * n), 2 + most + AGAIN + max(most, noisy + 4 * n * (ROUNDS - 1))


def slopes(oracle: Oracle, x: Array, repeats: int = 4) -> Slopes:
    """Measure values and slopes at x by the calls of an oracle of one replica.

    Parameters
    ----------
    oracle : Oracle
        Of a problem in a box; what it is asked lies in the box.
    x : Array, shape (n,)
        In the box.
    repeats : int
        Times that the points of the last round are evaluated, under independent noise; half as many as under common.
    """
    return _Search(oracle, x, repeats).slopes()


def _declared(noise: str) -> Kind:
    return {"independent": Kind.INDEPENDENT, "common": Kind.COMMON}.get(noise, Kind.EXACT)


class _Search:
    """The measurements at one point."""

    def __init__(self, oracle: Oracle, x: Array, repeats: int) -> None:
        self._oracle, self._x, self._repeats = oracle, x, repeats
        self._before = int(oracle.calls[0])
        self._made: list[Measurement] = []

    def slopes(self) -> Slopes:
        """Return the slopes, of each function from the measurement that suits it."""
        kind = _declared(self._oracle.contract)
        if kind is Kind.COMMON:
            return self._together(self._measured(kind))
        exact = None if kind is Kind.INDEPENDENT else self._exact()
        if exact is not None:
            step = self._made[0].step
            rounded = (step > 0.0) & ~self._flat()
            if not rounded.any() or not np.isfinite(exact.value).all():
                return self._together(exact)
            rough = self._measured(Kind.ROUNDED, bases=self._made[0].bases, rows=rounded, step=step)
            return self._together(_chosen(rounded, rough, exact))
        rough = self._measured(Kind.INDEPENDENT)
        alike = ~((self._made[-1].noise > 0.0) | (self._made[-1].step > 0.0) | self._flat())
        if not alike.any() or not np.isfinite(rough.value).all():
            return self._together(rough)
        bases = self._made[-1].bases
        exact = self._measured(Kind.EXACT, bases=bases[:1], rows=alike)
        return self._together(_chosen(~alike, rough, exact))

    def _measured(
        self, kind: Kind, bases: Array | None = None, rows: np.ndarray | None = None, step: Array | float = 0.0
    ) -> Differences:
        self._made.append(Measurement(self._oracle, self._x, kind, self._repeats, bases, rows, step))
        return self._made[-1].differences()

    def _exact(self) -> Differences | None:
        """Measure as if values repeat; None as soon as one does not."""
        base, again = (evaluated(self._oracle, self._x[None]) for _ in range(2))
        if not np.array_equal(base, again, equal_nan=True):
            return None
        found = self._measured(Kind.EXACT, bases=base)
        if not np.isfinite(found.value).all() or self._made[0].repeats(AGAIN):
            return found
        self._made.clear()
        return None

    def _flat(self) -> np.ndarray:
        """Return which functions take a few values alone, (m + 1,) of bool."""
        base = self._made[0].bases[0]
        lines = [values for one in self._made for values in one.seen]
        count = np.zeros(base.size, dtype=int)
        for j in range(base.size):
            of_all = np.unique(np.concatenate([[base[j]], *(values[..., j].ravel() for values in lines)]))
            of_line = [np.unique([*line, base[j]]).size for values in lines for line in values[..., j]]
            count[j] = of_all.size if max(of_line, default=0) <= CLASSES_OF_LINE else CLASSES + 1
        return count <= CLASSES

    def _together(self, found: Differences) -> Slopes:
        """Return slopes with what was seen of the functions."""
        lines = [values.reshape(-1, found.value.size) for one in self._made for values in one.seen]
        seen = np.concatenate([*(one.bases for one in self._made), *lines])
        noise = np.max([one.noise for one in self._made], axis=0)
        step = np.max([one.step for one in self._made], axis=0)
        flat = self._flat() & bool(lines)
        blank = {
            name: np.where(flat[:, None] & np.isfinite(getattr(found, name)), 0.0, getattr(found, name))
            for name in ("slope", "slope_error", "base_weight")
        }
        found = found._replace(**blank)
        largest, least = np.fmax.reduce(seen, axis=0), np.fmin.reduce(seen, axis=0)
        calls = int(self._oracle.calls[0]) - self._before
        return Slopes(*found, noise, step, flat, flat & (largest > least), largest, calls)


def _chosen(rough: np.ndarray, of_rough: Differences, of_exact: Differences) -> Differences:
    """Return the rough functions' figures from one measurement, and those of the others from another."""
    pairs = zip(of_rough, of_exact, strict=True)
    return Differences(*(np.where(rough if a.ndim == 1 else rough[:, None], a, b) for a, b in pairs))
