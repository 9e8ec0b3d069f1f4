"""One call of the oracle for replicas that want different numbers of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle


class ReplicaBatch(NamedTuple):
    """The points of all replicas in one array, and their values.

    Attributes
    ----------
    x : Array, shape (R, q, n)
    mask : ndarray of bool, shape (R, q)
        Which of them were wanted: the first of each replica.
    value : Evaluation
        f (R, q) and h (R, q, m), NaN where not wanted.
    """

    x: Array
    mask: np.ndarray
    value: Evaluation


def evaluate_each(oracle: Oracle, points: Sequence[Array], filler: Array, width: int = 0) -> ReplicaBatch:
    """Evaluate as many points of each replica as it wants, by one call of the oracle.

    Parameters
    ----------
    oracle : Oracle
    points : sequence of Array, shape (k_r, n) each
        What each replica wants; k_r may be 0.
    filler : Array, shape (R, n)
        What stands in the places that a replica does not want; not evaluated.
    width : int
        Least number of places: where noise is drawn for a whole batch, a width that does not depend on what the other
        replicas want keeps a replica's noise its own.
    """
    counts = np.array([len(own) for own in points])
    mask = np.arange(max(width, counts.max())) < counts[:, None]
    x = np.repeat(filler[:, None], mask.shape[1], axis=1)
    x[mask] = np.concatenate(list(points))
    return ReplicaBatch(x, mask, oracle(x, mask))
