"""States whose arrays have a replica axis first, put together from the rows of two."""

from __future__ import annotations

from typing import Any

import numpy as np


def choose_rows(mask: np.ndarray, new: Any, old: Any) -> Any:
    """Return the new state in the rows of the mask (R,), and the old one in the others; samples are the new one's.

    An array that was none in the old state, or had another shape there (a window that grew), has 0 in these rows.

    Parameters
    ----------
    mask : ndarray of bool, shape (R,)
    new, old : NamedTuple
        Of arrays with the replica axis first, and of such tuples; whatever else there is, is the new one's.
    """
    fields = []
    for after, before in zip(new, old, strict=True):
        if isinstance(after, np.ndarray):
            rows = mask.reshape(-1, *[1] * (after.ndim - 1))
            same = isinstance(before, np.ndarray) and before.shape == after.shape
            fields.append(np.where(rows, after, before if same else np.zeros((), dtype=after.dtype)))
        elif isinstance(after, tuple) and hasattr(after, "_fields"):
            fields.append(choose_rows(mask, after, before))
        else:
            fields.append(after)
    return type(new)(*fields)
