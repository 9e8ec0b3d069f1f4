r"""Slopes of all functions at a point by finite differences, with their standard errors, from values inside X alone.

Four points beside x along every coordinate, at a spacing s: on both sides, where X leaves room, with the weights that
are exact to degree 4; else on the side with more room, by the parabola that fits them and x best (under noise), or
exact to degree 4 (without). Their third difference gives M_3, and this the next spacing,

.. math:: s^* = \min_j (3 \sigma_j / M_{3,j})^{1/3},

at which rounding or noise sigma_j and the curvature's change are of one size in a plain central difference. A
coordinate is looked at closer, by at most 16 times a look, until what two spacings disagree by, times the square of
their ratio, is below the noise, or beneath 1e-6 of the function's slope.

References
----------
More and Wild (2012), Estimating derivatives of noisy simulations, for the spacing; Fornberg (1988) for the weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.core.units import coordinates
from zoviz.estimators.base import chunks
from zoviz.oracle import Oracle

LOOKS = 4
"""Spacings at which a coordinate is looked at, at most."""
CLOSER = 16.0
"""Times that a look is closer than the one before, at most."""
SPACING, NOISY_SPACING = 0.01, 0.1
"""First spacing as a share of a coordinate's width, without and under noise."""
ACCURACY = 1e-6
"""Share of a function's slope that a disagreement without noise may have."""
ROUND_OFF = 4e-16
"""Noise of a value relative to its size that arithmetic alone makes: about two roundings."""
SAME = 1.5
"""A spacing that is at most so many times shorter than the last is not worth another look."""
BASES = 4
"""Calls at the point itself for each repeat of the others, under independent noise."""
SWEEPS = 2
"""Sweeps over all points for each repeat where a sweep shares its noise: their spread alone tells the errors."""


class _Stencil(NamedTuple):
    """Places of four points in units of the spacing, and the weights of x and of these in two differences."""

    places: Array
    base: float
    weights: Array
    third_base: float
    third: Array


_CENTRAL = _Stencil(
    np.array([-2.0, -1.0, 1.0, 2.0]),
    0.0,
    np.array([1.0, -8.0, 8.0, -1.0]) / 12.0,
    0.0,
    np.array([-1.0, 2.0, -2.0, 1.0]) / 2.0,
)
_AHEAD = np.array([1.0, 2.0, 3.0, 4.0])
_THIRD = np.array([18.0, -24.0, 14.0, -3.0]) / 2.0
_EXACT_SIDE = _Stencil(_AHEAD, -25.0 / 12.0, np.array([4.0, -3.0, 4.0 / 3.0, -0.25]), -2.5, _THIRD)
_SMOOTH_SIDE = _Stencil(_AHEAD, -54.0 / 70.0, np.array([13.0, 40.0, 27.0, -26.0]) / 70.0, -2.5, _THIRD)


class Slopes(NamedTuple):
    """Values and slopes of the functions at a point, f first, each with its standard error.

    Attributes
    ----------
    value, value_error : Array, shape (m + 1,)
    slope, slope_error : Array, shape (m + 1, n)
        NaN in coordinates that failed; 0 with an error of 0 in those that the bounds fix.
    base_weight : Array, shape (n,)
        What an error of ``value`` adds to every slope of a coordinate, which ``slope_error`` holds already.
    calls : int
    """

    value: Array
    value_error: Array
    slope: Array
    slope_error: Array
    base_weight: Array
    calls: int

    def draws(self, random: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Return errors of values (count, m + 1) and slopes (count, m + 1, n), drawn from their normal law."""
        values = random.standard_normal((count, *self.value.shape)) * self.value_error
        own = np.square(self.slope_error) - np.square(self.base_weight * self.value_error[:, None])
        slopes = random.standard_normal((count, *self.slope.shape)) * np.sqrt(np.maximum(own, 0.0))
        return values, slopes + self.base_weight * values[..., None]


def cost(n: int, contract: str, repeats: int) -> tuple[int, int]:
    """Return the least and the largest number of calls that ``slopes`` takes in n coordinates that are not fixed."""
    if contract == "deterministic":
        return 1 + 4 * n, 1 + 4 * n * LOOKS
    count = _repeats(contract, repeats)
    bases = BASES * count if contract == "independent" else count
    return bases + 4 * n * count, bases + 4 * n * (LOOKS + count - 1)


def slopes(oracle: Oracle, x: Array, repeats: int = 4) -> Slopes:
    """Measure values and slopes at x by the calls of an oracle of one replica.

    Parameters
    ----------
    oracle : Oracle
        Of a problem in a box; what it is asked lies in the box.
    x : Array, shape (n,)
        In the box.
    repeats : int
        Times that the points of the last look are asked for, under independent noise; half as many as under common.
    """
    return _Measurement(oracle, x, repeats).slopes()


def _repeats(contract: str, repeats: int) -> int:
    return {"deterministic": 1, "common": SWEEPS * repeats}.get(contract, repeats)


def _widths(box: Box, x: Array) -> Array:
    """Return the coordinates' widths (n,): those of the box, else the size of x, of its median at least."""
    width, ends = coordinates(box, x[None], 0).width, np.isfinite(box.upper - box.lower)
    return np.where(ends, width, np.maximum(width, np.median(width[~ends]))) if not ends.all() else width


class _Measurement:
    """The looks at one point, in coordinates of width about 1."""

    def __init__(self, oracle: Oracle, x: Array, repeats: int) -> None:
        self._oracle, self._x = oracle, x
        self._noisy = oracle.contract != "deterministic"
        self._independent = oracle.contract == "independent"
        self._repeats = _repeats(oracle.contract, repeats)
        box = Box.of(oracle.domain)
        self._width = _widths(box, x)
        self._ahead, self._behind = (box.upper - x) / self._width, (x - box.lower) / self._width
        self._before = int(oracle.calls[0])

    def slopes(self) -> Slopes:
        """Look closer and closer, repeat the last look, and put the errors together."""
        n = self._x.size
        bases = self._evaluate(np.repeat(self._x[None], BASES * self._repeats if self._independent else 1, axis=0))
        self._base, self._bases = bases.mean(axis=0), bases
        self._sigma = ROUND_OFF * np.abs(bases).max(axis=0)
        if self._independent and len(bases) > 1:
            self._sigma = np.maximum(self._sigma, bases.std(axis=0, ddof=1))
        if not np.isfinite(self._base).all():
            return self._nothing()
        free = np.flatnonzero(self._ahead + self._behind > 0)
        self._side, self._spacing = np.zeros(n), np.zeros(n)
        self._values = np.full((n, 4, bases.shape[1]), np.nan)
        self._truncation = np.zeros((bases.shape[1], n))
        self._place(free, np.full(free.size, NOISY_SPACING if self._noisy else SPACING))
        self._look(free)
        # A value that is small as the difference of large ones has their round-off; the terms of a sum show in slopes.
        terms = np.abs(np.nan_to_num(self._difference()[0])) @ np.abs(self._x / self._width)
        self._round_off = ROUND_OFF * (np.abs(self._base) + terms)
        self._sigma = np.maximum(self._sigma, self._round_off)
        for _ in range(LOOKS - 1):
            free = self._closer(free)
            if not free.size:
                break
        return self._result(np.flatnonzero(self._ahead + self._behind > 0))

    def _nothing(self) -> Slopes:
        """Return what is known at a point without a value: no more calls are spent there."""
        unknown = np.full((self._base.size, self._x.size), np.nan)
        calls = int(self._oracle.calls[0]) - self._before
        return Slopes(self._base, unknown[:, 0], unknown, unknown, unknown[0], calls)

    def _place(self, at: np.ndarray, spacing: Array) -> None:
        """Choose sides and spacings, at most those given, with which four points lie inside the box."""
        ahead, behind = self._ahead[at], self._behind[at]
        both, one = np.minimum(ahead, behind) / 2.0, np.maximum(ahead, behind) / 4.0
        central = np.minimum(both, spacing) >= 0.3 * np.minimum(one, spacing)
        self._side[at] = np.where(central, 0.0, np.where(ahead >= behind, 1.0, -1.0))
        self._spacing[at] = np.minimum(spacing, np.where(central, both, one))

    def _look(self, at: np.ndarray) -> None:
        """Ask for the four points of some coordinates."""
        self._values[at] = self._evaluate(self._points(at)).reshape(at.size, 4, self._oracle.m + 1)

    def _points(self, at: np.ndarray) -> Array:
        """Return the points (4 k, n) of k coordinates."""
        places = np.where(self._side[at, None] == 0.0, _CENTRAL.places, self._side[at, None] * _AHEAD)
        points = np.repeat(self._x[None], 4 * at.size, axis=0)
        steps = places * (self._spacing * self._width)[at, None]
        points[np.arange(4 * at.size), np.repeat(at, 4)] += steps.reshape(-1)
        return Box.of(self._oracle.domain).project(points)  # round-off never takes one out of it

    def _evaluate(self, points: Array) -> Array:
        """Return f and h (k, m + 1) at points (k, n)."""
        sizes = list(chunks(len(points), self._x.nbytes))
        values = [self._oracle(part[None]).stacked[0] for part in np.split(points, np.cumsum(sizes)[:-1])]
        return np.concatenate(values) if values else np.empty((0, self._oracle.m + 1))

    def _weights(self, third: bool = False) -> tuple[Array, Array]:
        """Return the weights of x (n,) and of the points (n, 4) in the slope, or in the third difference."""
        stencils = _CENTRAL, _SMOOTH_SIDE if self._independent else _EXACT_SIDE
        base = np.array([one.third_base if third else one.base for one in stencils])
        others = np.array([one.third if third else one.weights for one in stencils])
        chosen, sign = (self._side != 0.0).astype(int), np.where(self._side < 0.0, -1.0, 1.0)
        return sign * base[chosen], sign[:, None] * others[chosen]

    def _difference(self, third: bool = False) -> tuple[Array, Array]:
        """Return a difference (m + 1, n) in units of the widths, and its standard error of one set of values."""
        base, others = self._weights(third)
        spacing = np.where(self._spacing > 0, self._spacing, 1.0) ** (3 if third else 1)
        total = np.einsum("np,npj->jn", others, self._values) + base * self._base[:, None]
        spread = np.square(others).sum(axis=1) + np.square(base) * (1.0 / len(self._bases))
        return total / spacing, self._sigma[:, None] * np.sqrt(spread) / spacing

    def _closer(self, at: np.ndarray) -> np.ndarray:
        """Look closer where it pays, and return the coordinates that may pay for yet another look."""
        slope, error = self._difference()
        third, third_error = self._difference(third=True)
        bend = np.abs(third) + 2.0 * third_error
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = np.where(bend > 0, np.cbrt(3.0 * self._sigma[:, None] / bend), np.inf).min(axis=0)
        wanted = np.minimum(np.maximum(wanted, self._spacing / CLOSER), self._spacing)
        due = at[wanted[at] * SAME < self._spacing[at]]
        old_spacing = self._spacing.copy()
        self._place(due, wanted[due])
        self._look(due)
        new, new_error = self._difference()
        doubt = np.maximum(np.abs(new - slope) - 2.0 * np.hypot(error, new_error), 0.0)
        share = np.where(old_spacing > 0, self._spacing / np.where(old_spacing > 0, old_spacing, 1.0), 1.0)
        truncation = doubt * np.square(share)
        self._truncation[:, due] = truncation[:, due]
        size = np.sqrt(np.square(np.nan_to_num(new)).mean(axis=1))
        limit = np.maximum(new_error / np.sqrt(self._repeats), ACCURACY * size[:, None])
        return due[(truncation > limit)[:, due].any(axis=0)]

    def _result(self, free: np.ndarray) -> Slopes:
        """Repeat the last look, and return values and slopes in the user's coordinates."""
        sets, bases = [self._values[free]], [self._base]
        for _ in range(self._repeats - 1):
            if not self._independent:
                self._oracle.resample()
                bases.append(self._evaluate(self._x[None])[0])
            sets.append(self._evaluate(self._points(free)).reshape(free.size, 4, self._oracle.m + 1))
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
            weight = 0.0 * weight  # the spread of the sweeps holds what is common to them
        error = np.hypot(error, self._truncation)
        fixed = self._spacing == 0.0
        slope, error = np.where(fixed, 0.0, slope), np.where(fixed, 0.0, error)
        return Slopes(
            base,
            np.maximum(value_error, self._round_off),
            slope / self._width,
            error / self._width,
            np.where(fixed, 0.0, weight / spacing) / self._width,
            int(self._oracle.calls[0]) - self._before,
        )

    def _pooled(self, sets: Array, weight: Array, others: Array, spacing: Array) -> tuple[Array, Array]:
        """Return standard errors of values and slopes from one noise of every function, of all that was repeated."""
        square = np.square(self._bases - self._base).sum(axis=0)
        freedom = max(len(self._bases) - 1, 0)
        if len(sets) > 1:
            good = np.isfinite(sets).all(axis=(0, 3))
            square = square + np.square(sets - sets.mean(axis=0))[:, good].sum(axis=(0, 1))
            freedom += (len(sets) - 1) * int(good.sum())
        sigma = np.maximum(np.sqrt(square / max(freedom, 1)), self._round_off)
        value_error = sigma / np.sqrt(len(self._bases))
        spread = np.square(others).sum(axis=1) / len(sets) + np.square(weight) / len(self._bases)
        return value_error, sigma[:, None] * np.sqrt(spread) / spacing
