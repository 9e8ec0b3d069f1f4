"""The rows of constraints that are to hold for every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array

_CUT, _CUTS = 0.7, 12
"""A way is cut by the factor _CUT until its end is inside, at most _CUTS times."""


class KeptRows(NamedTuple):
    """The rows of h that are to hold for every call; none of them, where the tuple is made without any.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
    """

    rows: np.ndarray = np.zeros(0, dtype=int)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return len(self.rows) > 0

    def hold(self, h: Array) -> np.ndarray:
        """Return where they hold, by h (..., m)."""
        return np.asarray((h[..., self.rows] <= 0.0).all(axis=-1))

    def within(self, u: Array, limits: Callable[[Array], Array]) -> Array:
        """Return points u (q, n), each as far on the way from 0 as they hold by the limits (1 + m,) of the outputs."""
        if not self.any:
            return u
        points = u.copy()
        for point in points:
            for _ in range(_CUTS):
                if self.hold(limits(point)[1:]):
                    break
                point *= _CUT
            else:
                point *= 0.0
        return points


NONE_KEPT = KeptRows()
