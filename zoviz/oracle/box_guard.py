"""The guarantee that no call leaves the bounds."""

from __future__ import annotations

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box
from zoviz.core.types import Array


def kept_in(place: Array, due: np.ndarray, box: Box | None) -> Array:
    """Return places (R, ..., n) in the user's units, those that are ``due``, (R,) or (R, q), inside the box, if any.

    Raises
    ------
    ZovizError
        For one that more than round-off takes outside.
    """
    if box is None:
        return place
    outside = (place < box.lower) | (place > box.upper)
    if not outside.any():
        return place
    inside = box.project(place)
    far = outside & (np.abs(place - inside) > box.rounding)
    far &= due.reshape(due.shape + (1,) * (place.ndim - due.ndim))
    if far.any():
        *_, i = where = tuple(np.argwhere(far)[0])
        raise ZovizError(
            f"Expected points inside the bounds, got x[{i}] = {float(place[where])!r} outside "
            f"[{float(box.lower[i])!r}, {float(box.upper[i])!r}]: a method may leave them only where the problem "
            "says keeps_bounds=False."
        )
    return inside
