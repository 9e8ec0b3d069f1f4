"""Units in which every function and every variable has a slope of about 1 at one point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array

_ROUNDS = 5
"""Rounds of row and column scaling; Ruiz's converges linearly, by a factor of 2 in the logarithm a round."""
_SPAN = 1e8
"""Largest ratio of two variables' lengths: beyond it a slope is taken for round-off."""


class Scales(NamedTuple):
    """Lengths of the variables (n,) and sizes of the functions, f first, (m + 1,): x = length z, F = size F~."""

    length: Array
    size: Array


def equilibrate(slopes: Array) -> Scales:
    """Return scales by which the largest slope of every function, and along every variable, is about 1.

    Parameters
    ----------
    slopes : Array, shape (m + 1, n)
        Of f and h_1 to h_m at one point. A row or a column of zeros tells nothing: it counts as the median of the
        others.

    References
    ----------
    Ruiz (2001), A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034.
    """
    steepness = np.abs(np.where(np.isfinite(slopes), slopes, 0.0))
    length, size = np.ones(slopes.shape[1]), np.ones(slopes.shape[0])
    for _ in range(_ROUNDS):
        ratios = steepness * length / size[:, None]
        size *= np.sqrt(_positive(ratios.max(axis=1, initial=0.0)))
        length /= np.sqrt(_positive(ratios.max(axis=0, initial=0.0)))
    middle = np.exp(np.median(np.log(length)))
    length = np.minimum(np.maximum(length, middle / _SPAN), middle * _SPAN)
    size = _positive((steepness * length).max(axis=1, initial=0.0))
    return Scales(length, size)


def _positive(sizes: Array) -> Array:
    """Return positive sizes as they are and the median of them for those that are 0; 1 where all are 0."""
    positive = sizes[sizes > 0]
    return np.where(sizes > 0, sizes, np.median(positive) if positive.size else 1.0)
