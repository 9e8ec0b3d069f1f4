"""Rules of methods that begin anew while budget is left: how long a run may be, and where the next one begins."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array

NEAR, FAR = (-2.5, 0.3), (-1.5, 1.0)
"""Decimal exponents, in units of the variables, between which the distance of a start from the best point, or from the
first start, is drawn (chosen by us)."""
_RUN, _SHORT_RUN = 300, 3000
"""Calls of a run: _RUN (n + 1), and at least _SHORT_RUN."""
_WIDE = 1e3
"""An interval of more than this many units is not sampled uniformly."""
_LEAST_WIDTH = 1e-12
"""A guard against units of length 0."""


def longest_run(n: int) -> int:
    """Return the calls after which a run in n variables is ended, and another begins."""
    return max(_RUN * (n + 1), _SHORT_RUN)


def unit_lengths(lower: Array, upper: Array, start: Array) -> Array:
    """Return lengths (n,) that stand for the unknown scales of variables: s_i = min(width / 2, max(1, |x0_i|))."""
    width, size = _width(lower, upper), np.maximum(1.0, np.abs(start))
    return np.where(np.isfinite(width), np.minimum(np.maximum(width, _LEAST_WIDTH) / 2.0, size), size)


def in_box(lower: Array, upper: Array, unit: Array, share: Array, otherwise: Array) -> Array:
    """Return the point (n,) at shares in [0, 1] of the box's intervals; ``otherwise`` (n,) where one is too wide."""
    width = _width(lower, upper)
    narrow = np.isfinite(width) & (width < _WIDE * unit)
    return np.where(narrow, lower + np.where(narrow, width, 0.0) * share, otherwise)


def moved(lower: Array, upper: Array, x: Array, step: Array) -> Array:
    """Return x + step, (n,) each, in the box; a step towards the only bound of a variable never reaches it.

    Such a variable is often a scale, whose good values may lie orders of magnitude nearer to the bound: what a step
    away from it would multiply the distance by, the same step towards it divides the distance by.
    """
    below, above = np.isfinite(lower) & np.isinf(upper), np.isinf(lower) & np.isfinite(upper)
    distance = np.where(below, x - lower, np.where(above, upper - x, 0.0))
    towards = np.where(below, -step, np.where(above, step, 0.0))
    scaled = (towards > 0.0) & (distance > 0.0)
    nearer = np.where(scaled, np.square(distance) / np.where(scaled, distance + towards, 1.0), 0.0)
    place = np.where(scaled, np.where(below, lower + nearer, upper - nearer), x + step)
    return np.minimum(np.maximum(place, lower), upper)


def _width(lower: Array, upper: Array) -> Array:
    with np.errstate(over="ignore"):
        return upper - lower
