"""A watch for noise that was not declared: it calls the best points of a run again, now and then and at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.oracle import Oracle

LEAST_BUDGET = 30
"""Below this budget of calls no point is called again, and values are taken to be deterministic."""
LEAST_SWEEPS = 3
"""Sweeps of n + 1 calls that must be left for a solver to begin again."""
_EVERY, _FACTOR = 40, 1.25
"""Calls for each check at least, and by how much the calls grow from one check to the next.

A run that goes on with a larger budget has made the same checks so far.
"""
_MORE = 4
"""Further calls where values differ: if these agree with one of the two, the other is an outlier."""
_OUTLIERS, _CALLS_FOR_EACH = 2, 50
"""Values taken for outliers, at most: _OUTLIERS, or one in _CALLS_FOR_EACH calls."""
_ROUND_OFF = 1e-12
"""Difference, relative to the values, that is no noise: sums in another order."""


class Findings(NamedTuple):
    """The findings of a check for noise in every replica, (R,) each.

    Attributes
    ----------
    noisy : ndarray of bool
        Values differ where the point is called again.
    rows_differ : ndarray of bool
        Some constraint's do.
    lucky : ndarray of bool
        The value that made the point the best one was an outlier.
    """

    noisy: np.ndarray
    rows_differ: np.ndarray
    lucky: np.ndarray


class NoiseWatch:
    """A watch over the values of one run: whether they differ where its best points are called again.

    The best point of noisy values is partly the luckiest, so that nowhere do they differ as surely; and noise may begin
    far from the start. Every replica's best point, or before there is a feasible one its iterate, is called again when
    the calls have grown by a quarter since the last check, for at most a fortieth of them, and at the end. Where values
    differ, four further calls tell noise from an outlier, which alone is none.

    Parameters
    ----------
    on : bool
        Whether the noise was not declared, and the budget is worth it.
    n : int
        Number of variables.
    limit : int, optional
        Budget of calls per replica.
    replicas : int

    Attributes
    ----------
    found : bool
        Whether values are noisy, so that there is nothing to watch any more.
    unsure : ndarray of bool, shape (R,)
        Replicas whose constraints differed when no call was left to tell whether they hold.
    kept : int
        Calls of each replica that the solver does not get once values are found to be noisy: for who judges the answer.
    outliers : int
        Checks that met one so far.
    confirmed_x, confirmed : Array, shapes (R, n) and (R, 1 + m)
        The last best points that repeated, in the user's units, and their values; NaN before one.
    """

    def __init__(self, on: bool, n: int, limit: int | None, replicas: int) -> None:
        self.on = on and (limit is None or limit >= LEAST_BUDGET)
        self.found, self.kept, self.unsure = False, 0, np.zeros(replicas, dtype=bool)
        self._next, self._checks = float(max(_EVERY, 2 * (n + 1))), 0
        self.outliers = self._calls_when_found = 0
        self.confirmed_x, self.confirmed = np.full((replicas, n), np.nan), np.empty((replicas, 0))

    @property
    def watching(self) -> bool:
        """Whether checks are still to be made."""
        return self.on and not self.found

    @property
    def sentence(self) -> str:
        """What was found, as a sentence; empty where values repeated."""
        if self.found:
            return (
                f"Values are noisy, which was not declared: repeated calls at the best point differed, after "
                f"{self._calls_when_found} calls."
            )
        if self.outliers:
            return f"Values repeat except for outliers: {self.outliers} among repeated calls at the best points."
        return ""

    def is_due(self, oracle: Oracle) -> bool:
        """Return whether to check before the next step."""
        spent = oracle.account.spent
        return self.watching and spent >= self._next and self._checks < spent // _EVERY

    def check(self, oracle: Oracle, iterates: Array, kept: bool = True) -> Findings:
        """Call every active replica's best point again, and return what that found.

        Parameters
        ----------
        oracle : Oracle
        iterates : Array, shape (R, n)
            The points of replicas without a feasible one, in the user's units.
        kept : bool
            As for ``Oracle.again``.
        """

        def again(replicas: np.ndarray) -> Array:
            return oracle.again(places, replicas, kept).stacked

        known = np.isfinite(oracle.best.f)
        places = np.where(known[:, None], oracle.best.x, iterates)
        due = oracle.active & np.isfinite(places).all(axis=1)
        first = np.concatenate([oracle.best.f[:, None], oracle.best.h], axis=1)
        unknown = bool((due & ~known).any())
        if unknown:
            first = np.where(known[:, None], first, again(due & ~known))
        second = again(due)
        differs = due & np.isfinite(second).all(axis=1) & unlike(first, second).any(axis=1)  # a failure is no value
        noisy, lucky, rows = differs.copy(), np.zeros(len(due), dtype=bool), unlike(first, second)[:, 1:].any(axis=1)
        most = max(_OUTLIERS, oracle.account.spent // _CALLS_FOR_EACH)
        if differs.any() and self.outliers < most and oracle.affords(_MORE * differs).all():
            more = np.stack([again(differs) for _ in range(_MORE)])
            like_first, like_second = (~unlike(one, more).any(axis=(0, 2)) for one in (first, second))
            noisy = differs & ~(like_first | like_second)
            lucky = differs & like_second & known
        odd = bool((differs & ~noisy).any())
        self._checks += 1 + unknown
        self._take(oracle, places, first, due & known & ~noisy & ~lucky, odd, bool(noisy.any()))
        return Findings(noisy, noisy & rows, lucky)

    def _take(self, oracle: Oracle, places: Array, value: Array, sure: np.ndarray, odd: bool, noisy: bool) -> None:
        """Take in a check, last of all: one that is broken off is made again from its beginning."""
        before = self.confirmed if self.confirmed.shape[1] else np.full_like(value, np.nan)
        self.confirmed_x = np.where(sure[:, None], places, self.confirmed_x)
        self.confirmed = np.where(sure[:, None], value, before)
        self.outliers += odd
        self._next = _FACTOR * oracle.account.spent
        if noisy:
            self.found, self._calls_when_found = True, int(oracle.calls.max())

    def snapshot(self) -> dict[str, Any]:
        """Return all that the next check needs, under names that stores hold."""
        return {
            "on": self.on,
            "found": self.found,
            "unsure": self.unsure,
            "next": float(self._next),
            "checks": self._checks,
            "outliers": self.outliers,
            "calls_when_found": self._calls_when_found,
            "confirmed_x": self.confirmed_x,
            "confirmed": self.confirmed,
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self.on, self.found, self.unsure = snapshot["on"], snapshot["found"], snapshot["unsure"]
        self._next, self._checks, self.outliers = snapshot["next"], snapshot["checks"], snapshot["outliers"]
        self._calls_when_found = snapshot["calls_when_found"]
        self.confirmed_x, self.confirmed = snapshot["confirmed_x"], snapshot["confirmed"]


@np.errstate(invalid="ignore")
def unlike(one: Array, other: Array) -> np.ndarray:
    """Return where values (...) differ by more than round-off; NaN and infinity are like themselves alone."""
    near = np.abs(one - other) <= _ROUND_OFF * np.maximum(np.abs(one), np.abs(other))
    out: np.ndarray = ~(near | (one == other) | (np.isnan(one) & np.isnan(other)))
    return out
