r"""Slopes of all functions at a point by finite differences, with their standard errors.

Four points beside x along every coordinate, at a spacing s: on both sides, where X leaves room, with the weights that
are exact to degree 4; else on the side with more room, by the parabola that fits them and x best (under noise), or
exact to degree 4 (without). Their third difference gives M_3, and this the next spacing,

.. math:: s^* = \min_j (3 \sigma_j / M_{3,j})^{1/3},

at which rounding or noise sigma_j and the curvature's change are of one size in a plain central difference. A
coordinate gets closer points, by at most 16 times a round, until what two spacings disagree by is below the noise, or
beneath 1e-6 of the function's slope. That is the error of truncation; times the square of the spacings' ratio where
disagreements shrink, or the function is smooth by its fourth differences. Spacings are no round numbers, at which
values of few digits would be no sign of rounding.

References
----------
More and Wild (2012), Estimating derivatives of noisy simulations, for the spacing; Fornberg (1988) for the weights.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.core.units import coordinates
from zoviz.estimators.base import chunks
from zoviz.oracle import Oracle
from zoviz.oracle.quantum import quantum

ROUNDS = 4
"""Most spacings of a coordinate."""
CLOSER = 16.0
"""Most times that a spacing is shorter than the one before."""
SPACING, ROUGH_SPACING = 0.03 / np.pi, 0.3 / np.pi
"""First spacing as a share of a coordinate's width, of exact values and of noisy or rounded ones."""
ROOM = 3.0 / np.pi
"""Share of the room inside the box that points take at most."""
ACCURACY = 1e-6
"""Share of a function's slope that a disagreement without noise may have."""
ROUND_OFF = 4e-16
"""Noise of a value relative to its size that arithmetic alone makes: about two roundings."""
SHRINKS, SMALL = 0.25, 0.3
"""Disagreements shrink where one is at most so much of the one before, or, under noise, of the slope."""
SMOOTH, ROUNDINGS = 4.0, 16.0
"""They are those of a smooth function, too, where the fourth difference falls with the spacing's fourth power up to
this factor and these roundings: that of jumps, or of an iteration that ends early, stays."""
ALIKE = 16.0
"""Roundings by which values that repeat may differ: a vectorised sum of other points at once has another order."""
SAME = 1.5
"""A spacing that is shorter than the last by at most this factor is not worth another round."""
BASES = 4
"""Calls at the point itself for each repeat of the others, under independent noise."""
SWEEPS = 2
"""Sweeps over all points for each repeat where a sweep shares its noise: their spread alone tells the errors."""


class _Stencil(NamedTuple):
    """Places of four points in units of the spacing, and the weights of x and of these in three differences."""

    places: Array
    base: float
    weights: Array
    third_base: float
    third: Array
    fourth_base: float
    fourth: Array


_CENTRAL = _Stencil(
    np.array([-2.0, -1.0, 1.0, 2.0]),
    0.0,
    np.array([1.0, -8.0, 8.0, -1.0]) / 12.0,
    0.0,
    np.array([-1.0, 2.0, -2.0, 1.0]) / 2.0,
    6.0,
    np.array([1.0, -4.0, -4.0, 1.0]),
)
_AHEAD = np.array([1.0, 2.0, 3.0, 4.0])
_THIRD = np.array([18.0, -24.0, 14.0, -3.0]) / 2.0
_FOURTH = np.array([-4.0, 6.0, -4.0, 1.0])
_EXACT_SIDE = _Stencil(_AHEAD, -25.0 / 12.0, np.array([4.0, -3.0, 4.0 / 3.0, -0.25]), -2.5, _THIRD, 1.0, _FOURTH)
_SMOOTH_SIDE = _Stencil(_AHEAD, -54.0 / 70.0, np.array([13.0, 40.0, 27.0, -26.0]) / 70.0, -2.5, _THIRD, 1.0, _FOURTH)


class Kind(StrEnum):
    """The kind of values (exact, rounded, noisy), which decides on spacings and repeats."""

    EXACT = "exact"
    ROUNDED = "rounded"
    INDEPENDENT = "independent"
    COMMON = "common"


class Differences(NamedTuple):
    """Values and slopes of the functions at a point, f first, each with its standard error.

    Attributes
    ----------
    value, value_error : Array, shape (m + 1,)
    slope, slope_error : Array, shape (m + 1, n)
        NaN in coordinates that failed; 0 with an error of 0 in those that the bounds fix.
    base_weight : Array, shape (m + 1, n)
        What an error of ``value`` adds to a slope, which ``slope_error`` holds already.
    """

    value: Array
    value_error: Array
    slope: Array
    slope_error: Array
    base_weight: Array


def repeats_of(kind: Kind, repeats: int) -> int:
    """Return how often the points of the last round are evaluated."""
    return {Kind.INDEPENDENT: repeats, Kind.COMMON: SWEEPS * repeats}.get(kind, 1)


def _widths(box: Box, x: Array) -> Array:
    """Return the coordinates' widths (n,): those of the box, else the size of x, of its median at least."""
    width, ends = coordinates(box, x[None], 0).width, np.isfinite(box.upper - box.lower)
    return np.where(ends, width, np.maximum(width, np.median(width[~ends]))) if not ends.all() else width


def evaluated(oracle: Oracle, points: Array) -> Array:
    """Return f and h (k, m + 1) at points (k, n)."""
    sizes = list(chunks(len(points), points[:1].nbytes))
    values = [oracle(part[None]).stacked[0] for part in np.split(points, np.cumsum(sizes)[:-1])]
    return np.concatenate(values) if len(points) else np.empty((0, oracle.m + 1))


class Measurement:
    """Rounds of differences at one point, in coordinates of width about 1.

    Parameters
    ----------
    oracle : Oracle
    x : Array, shape (n,)
    kind : Kind
    repeats : int
        Times that the points of the last round are evaluated, under independent noise; half as many as under common.
    bases : Array, shape (b, m + 1), optional
        Values at x, where it has been evaluated already.
    rows : ndarray of bool, shape (m + 1,), optional
        Functions whose slopes are wanted, which choose the spacings; default: all.
    step : Array or float, shape (m + 1,)
        What values are rounded to.

    Attributes
    ----------
    bases : Array, shape (b, m + 1)
    seen : list of Array, shape (k, 4, m + 1)
        Values beside x along some coordinates, of every round.
    noise : Array, shape (m + 1,)
        Standard deviation of values that were evaluated again; 0 where all were the same.
    """

    def __init__(
        self,
        oracle: Oracle,
        x: Array,
        kind: Kind,
        repeats: int,
        bases: Array | None = None,
        rows: np.ndarray | None = None,
        step: Array | float = 0.0,
    ) -> None:
        self._oracle, self._x, self._kind = oracle, x, kind
        self._rough, self._independent = kind is not Kind.EXACT, kind is Kind.INDEPENDENT
        self._repeats = repeats_of(kind, repeats)
        self._rows = np.ones(oracle.m + 1, dtype=bool) if rows is None else rows
        self._step = np.broadcast_to(np.asarray(step, dtype=float), self._rows.shape)
        box = Box.of(oracle.domain)
        self._width = _widths(box, x)
        self._ahead, self._behind = (box.upper - x) / self._width, (x - box.lower) / self._width
        self._free = np.flatnonzero(self._ahead + self._behind > 0)
        count = BASES * self._repeats if self._independent else 1
        self.bases = evaluated(oracle, np.repeat(x[None], count, axis=0)) if bases is None else bases
        self.seen: list[Array] = []
        self.noise = np.zeros(self._rows.size)

    def differences(self) -> Differences:
        """Evaluate closer and closer points, repeat the last round, and put the errors together."""
        n, bases = self._x.size, self.bases
        self._base = bases.mean(axis=0)
        self._sigma = np.maximum(ROUND_OFF * np.abs(bases).max(axis=0), 0.5 * self._step)
        if self._independent and len(bases) > 1:
            self._sigma = np.maximum(self._sigma, bases.std(axis=0, ddof=1))
            differ = np.ptp(bases, axis=0) > ALIKE * ROUND_OFF * np.abs(bases).max(axis=0)
            self._rows = differ if differ.any() else self._rows
        if not np.isfinite(self._base).all():
            return self._nothing()
        free = self._free
        self._side, self._spacing = np.zeros(n), np.zeros(n)
        self._values = np.full((n, 4, bases.shape[1]), np.nan)
        self._truncation = np.zeros((bases.shape[1], n))
        self._doubt = np.full((bases.shape[1], n), np.nan)
        self._place(free, np.full(free.size, ROUGH_SPACING if self._rough else SPACING))
        self._evaluate(free)
        # A value that is small as the difference of large ones has their round-off; the terms of a sum show in slopes.
        terms = np.abs(np.nan_to_num(self._difference()[0])) @ np.abs(self._x / self._width)
        self._round_off = ROUND_OFF * (np.abs(self._base) + terms)
        self._sigma = np.maximum(self._sigma, self._round_off)
        for _ in range(ROUNDS - 1):
            free = self._closer(free)
            if not free.size:
                break
        return self._result(self._free)

    def repeats(self, count: int) -> bool:
        """Whether values at ``count`` points of the first round are the same when they are evaluated again."""
        points, values = self._first
        at = np.unique(np.linspace(0, len(points) - 1, min(count, len(points))).astype(int))
        once, again = values.reshape(len(points), -1)[at], evaluated(self._oracle, points[at])
        return np.allclose(once, again, rtol=0.0, atol=ALIKE * self._round_off, equal_nan=True)

    @property
    def step(self) -> Array:
        """What the largest values seen are rounded to, (m + 1,); 0 where values have all their digits."""
        seen = np.concatenate([self.bases, *(values.reshape(-1, self._rows.size) for values in self.seen)])
        found = np.maximum(quantum(seen), self._step)
        if (found > 0.0).any():  # significant digits: those of the largest decade alone tell its step
            sizes = np.where(np.isfinite(seen), np.abs(seen), 0.0)
            decade = _decade(sizes.max(axis=0))
            found = np.where(found > 0.0, np.maximum(found, quantum(np.where(sizes >= decade, seen, np.nan))), 0.0)
        return found

    def _nothing(self) -> Differences:
        """Return what is known at a point without a value: no more calls are spent there."""
        unknown = np.full((self._base.size, self._x.size), np.nan)
        return Differences(self._base, unknown[:, 0], unknown, unknown, unknown)

    def _place(self, at: np.ndarray, spacing: Array) -> None:
        """Choose sides and spacings, at most those given, with which four points lie inside the box."""
        ahead, behind = self._ahead[at], self._behind[at]
        both, one = ROOM * np.minimum(ahead, behind) / 2.0, ROOM * np.maximum(ahead, behind) / 4.0
        central = np.minimum(both, spacing) >= 0.3 * np.minimum(one, spacing)
        self._side[at] = np.where(central, 0.0, np.where(ahead >= behind, 1.0, -1.0))
        self._spacing[at] = np.minimum(spacing, np.where(central, both, one))

    def _evaluate(self, at: np.ndarray) -> None:
        """Evaluate the four points of some coordinates."""
        self._values[at] = evaluated(self._oracle, self._points(at)).reshape(at.size, 4, self._oracle.m + 1)
        self.seen.append(self._values[at])
        if len(self.seen) == 1:
            self._first = self._points(at), self._values[at]

    def _points(self, at: np.ndarray) -> Array:
        """Return the points (4 k, n) of k coordinates."""
        places = np.where(self._side[at, None] == 0.0, _CENTRAL.places, self._side[at, None] * _AHEAD)
        points = np.repeat(self._x[None], 4 * at.size, axis=0)
        steps = places * (self._spacing * self._width)[at, None]
        points[np.arange(4 * at.size), np.repeat(at, 4)] += steps.reshape(-1)
        return Box.of(self._oracle.domain).project(points)  # round-off never takes one out of it

    def _weights(self, third: bool = False) -> tuple[Array, Array]:
        """Return the weights of x (n,) and of the points (n, 4) in the slope, or in the third difference."""
        stencils = _CENTRAL, _SMOOTH_SIDE if self._kind in (Kind.INDEPENDENT, Kind.ROUNDED) else _EXACT_SIDE
        base = np.array([one.third_base if third else one.base for one in stencils])
        others = np.array([one.third if third else one.weights for one in stencils])
        chosen, sign = (self._side != 0.0).astype(int), np.where(self._side < 0.0, -1.0, 1.0)
        return sign * base[chosen], sign[:, None] * others[chosen]

    def _difference(self, third: bool = False) -> tuple[Array, Array]:
        """Return a difference (m + 1, n) in units of the widths, and its standard error of one set of values."""
        base, others = self._weights(third)
        spacing = np.where(self._spacing > 0, self._spacing, 1.0) ** (3 if third else 1)
        total = np.einsum("np,npj->jn", others, self._values) + base * self._base[:, None]
        spread = np.square(others).sum(axis=1) + np.square(base) * (1.0 / len(self.bases))
        return total / spacing, self._sigma[:, None] * np.sqrt(spread) / spacing

    def _fourth(self) -> Array:
        """Return the sizes of the fourth differences (m + 1, n)."""
        stencils, chosen = (_CENTRAL, _EXACT_SIDE), (self._side != 0.0).astype(int)
        base = np.array([one.fourth_base for one in stencils])[chosen]
        others = np.array([one.fourth for one in stencils])[chosen]
        return np.abs(np.einsum("np,npj->jn", others, self._values) + base * self._base[:, None])

    def _closer(self, at: np.ndarray) -> np.ndarray:
        """Evaluate closer points where it pays, and return the coordinates that may be worth yet another round."""
        slope, error = self._difference()
        third, third_error = self._difference(third=True)
        bend = np.abs(third) + 2.0 * third_error
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = np.where(bend > 0, np.cbrt(3.0 * self._sigma[:, None] / bend), np.inf)
        wanted = wanted[self._rows].min(axis=0, initial=np.inf)
        wanted = np.minimum(np.maximum(wanted, self._spacing / CLOSER), self._spacing)
        due = at[wanted[at] * SAME < self._spacing[at]]
        old_spacing, fourth = self._spacing.copy(), self._fourth()
        self._place(due, wanted[due])
        self._evaluate(due)
        new, new_error = self._difference()
        doubt = np.maximum(np.abs(new - slope) - 2.0 * np.hypot(error, new_error), 0.0)
        size = np.sqrt(np.square(np.nan_to_num(new)).mean(axis=1))
        share = np.where(old_spacing > 0, self._spacing / np.where(old_spacing > 0, old_spacing, 1.0), 1.0)
        shrinks = doubt <= SHRINKS * self._doubt
        if self._rough:
            shrinks |= doubt <= SMALL * size[:, None]
        else:
            shrinks |= self._fourth() <= SMOOTH * fourth * share**4 + ROUNDINGS * self._sigma[:, None]
        truncation = np.where(shrinks, doubt * np.square(share), doubt)
        self._truncation[:, due], self._doubt[:, due] = truncation[:, due], doubt[:, due]
        limit = np.maximum(new_error / np.sqrt(self._repeats), ACCURACY * size[:, None])
        return due[(truncation > limit)[self._rows][:, due].any(axis=0)]

    def _result(self, free: np.ndarray) -> Differences:
        """Repeat the last round, and return values and slopes in the user's coordinates."""
        step = self.step if self._kind is Kind.ROUNDED else self._step
        self._sigma = np.maximum(self._sigma, 0.5 * step)
        sets, bases = [self._values[free]], [self._base]
        for _ in range(self._repeats - 1):
            if not self._independent:
                self._oracle.resample()
                bases.append(evaluated(self._oracle, self._x[None])[0])
            sets.append(evaluated(self._oracle, self._points(free)).reshape(free.size, 4, self._oracle.m + 1))
        sweeps = []
        for values, base in zip(sets, bases if not self._independent else [self._base] * len(sets), strict=True):
            self._values[free], self._base = values, base
            sweeps.append(self._difference()[0])
        slope, base = np.mean(sweeps, axis=0), np.mean(bases, axis=0)
        weight, others = self._weights()
        spacing = np.where(self._spacing > 0, self._spacing, 1.0)
        if self._independent:
            value_error, error = self._pooled(np.array(sets), weight, others, spacing)
        else:
            inflated = np.sqrt(max(self._repeats - 1, 1) / max(self._repeats - 3, 1) / self._repeats)
            spread = np.std(sweeps, axis=0, ddof=1) if self._repeats > 1 else 0.0
            value_error = np.std(bases, axis=0, ddof=1) * inflated if self._repeats > 1 else self._sigma
            error = np.hypot(spread * inflated, self._difference()[1])
            weight = 0.0 * weight if self._repeats > 1 else weight  # the sweeps' spread holds what is common to them
        error = np.hypot(error, self._truncation)
        fixed = self._spacing == 0.0
        slope, error = np.where(fixed, 0.0, slope), np.where(fixed, 0.0, error)
        weights = np.where(fixed, 0.0, weight / spacing) / self._width
        if self._kind is Kind.ROUNDED:
            sizes = [np.fmax.reduce(np.abs(values), axis=(0, 1), initial=0.0) for values in self.seen]
            value_error = 0.5 * own_step(base, np.fmax.reduce(sizes), step)
        return Differences(
            base,
            np.maximum(value_error, self._round_off),
            slope / self._width,
            error / self._width,
            np.repeat(weights[None], base.size, axis=0),
        )

    def _pooled(self, sets: Array, weight: Array, others: Array, spacing: Array) -> tuple[Array, Array]:
        """Return standard errors of values and slopes from one noise of every function, of all that was repeated.

        Noise below a rounding's step does not average that out: half a step is an error of its own.
        """
        square = np.square(self.bases - self._base).sum(axis=0)
        freedom = max(len(self.bases) - 1, 0)
        alike = ALIKE * self._round_off
        differ = np.ptp(self.bases, axis=0) > alike
        if len(sets) > 1:
            good = np.isfinite(sets).all(axis=(0, 3))
            square = square + np.square(sets - sets.mean(axis=0))[:, good].sum(axis=(0, 1))
            freedom += (len(sets) - 1) * int(good.sum())
            differ |= (np.ptp(sets, axis=0)[good] > alike).any(axis=0)
        self.noise = np.where(differ, np.sqrt(square / max(freedom, 1)), 0.0)
        sigma, rest = np.maximum(self.noise, self._round_off), 0.5 * self.step
        rest = np.where(sigma < rest, rest, 0.0)
        value_error = np.hypot(sigma / np.sqrt(len(self.bases)), rest)
        spread = np.square(others).sum(axis=1) / len(sets) + np.square(weight) / len(self.bases)
        whole = np.square(others).sum(axis=1) + np.square(weight)
        error = np.sqrt(np.square(sigma)[:, None] * spread + np.square(rest)[:, None] * whole)
        return value_error, error / spacing


def _decade(size: Array) -> Array:
    """Return the power of ten at or below sizes; 0 for 0."""
    return np.where(size > 0.0, 10.0 ** np.floor(np.log10(np.where(size > 0.0, size, 1.0))), 0.0)


def own_step(value: Array, largest: Array, step: Array) -> Array:
    """Return what values (m + 1,) are rounded to, if the largest ones are to ``step``: less with significant digits.

    That is seen of a value that is no multiple of the step.
    """
    multiple = value / np.where(step > 0.0, step, 1.0)
    finer = np.minimum(step * _decade(np.abs(value)) / np.where(largest > 0.0, _decade(largest), 1.0), step)
    return np.where(np.abs(multiple - np.round(multiple)) > 1e-6, finer, step)
