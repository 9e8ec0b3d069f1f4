"""Points around a start that stay inside a box."""

from __future__ import annotations

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.oracle import Oracle


def moved_inside(oracle: Oracle, x0: Array, reach: float) -> Array:
    """The starts, moved so that ``reach`` around them lies in the box, where it is that wide."""
    domain = oracle.domain
    if not isinstance(domain, Box):
        return x0
    reach = np.minimum(reach, 0.5 * (domain.upper - domain.lower))
    return np.minimum(np.maximum(x0, domain.lower + reach), domain.upper - reach)


def kept_inside(oracle: Oracle, offset: Array, length: Array) -> tuple[Array, Array]:
    """Offsets (R, k, n) cut off where an interval of the box is shorter than twice that, and their lengths (R, k)."""
    domain = oracle.domain
    if not isinstance(domain, Box):
        return offset, length
    half = 0.5 * (domain.upper - domain.lower)
    cut = np.minimum(np.maximum(offset, -half), half)
    left = np.sqrt(np.square(cut).sum(axis=-1))
    shorter = (cut != offset).any(axis=-1) & (left > 0)
    return np.where(shorter[..., None], cut, offset), np.where(shorter, left, length)


def typical_width(oracle: Oracle, x: Array) -> float:
    """A typical length: the median finite width of the box, else the size of the start, at least 1."""
    domain = oracle.domain
    if isinstance(domain, Box):
        widths = (domain.upper - domain.lower)[np.isfinite(domain.upper - domain.lower)]
        if widths.size and np.median(widths) > 0:
            return float(np.median(widths))
    return float(max(1.0, np.abs(x).max()))
