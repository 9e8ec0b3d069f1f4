"""The step between neighbouring values of outputs that are rounded: by a format, single precision or a converter."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array

MOST_DIGITS = 10
"""Significant digits up to which values count as rounded: a double that is not has sixteen."""
_EPSILON = float(np.finfo(float).eps)
_ROUND_OFF, _SAME = 8.0 * _EPSILON, 2.0 * _EPSILON
"""How far, relative to the largest number behind a value, it may lie from its lattice, as units were changed, and how
far apart two may lie that are the same."""
_FLAT_LEVELS = 1e3, 2.0**24
"""Steps in a value that is the same everywhere, at least and at most, if it is to count as rounded: -0.05 may be a
plain number, and one value alone fits a fine lattice by chance."""
_FEWEST_LEVELS = 10.0
"""Values of fewer steps are classes, such as 0 and 1, and not rounded numbers."""
_ALIKE = 16.0
"""Values smaller than the largest by more than this factor may have a finer step: significant digits."""
_MOST_VALUES = 32
_FEW, _MOST_PARTS = 6, 40
"""Distinct values that tell a lattice of any spacing, and how many steps their least difference may have."""
_COARSE = 1e4
"""How much coarser than round-off a lattice is at least, so that other values do not fit by chance."""
_CLEAR, _CHANCE = 0.02, 1e-9
"""Largest uncertainty of a multiple, in steps, and the probability at which other values would fit a lattice."""
_EXPONENTS = np.arange(-MOST_DIGITS, 1)
_BINARY_EXPONENTS = np.arange(-int(MOST_DIGITS / np.log10(2.0)), 1)
_PARTS_OF_TEN = np.array([1.0, 2.0, 2.5, 5.0])


def quantum(values: Array, size: Array | float = 0.0, scattered: bool = False) -> Array:
    """Return the step between neighbouring values of every output that is rounded; 0 for the others.

    Rounded values lie on a lattice far coarser than round-off: of multiples of a power of ten or of two, or, where
    ``scattered``, of any number. Significant digits and single precision have a step that grows with the values: that
    of the largest ones counts.

    Parameters
    ----------
    values : Array, shape (q, k)
        Values of k outputs at q points that themselves have all their digits: a polynomial's values at whole numbers
        are as short as those. Values that are not finite are passed over.
    size : Array, shape (k,), or float
        The largest number that values were computed with, where it is larger than they: by a change of units.
    scattered : bool
        Whether the points are no regular design: on equal steps along the coordinates, as differences take them,
        values of a linear function with whole coefficients lie on a lattice, too.

    Returns
    -------
    Array, shape (k,)
    """
    values = np.atleast_2d(np.asarray(values, dtype=float))
    sizes = np.broadcast_to(np.asarray(size, dtype=float), values.shape[1:])
    return np.array([_step(column, float(one), scattered) for column, one in zip(values.T, sizes, strict=True)])


def digits(values: Array, step: Array) -> np.ndarray:
    """Return about how many significant digits the largest values (q, k) have, (k,) of int; 0 where a step is 0.

    Parameters
    ----------
    values : Array, shape (q, k)
    step : Array, shape (k,)
        As ``quantum`` returns them.
    """
    largest = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=0, initial=0.0)
    levels = np.divide(largest, step, out=np.zeros_like(largest), where=step > 0.0)
    return np.where(step > 0.0, np.ceil(np.log10(np.maximum(levels, 1.0) + 1.0)), 0.0).astype(int)


def _step(column: Array, size: float, scattered: bool) -> float:
    """Return the step of one output's values (q,)."""
    distinct = np.unique(column[np.isfinite(column)])
    largest = float(np.abs(distinct).max(initial=0.0))
    if not largest > 0.0:
        return 0.0
    distinct = distinct[np.diff(distinct, prepend=-np.inf) > _SAME * max(largest, size)]
    distinct = distinct[np.abs(distinct) >= largest / _ALIKE]
    if len(distinct) > _MOST_VALUES:
        distinct = distinct[np.linspace(0, len(distinct) - 1, _MOST_VALUES).astype(int)]
    error = _ROUND_OFF * max(largest, size)
    step = _short_step(distinct, largest, error)
    if scattered and len(distinct) >= _FEW:
        step = max(step, _any_step(distinct, error))
    levels = largest / step if step else 0.0
    if len(distinct) == 1:
        return step if _FLAT_LEVELS[0] <= levels <= _FLAT_LEVELS[1] else 0.0
    return step if levels >= _FEWEST_LEVELS else 0.0


def _short_step(distinct: Array, largest: float, error: float) -> float:
    """Return the coarsest lattice of short numbers, decimal or binary, that all values (q,) lie on; 0 for none."""
    parts = _PARTS_OF_TEN if len(distinct) >= _FEW else _PARTS_OF_TEN[:1]
    decimal = 10.0 ** (np.floor(np.log10(largest)) + _EXPONENTS)[:, None] * parts
    steps = np.concatenate([decimal.ravel(), 2.0 ** (np.floor(np.log2(largest)) + _BINARY_EXPONENTS)])
    closest = float(np.diff(distinct).min(initial=largest))
    steps = steps[(steps >= _COARSE * error) & (steps <= closest * (1.0 + 1e-3))]
    multiples = distinct / steps[:, None]
    fits = (np.abs(multiples - np.round(multiples)) * steps[:, None] <= error).all(axis=1)
    return float(steps[fits].max(initial=0.0))


def _any_step(distinct: Array, error: float) -> float:
    """Return the coarsest lattice, of any spacing and offset, that some values (q,) lie on; 0 for none.

    Differences from the smallest on tell the spacing ever more exactly, each as a multiple of what those before told.
    """
    gaps = np.diff(distinct)
    place = int(np.argmin(gaps))
    lengths = np.sort(np.abs(np.delete(distinct, place) - distinct[place]))
    parts = np.arange(1.0, _MOST_PARTS + 1.0)
    steps, doubt, chance = lengths[0] / parts, 2.0 * error / parts, np.ones(_MOST_PARTS)
    for length in lengths[1:]:
        multiple = np.round(length / steps)
        off, allowed = np.abs(length - multiple * steps), 2.0 * error + multiple * doubt
        passes = (off <= allowed) & (allowed <= _CLEAR * steps) & (chance < np.inf)
        if not passes.any():
            return 0.0
        chance = np.where(passes, chance * 2.0 * allowed / steps, np.inf)
        better = passes & (2.0 * error / np.maximum(multiple, 1.0) < doubt)
        steps = np.where(better, length / np.maximum(multiple, 1.0), steps)
        doubt = np.where(better, 2.0 * error / np.maximum(multiple, 1.0), doubt)
    sure = chance * _MOST_PARTS <= _CHANCE
    return float(steps[sure].max(initial=0.0))
