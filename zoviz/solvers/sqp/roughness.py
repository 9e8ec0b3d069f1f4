"""The roughness of functions that repeat to the bit: errors of tolerances and grids, which differences magnify."""

from __future__ import annotations

from math import factorial

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.situation import Space

CALLS = 6
"""Calls of a measurement, besides the value at its point."""
DISTANCE = 1e-5
"""Spacing of the line in unit lengths: smooth functions are polynomials on it to round-off, and few kinks cross it."""
LARGEST = 3e-9
"""Roughness over slope, per unit length, from which on difference quotients are wrong by some percent."""
_AGREEMENT = 4.0
"""Estimates from differences of successive orders agree within this factor, where they show noise (Moré and Wild)."""


def line(x: Array, space: Space, generator: np.random.Generator) -> Array:
    """Return ``CALLS`` points (q, n), equally spaced from x (n,) on, in a random direction into the box."""
    signs = np.where(generator.random(space.n) < 0.5, -1.0, 1.0)
    reach = CALLS * DISTANCE * space.scale
    signs = np.where(x + reach > space.upper, -1.0, np.where(x - reach < space.lower, 1.0, signs))
    direction = signs * generator.uniform(0.5, 1.0, space.n) * DISTANCE * space.scale
    return space.clip(x + np.arange(1, CALLS + 1)[:, None] * direction)


def dithered(points: Array, space: Space, generator: np.random.Generator) -> Array:
    """Return points (q, n) moved at random within ``DISTANCE``: calls at one point then see the roughness as noise."""
    return space.clip(points + DISTANCE * space.scale * generator.uniform(-1.0, 1.0, points.shape))


@np.errstate(all="ignore")
def noise_level(values: Array) -> Array:
    r"""Return the standard deviation of what is rough in functions along a line; 0 where nothing can be told.

    .. math:: \sigma_k^2 = \frac{(k!)^2}{(2k)!}\, \mathrm{mean}\, (\Delta^k f)^2

    The first of three successive orders k that agree, and whose differences change sign, gives the level: those of a
    smooth function still fall.

    Parameters
    ----------
    values : Array, shape (q, m)
        Values of m functions at q equally spaced points; a function that is not finite is not judged.

    Returns
    -------
    Array, shape (m,)

    References
    ----------
    Moré and Wild (2011), Estimating computational noise, SIAM Journal on Scientific Computing 33, 1292-1314.
    """
    orders = range(1, len(values))
    differences = [np.diff(values, order, axis=0) for order in orders]
    levels = np.array(
        [
            np.sqrt(factorial(k) ** 2 / factorial(2 * k) * np.square(change).mean(axis=0))
            for k, change in zip(orders, differences, strict=True)
        ]
    )
    swings = np.array([(change.min(axis=0) < 0.0) & (change.max(axis=0) > 0.0) for change in differences])
    level = np.zeros(values.shape[1])
    for k in reversed(range(len(levels) - 2)):
        three = levels[k : k + 3]
        agree = swings[k] & (three.max(axis=0) <= _AGREEMENT * three.min(axis=0))
        level = np.where(agree, levels[k], level)
    return np.where(np.isfinite(level), level, 0.0)
