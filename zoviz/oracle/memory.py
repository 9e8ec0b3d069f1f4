"""A memory of joint values: what is known of a point need not be paid for again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from zoviz.core.types import Array, Evaluation

_NUMBERS = 2**17
"""Numbers that a memory holds in all, a megabyte: checkpoints have it too."""
_FEWEST = 16
"""Points that it holds of each replica at least."""


class Memory:
    """The values at each replica's last points, by the bytes of these points in the user's units.

    Replicas do not share it: what one of them pays does not depend on the others. The points that were asked for
    longest ago are dropped first.

    Parameters
    ----------
    replicas, n, m : int
    lasting : bool
        Whether a value may be given any number of times; otherwise once, as the one that was paid for.

    Attributes
    ----------
    filled : bool
        Whether there is any value.
    """

    def __init__(self, replicas: int, n: int, m: int, lasting: bool) -> None:
        self.filled = False
        self._most = max(_FEWEST, _NUMBERS // (replicas * (n + m + 1)))
        self._shape, self.lasting = (n, 1 + m), lasting
        self._values: list[OrderedDict[bytes, Array]] = [OrderedDict() for _ in range(replicas)]

    def enter(self, place: Array, value: Evaluation, mask: np.ndarray) -> None:
        """Take in the values at the points (R, q, n) of a mask (R, q)."""
        stacked = value.stacked
        for r, j in zip(*np.nonzero(mask), strict=True):
            own = self._values[r]
            own[place[r, j].tobytes()] = stacked[r, j]
            if len(own) > self._most:
                own.popitem(last=False)
        self.filled = any(self._values)

    def know(self, places: Array, values: Array) -> None:
        """Take in values (k, 1 + m) at points (k, n) for every replica."""
        for own in self._values:
            own.update(
                (x.tobytes(), value) for x, value in zip(places[-self._most :], values[-self._most :], strict=True)
            )
        self.filled = any(self._values)

    def recall(self, place: Array, mask: np.ndarray) -> tuple[np.ndarray, Array]:
        """Return which points (R, q, n) of a mask are known, (R, q), and their values (R, q, 1 + m), else NaN."""
        known, values = np.zeros(mask.shape, dtype=bool), np.full((*mask.shape, self._shape[1]), np.nan)
        for r, j in zip(*np.nonzero(mask), strict=True):
            own, key = self._values[r], place[r, j].tobytes()
            if key in own:
                known[r, j], values[r, j] = True, own[key]
                if self.lasting:
                    own.move_to_end(key)
                else:
                    del own[key]
        self.filled = any(self._values)
        return known, values

    def clear(self) -> None:
        """Forget all stored values."""
        for own in self._values:
            own.clear()
        self.filled = False

    def snapshot(self) -> list[dict[str, Array]]:
        """Return points (k, n) and values (k, 1 + m) of each replica, those asked for longest ago first."""
        n, width = self._shape
        return [
            {
                "x": np.frombuffer(b"".join(own), dtype=float).reshape(-1, n),
                "values": np.array(list(own.values()), dtype=float).reshape(-1, width),
            }
            for own in self._values
        ]

    def restore(self, snapshot: list[Mapping[str, Any]]) -> None:
        """Replace the stored values by those of a snapshot."""
        for own, stored in zip(self._values, snapshot, strict=True):
            own.clear()
            own.update((x.tobytes(), value) for x, value in zip(stored["x"], stored["values"], strict=True))
        self.filled = any(self._values)
