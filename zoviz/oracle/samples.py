"""Counts of the samples that a run has seen: of xi, and of zeta."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from zoviz.core.errors import BudgetSpent

COUNTED = {"calls": "oracle calls", "samples": "samples", "zeta_samples": "samples of zeta"}
"""What an oracle counts for each replica and may have a budget of, in the words of sentences."""

UNLIMITED: Mapping[str, Any] = MappingProxyType({})
"""No budgets."""

XI, ZETA = 0, 1
"""Parts of a sample: xi of the objective, and zeta, of which there may be several copies, each a part of its own."""

COPIES = 3
"""Independent copies of zeta in one sample, as Algorithm 2 of paper salm needs them."""

Counts = tuple[np.ndarray, np.ndarray]
"""New samples of xi and of zeta, (R,) each."""


class SampleCounts:
    """The samples that each replica has seen so far, which is what theorems on stochastic problems count.

    A mini-batch of B counts B when something is first asked of it, at however many points and however often; one that
    nothing is asked of does not count. The copies of zeta count one by one. Where each point draws a sample of its own
    (contract "independent"), each counts.

    Parameters
    ----------
    replicas : int
    budgets : mapping
        Budgets per replica by name, of which "samples" and "zeta_samples" count here; None is unlimited.

    Attributes
    ----------
    xi : ndarray of int, shape (R,)
        Samples of the objective's xi; of a bilevel problem, of the leader's f.
    zeta : ndarray of int, shape (R,)
        Samples of zeta: of rows A, b that are only sampled; of a bilevel problem, of the follower's g.
    """

    def __init__(self, replicas: int, budgets: Mapping[str, Any] = UNLIMITED) -> None:
        self.xi, self.zeta = np.zeros(replicas, dtype=np.int64), np.zeros(replicas, dtype=np.int64)
        self._limits = {COUNTED[name]: budgets.get(name) for name in ("samples", "zeta_samples")}
        self._seen = np.zeros((1 + COPIES, replicas), dtype=bool)
        self._sizes = (1, 1)

    def begin(self, size: int | tuple[int, ...]) -> None:
        """Begin a new sample, of mini-batches of this size: that of xi and that of zeta where there are two."""
        sizes = size if isinstance(size, tuple) else (size,)
        self._sizes = int(sizes[0]), int(sizes[-1])
        self._seen = np.zeros_like(self._seen)

    def bill(self, parts: tuple[int, ...], points: np.ndarray | int, own: bool) -> Counts | None:
        """Return what a number of points, (R,) or one for all, would add, None for nothing; nothing is counted yet.

        Parameters
        ----------
        parts : tuple of int
            Parts of the sample that are asked: ``XI``, ``ZETA`` + copy.
        points : ndarray of int, shape (R,), or int
        own : bool
            Whether each point has a sample of its own.

        Raises
        ------
        BudgetSpent
            Where the samples of xi or of zeta would exceed their budget.
        """
        if not own and all(self._seen[part].all() for part in parts):  # most requests: a round is asked many times
            return None
        new = np.zeros((2, len(self.xi)), dtype=np.int64)
        for part in parts:
            fresh = points if own else (np.asarray(points) > 0) & ~self._seen[part]
            new[min(part, ZETA)] += np.asarray(fresh, dtype=np.int64) * self._sizes[min(part, ZETA)]
        for (name, limit), count, more in zip(self._limits.items(), (self.xi, self.zeta), new, strict=True):
            if limit is not None and (count + more).max(initial=0) > limit:
                raise BudgetSpent(f"The budget of {limit} {name} is spent.")
        return new[XI], new[ZETA]

    def pay(self, parts: tuple[int, ...], points: np.ndarray | int, own: bool, new: Counts | None) -> None:
        """Count what ``bill`` returned for the same parts and points."""
        if new is None:
            return
        self.xi, self.zeta = self.xi + new[XI], self.zeta + new[ZETA]
        if not own:
            flags = self._seen.copy()
            flags[list(parts)] |= np.asarray(points) > 0
            self._seen = flags

    def snapshot(self) -> dict[str, Any]:
        """Return counts, what was seen of the present sample, and its sizes, under names that stores hold."""
        return {"xi": self.xi, "zeta": self.zeta, "seen": self._seen, "sizes": self._sizes}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self.xi, self.zeta, self._seen = snapshot["xi"], snapshot["zeta"], snapshot["seen"]
        first, last = snapshot["sizes"]
        self._sizes = int(first), int(last)
