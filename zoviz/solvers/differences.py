"""Steps of differences without noise, and the outputs whose values are rounded too coarsely for these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.types import Array

FORWARD, CENTRAL = 1.1**0.5 * 1e-7, 1e-5
"""Steps relative to max(|x_i|, s_i): about the square and the cube root of round-off, a little above. The first is no
short number: where x is one, values would have few digits, as if they were rounded."""
_FEWEST, _MANY = 3, 6
"""Values of a row that must differ, and points that are needed for a lattice of any spacing."""
_VISIBLE = 1000.0
"""Quanta by which a rounded output must change over a step for its quotient to be good in flat places, too."""


def _different(values: Array) -> np.ndarray:
    """Return how many values of every output differ, (1 + m,) of int, of values (q, 1 + m)."""
    return np.array([len(np.unique(column[np.isfinite(column)])) for column in values.T])


def rounding(seen: Array, values: Array, quantum: Callable[[Array, bool], Array]) -> Array:
    """Return the steps of outputs that are rounded, (1 + m,); 0 for the others.

    For an objective that is the same everywhere its digits suffice. A row may well be constant where it does not
    matter: three of its values must differ.

    Parameters
    ----------
    seen : Array, shape (k, 1 + m)
        Values at the last points, the present one last.
    values : Array, shape (q, 1 + m)
        At differences around it.
    quantum : callable
        As ``Oracle.quantum``.
    """
    local, change = np.concatenate([seen, values]), np.abs(values - seen[-1])
    enough = _different(local) >= np.append(1, np.full(values.shape[1] - 1, _FEWEST))
    steps = np.where(enough, quantum(local, False), 0.0)
    if len(seen) < _MANY:
        return steps
    wide, least = quantum(seen, True), np.where(change > 0.0, change, np.inf).min(axis=0)
    return np.maximum(steps, np.where(enough & (least > 0.5 * wide), wide, 0.0))


@np.errstate(all="ignore")
def hidden(base: Array, values: Array, quantum: Array) -> np.ndarray:
    """Return the outputs (1 + m,) that are too coarsely rounded for their differences to tell slopes.

    Parameters
    ----------
    base : Array, shape (1 + m,)
        The present values.
    values : Array, shape (q, 1 + m)
        At differences around it.
    quantum : Array, shape (1 + m,)
        Their steps; 0 for an output that is not rounded.
    """
    change = np.abs(values - base)
    return np.asarray(np.where(np.isfinite(change), change, 0.0).max(axis=0, initial=0.0) < _VISIBLE * quantum)
