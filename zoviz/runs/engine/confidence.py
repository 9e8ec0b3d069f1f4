"""The end of a run whose answer stands: further searches found nothing better, or noise hides what they would gain.

Under noise a run ends when every replica's method has come to its noise floor (``Searches.settling``): its budget is
then lowered to what the choice of the answer takes.

Without noise, a replica's answer is taken to stand when

- a local search has ended since f at the best feasible point last fell by more than ``accuracy`` (1 + |f|), and began
  after it: another search has come to nothing better; and
- the calls since then are a share kappa of those until then: kappa = 0.5 where all searches ended in the same minimum,
  3 where they ended in different ones.

kappa is chosen by us, on 48 problems of the CUTEst collection of 2 to 20 variables with budgets of 300 sweeps of n + 1
calls (ZOSQP, one start): of kappa = 0, 0.5, 1 and 2, calls spent over calls after which the answer stood were in the
median and at 90 % 1.8 and 3.6, 2.0 and 3.8, 2.7 and 4.6, 3.7 and 5.4; of 45 problems that all calls solve to 1e-3, the
rule left 3, 3, 3 and 1 unsolved. Boender and Rinnooy Kan (1987) ask the same question of uniformly drawn starts;
searches here begin where others ended, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.ranking import is_feasible
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Account, Oracle
from zoviz.solvers.base import Searches

BUDGET, CONFIDENT, FIRST = "budget", "confident", "first"
"""The values of ``stop_when``: until a budget is spent, until the answer stands, until the first search ends."""

_AGAIN, _SEVERAL = 0.5, 3.0
"""kappa where one minimum was met, and where several were."""
_SEEN = ("best", "since", "ended", "known", "minima", "elsewhere", "last_call")
"""What it has seen, of each replica, and where it ends a run under noise."""


class Confidence:
    """Whether the answer of each replica stands.

    Parameters
    ----------
    replicas : int
    stop_when : {"budget", "confident", "first"}
    accuracy : float
        The relative fall of f that counts.
    """

    def __init__(self, replicas: int, stop_when: str, accuracy: float) -> None:
        self._stop, self._accuracy = stop_when, accuracy
        self._best, self._since = np.full(replicas, np.inf), np.zeros(replicas)
        self._ended, self._known, self._minima = np.zeros(replicas), np.zeros(replicas), np.zeros(replicas)
        self._elsewhere = np.zeros(replicas)
        self._last_call: int | None = None

    @property
    def on(self) -> bool:
        """Whether the run may end by it."""
        return self._stop != BUDGET

    @property
    def solved(self) -> np.ndarray:
        """The replicas, (R,) of bool, in which the search that led to the best point has ended, at a minimum."""
        out: np.ndarray = np.isfinite(self._best) & (self._ended >= 0.0) & (self._minima > 0.0)
        return out

    @property
    def last_call(self) -> int | None:
        """The calls of a replica by which it ends a run that is at its noise floor; None before."""
        return self._last_call if self.on else None

    def settle(self, searches: Searches | None, account: Account, active: np.ndarray) -> None:
        """Lower the budget, once the method is at the noise floor in all active replicas, (R,) of bool."""
        if not self.on or searches is None or self._last_call is not None:
            return
        last = (account.calls + searches.settling)[active]
        if np.isfinite(last).all():
            self._last_call = int(last.max())
            account.end_by(self._last_call)

    @property
    def sentence(self) -> str:
        """The sentence on why the run ended."""
        if self.last_call is not None:
            hidden = "noise hides what further steps would gain."
            return f"The answer stands: {hidden}" if np.isfinite(self._best).all() else hidden.capitalize()
        if self._stop == FIRST:
            return "The first local search has ended."
        if self._elsewhere.all():
            return "The answer stands: further searches found nothing better."
        return (
            "The answer stands: a further search from it found nothing better. Other places were not searched: where a "
            "function has several minima, spend the whole budget."
        )

    def stands(self, searches: Searches | None, calls: np.ndarray, best: Array) -> np.ndarray:
        """Return which answers stand after a step, (R,) of bool.

        Parameters
        ----------
        searches : Searches or None
            Of the solver; None: it has none now, but another member of a portfolio may.
        calls : ndarray of int, shape (R,)
        best : Array, shape (R,)
            f at the best feasible point; infinite where there is none.
        """
        if searches is None:
            none = np.zeros(len(calls), dtype=int)
            searches = Searches(none, none, np.full(len(calls), np.inf), none)
        # A method of several members counts anew with each of them.
        further = np.where(searches.ended >= self._known, searches.ended - self._known, 1.0)
        self._known, self._minima = searches.ended.astype(float), searches.minima.astype(float)
        self._elsewhere = searches.elsewhere.astype(float)
        fell = self.is_lower(best, self._best)
        self._best, self._since = np.where(fell, best, self._best), np.where(fell, calls, self._since)
        # The search in which it fell does not count: -1 until that one has ended.
        self._ended = np.where(fell, np.where(further > 0, 0.0, -1.0), self._ended + further)
        if self._stop == FIRST:
            return self.solved
        least = np.where(self._minima > 1.0, 1.0 + _SEVERAL, 1.0 + _AGAIN) * self._since
        out: np.ndarray = self.solved & (self._ended >= 1.0) & (calls >= least)
        return out

    def holds(self, judged: np.ndarray, value: Evaluation, oracle: Oracle) -> bool:
        """Return whether what was judged of answers holds of all replicas that go on; without noise alone.

        Parameters
        ----------
        judged : ndarray of bool, shape (R,)
        value : Evaluation
            At the points that the searches report, in the solver's units. A better point may have been met before the
            method began, of which its searches know nothing.
        oracle : Oracle
        """
        if oracle.contract != "deterministic" or not (judged | ~oracle.active).all():
            return False
        f = value.f if oracle.units is None else oracle.units.user_value(value).f
        own = is_feasible(value.h, oracle.tolerance) & ~self.is_lower(oracle.best.f, f)
        return bool((own | ~oracle.active).all())

    def is_lower(self, f: Array, other: Array) -> np.ndarray:
        """Return whether values f (R,) are lower than others (R,) by more than the accuracy."""
        with np.errstate(invalid="ignore"):
            lower: np.ndarray = f < other - self._accuracy * (1.0 + np.abs(f))
        return lower

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the rule as data for a checkpoint."""
        return {name: getattr(self, f"_{name}") for name in _SEEN}

    def restore(self, seen: dict[str, Any]) -> None:
        """Go on from a ``snapshot``."""
        for name in _SEEN:
            setattr(self, f"_{name}", seen[name])
