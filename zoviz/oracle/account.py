"""The account of a run: its budgets, what each replica has used of them, and for which purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoviz.core.errors import BudgetSpent
from zoviz.core.types import Array
from zoviz.oracle.ledger import Ledger, Purpose
from zoviz.oracle.samples import Counts, SampleCounts


@dataclass(slots=True)
class Bill:
    """What a request will cost, before it is paid.

    Attributes
    ----------
    counts : ndarray of int, shape (R,), or int
        Calls of each replica, or as many of each.
    spent : int
        Calls of the replica with the most, afterwards.
    parts : tuple of int
        Parts of the sample that are seen.
    own : bool
        Whether each point has a sample of its own.
    samples : tuple of ndarray, or None
        New samples of xi and of zeta; None where there are none to count.
    """

    counts: np.ndarray | int
    spent: int
    parts: tuple[int, ...]
    own: bool
    samples: Counts | None


class Account:
    """The calls and samples that each replica has used, their budgets, and what the calls were for.

    Parameters
    ----------
    replicas : int
    budgets : mapping
        Budgets per replica by the names of ``COUNTED``, None is unlimited; other names are left alone.

    Attributes
    ----------
    limit : int or None
        The budget of calls, without those kept back; None where there is none.
    spent : int
        The number of calls of a replica that was never frozen.
    kinds : dict of str to ndarray of int, shape (R,)
        Calls that gave something else than joint values, by kind ("gradient", ...).
    failures : ndarray of int, shape (R,)
        Points at which the black box returned a non-finite value.
    ledger : Ledger
        What the calls were for; its numbers add up to ``calls``.
    samples : SampleCounts
    purpose : Purpose, tuple of Purpose, or None
        What calls are for now; None where nothing is said.
    ceiling : int, ndarray of int, shape (R,), or None
        Most calls of each replica: the budget, in a stage the stage's limit.
    kept_back : int
        Calls of the budget that the solver does not get.
    """

    def __init__(self, replicas: int, budgets: Mapping[str, Any]) -> None:
        self.limit: int | None = budgets.get("calls")
        self.ceiling: int | Array | None = self.limit
        # Calls that each replica has made fewer than ``spent``: they stay what they are while all make as many.
        self.spent, self._behind = 0, np.zeros(replicas, dtype=np.int64)
        self.kinds: dict[str, np.ndarray] = {}
        self.failures, self.ledger = np.zeros(replicas, dtype=np.int64), Ledger(replicas)
        self.samples, self.kept_back = SampleCounts(replicas, budgets), 0
        self.purpose: Purpose | tuple[Purpose, ...] | None = None

    @property
    def calls(self) -> np.ndarray:
        """The calls of each replica so far, (R,) of int."""
        return self.spent - self._behind

    @property
    def counted(self) -> dict[str, np.ndarray]:
        """What each replica has used of what budgets limit, (R,) of int each, by the names of ``COUNTED``."""
        return {"calls": self.calls, "samples": self.samples.xi, "zeta_samples": self.samples.zeta}

    @property
    def remaining(self) -> Array:
        """The number of calls that each replica's budget still covers, (R,); infinite without a budget."""
        if self.ceiling is None:
            return np.full(len(self._behind), np.inf)
        return (self.ceiling - self.calls).astype(float)

    def affords(self, counts: np.ndarray) -> np.ndarray:
        """Whether each replica's budget covers ``counts`` (R,) more calls, (R,) of bool."""
        return np.ones(len(counts), dtype=bool) if self.ceiling is None else self.calls + counts <= self.ceiling

    def keep(self, calls: int) -> None:
        """Keep calls of the budget back from the solver; 0 gives it all of them."""
        if self.limit is not None:
            self.limit += self.kept_back - calls
            self.kept_back = calls
            self.ceiling = self.limit

    def end_by(self, calls: int) -> None:
        """Lower the budget of each replica to ``calls``; a lower one stays."""
        self.limit = self.ceiling = calls if self.limit is None else min(calls, self.limit)

    def begin_stage(self, limit: Array) -> None:
        """Let no replica go beyond a limit (R,) of calls, nor beyond the budget."""
        self.ceiling = limit if self.limit is None else np.minimum(limit, self.limit)

    def end_stage(self) -> None:
        """Give the replicas their whole budget again."""
        self.ceiling = self.limit

    def bill(self, counts: np.ndarray | int, parts: tuple[int, ...], own: bool, alike: int | None = None) -> Bill:
        """Return what calls and samples cost; nothing is counted yet.

        Parameters
        ----------
        counts : ndarray of int, shape (R,), or int
            Calls of each replica.
        parts : tuple of int
            Parts of the sample that are seen; empty where none is.
        own : bool
            Whether each point has a sample of its own.
        alike : int, optional
            Calls of every replica that is not frozen, where they are as many.

        Raises
        ------
        BudgetSpent
            Where calls or samples would exceed their budget.
        """
        spent = self.spent + alike if alike is not None else max(self.spent, int((self.calls + counts).max()))
        if self.limit is not None and spent > self.limit:
            raise self.exhausted()
        return Bill(counts, spent, parts, own, self.samples.bill(parts, counts, own) if parts else None)

    def pay(self, bill: Bill, purpose: Purpose) -> None:
        """Count what was billed, for a purpose unless another one is stated."""
        if not isinstance(bill.counts, int):
            self._behind = bill.spent - (self.calls + bill.counts)
        self.spent = bill.spent
        self.ledger.pay(self.purpose or purpose, bill.counts)
        if bill.parts:
            self.samples.pay(bill.parts, bill.counts, bill.own, bill.samples)

    def enter_kind(self, kind: str, counts: np.ndarray | int) -> None:
        """Count calls, (R,) or as many of each, which were paid, as such that gave something else than joint values."""
        before = self.kinds.get(kind)
        self.kinds = {**self.kinds, kind: (np.zeros_like(self._behind) if before is None else before) + counts}

    def fail(self, counts: np.ndarray, purpose: Purpose) -> None:
        """Count failed calls of every replica, (R,), for a purpose unless another one is stated."""
        self.failures += counts
        self.ledger.fail(self.purpose or purpose, counts)

    def exhausted(self) -> BudgetSpent:
        """Return the exception of a spent budget of calls."""
        limit = self.limit or 0
        rest = f" but for {limit - self.spent}, too few for what comes next" if limit > self.spent else ""
        return BudgetSpent(f"The budget of {limit + self.kept_back} oracle calls is spent{rest}.")

    @contextmanager
    def calls_for(self, purpose: Purpose | Sequence[Purpose]) -> Iterator[None]:
        """Say what the calls within are for: of all replicas, or of each of R; of two purposes the inner one counts."""
        outer, self.purpose = self.purpose, purpose if isinstance(purpose, Purpose) else tuple(purpose)
        try:
            yield
        finally:
            self.purpose = outer

    def snapshot(self) -> dict[str, Any]:
        """Return all numbers under names that stores hold; arrays are copies."""
        return {
            "calls": self.calls,
            "counts": {kind: count.copy() for kind, count in self.kinds.items()},
            "spent": self.spent,
            "failures": self.failures.copy(),
            "kept": self.kept_back,
            "samples": self.samples.snapshot(),
            "ledger": self.ledger.snapshot(),
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self.spent, self._behind = snapshot["spent"], snapshot["spent"] - snapshot["calls"]
        self.kinds = {kind: count.copy() for kind, count in snapshot["counts"].items()}
        self.failures = snapshot["failures"].copy()
        self.keep(snapshot["kept"])
        self.samples.restore(snapshot["samples"])
        self.ledger.restore(snapshot["ledger"])
