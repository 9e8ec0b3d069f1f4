"""What a run's calls were for: their numbers by purpose, which add up to all calls of every replica."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array


class Purpose(StrEnum):
    """What a call is for, under names that stores hold."""

    START = "start"
    CONSTANTS = "measuring constants"
    SCALING = "scaling"
    NOISE = "noise"
    BASE = "base point"
    """One point of each replica, where nothing else is stated."""
    DIRECTIONS = "directions"
    """Several points of each replica, where nothing else is stated."""
    LINE_SEARCH = "line search"
    """Trial points of a step, along a line or in a trust region."""
    DESIGN = "design"
    """Points that a model is fitted to."""
    PROPOSAL = "proposal"
    """Points of which a model expects most."""
    VERIFICATION = "verification"
    """Comparing candidates for the answer."""
    POLISH = "polish"
    PEER = "peer's own"
    """Whatever another library asks for."""
    CERTIFICATE = "certificate"
    DIAGNOSTIC = "diagnostic"


class LedgerSums(NamedTuple):
    """Calls by purpose, those alone for which there were some.

    Attributes
    ----------
    calls : mapping of str to ndarray of int, shape (R,)
        They add up to all calls.
    failed : mapping of str to ndarray of int, shape (R,)
        Those of them that gave values that are not finite.
    """

    calls: Mapping[str, np.ndarray]
    failed: Mapping[str, np.ndarray]


class Ledger:
    """The book of an oracle's calls by purpose.

    Parameters
    ----------
    replicas : int
    """

    def __init__(self, replicas: int) -> None:
        self._shape = (replicas,)
        self._calls: dict[Purpose, np.ndarray] = {}
        self._failed: dict[Purpose, np.ndarray] = {}
        # Calls that all replicas made alike, beyond those of ``_calls``: a plain number grows ten times as fast as an
        # array of one.
        self._alike: dict[Purpose, int] = {}

    def pay(self, purposes: Purpose | tuple[Purpose, ...], counts: np.ndarray | int) -> None:
        """Count calls, (R,) or as many of each replica, for one purpose, or for one of every replica's own."""
        if type(counts) is int and purposes in self._alike:
            self._alike[purposes] += counts
            return
        self._calls = self._added(self._calls, purposes, counts)
        if len(self._calls) > len(self._alike):
            self._alike = {purpose: self._alike.get(purpose, 0) for purpose in self._calls}

    def fail(self, purposes: Purpose | tuple[Purpose, ...], counts: np.ndarray) -> None:
        """Count failed calls of every replica, (R,)."""
        self._failed = self._added(self._failed, purposes, counts)

    def _added(
        self, book: dict[Purpose, np.ndarray], purposes: Purpose | tuple[Purpose, ...], counts: np.ndarray | int
    ) -> dict[Purpose, np.ndarray]:
        """Return the book with more calls: the same one, or a new one where a purpose is new, as others may read it."""
        if isinstance(purposes, tuple):
            own = np.broadcast_to(counts, self._shape)
            for purpose in dict.fromkeys(purposes):
                book = self._added(book, purpose, own * np.array([one is purpose for one in purposes]))
        elif purposes in book:
            book[purposes] += counts
        elif np.any(counts):
            book = {**book, purposes: np.zeros(self._shape, dtype=np.int64) + counts}
        return book

    @property
    def sums(self) -> LedgerSums:
        """The numbers so far, as copies."""
        calls = {str(purpose): count + self._alike.get(purpose, 0) for purpose, count in self._calls.items()}
        return LedgerSums(calls, {str(purpose): count.copy() for purpose, count in self._failed.items()})

    def row(self, prefix: str) -> dict[str, Array]:
        """Return the calls by purpose, (R,) each, under names that begin with a prefix."""
        return {prefix + purpose: count + self._alike.get(purpose, 0) for purpose, count in self._calls.items()}

    def snapshot(self) -> dict[str, Any]:
        """Return the numbers under names that stores hold."""
        sums = self.sums
        return {"calls": dict(sums.calls), "failed": dict(sums.failed)}

    def restore(self, books: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self._calls = {Purpose(name): count.copy() for name, count in books["calls"].items()}
        self._alike = dict.fromkeys(self._calls, 0)
        self._failed = {Purpose(name): count.copy() for name, count in books["failed"].items()}
