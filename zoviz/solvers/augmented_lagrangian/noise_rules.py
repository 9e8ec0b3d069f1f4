"""Difference lengths and batch sizes from the noise of the values."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.augmented_lagrangian.constants import ALConstants


def difference_lengths(x: Array, noise: Array, c: ALConstants) -> Array:
    """Return the first difference lengths (n,) at x (n,): (3 sigma)^(1/3) max(1, |x_i|), sigma the largest noise.

    The cube root balances round-off and the third derivative of a central difference where both are of order 1.
    """
    share = (3.0 * float(noise.max())) ** (1.0 / 3.0)
    return min(max(share, c.shortest_difference), c.longest_difference) * np.maximum(1.0, np.abs(x))


def widened(radius: Array, bends: Array, noise: float, lower: Array, upper: Array, c: ALConstants) -> Array:
    """Return the difference lengths (n,) of the next sweep, from second differences of the augmented Lagrangian.

    Parameters
    ----------
    radius, bends : Array, shape (n,)
        Lengths and phi(x + r e_i) + phi(x - r e_i) - 2 phi(x).
    noise : float
        Standard deviation of phi.
    lower, upper : Array, shape (n,)
    c : ALConstants
    """
    curvature = np.maximum(np.abs(bends), noise) / np.square(np.maximum(radius, 1e-300))
    ideal = c.signal * np.sqrt(noise / np.maximum(curvature, 1e-300))
    room = np.where(np.isfinite(upper - lower), 0.25 * (upper - lower), np.inf)
    return np.minimum(np.minimum(np.maximum(ideal, radius / c.change), radius * c.change), np.maximum(room, 1e-300))


def larger_batch(
    batch: int, gradient: Array, length: Array, radius: Array, noise: float, left: float, c: ALConstants
) -> int:
    """Return the calls on each side of the next sweep: more where noise hides the gradient and the budget covers it.

    Parameters
    ----------
    batch : int
        Calls on each side of the last sweep.
    gradient, length, radius : Array, shape (n,)
        The gradient that the sweep gave, the variables' scales, and the lengths of the differences.
    noise : float
        Standard deviation of the augmented Lagrangian.
    left : float
        Calls that the budget still covers.
    c : ALConstants
    """
    variance = np.square(length * noise / np.maximum(radius, 1e-300)).sum() / (2.0 * batch)
    if variance <= c.share * np.square(gradient).sum():
        return batch
    more = int(np.ceil(c.growth * batch))
    return more if left > c.rounds * more * 2 * len(length) else batch
