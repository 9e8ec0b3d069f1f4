"""The end of a run: its status, its budgets, and the first hits of its targets."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import BudgetSpent
from zoviz.core.types import Array
from zoviz.oracle.samples import COUNTED


class RunStatus(StrEnum):
    """The status of a run; each member equals its word, as stores and command lines have it."""

    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    DIVERGED = "diverged"
    """Come to its end, or stopped, after the guard had stopped at least one of its replicas."""
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """Begun by a process that is gone, or that was told to end: to be resumed."""

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def active(self) -> bool:
        """Whether the run has begun and not ended."""
        return self in (RunStatus.RUNNING, RunStatus.PAUSED)

    @property
    def ended(self) -> bool:
        """Whether the run has come to an end of its own: finished, diverged, stopped or failed."""
        return self in (RunStatus.FINISHED, RunStatus.DIVERGED, RunStatus.STOPPED, RunStatus.FAILED)


class Ending(IntEnum):
    """Why a run, or a call of ``minimize``, ended: the ``status`` of SciPy's results. 0 and 1 are successes."""

    SOLVED = 0
    """The answer stands: further searches found none better, or the method's own criterion is met."""
    NOISE_FLOOR = 1
    """What could still be gained is smaller than what the noise lets one see."""
    BUDGET = 2
    """A budget of calls, samples or iterations is spent, or every target is hit."""
    TIME = 3
    """The budget of seconds is spent."""
    INFEASIBLE = 4
    """No feasible point was found."""
    NO_PROGRESS = 5
    """No further step makes any, or the run diverged."""
    STOPPED = 6
    """A person, or the callback, stopped it."""
    FAILED = 7
    """The black box, or the method, failed."""
    NOTHING_TO_DO = 8
    """The bounds leave no variable free."""

    @property
    def success(self) -> bool:
        """Whether the run ended with an answer: solved, or at the noise floor."""
        return self <= Ending.NOISE_FLOOR

    @property
    def words(self) -> str:
        """The ending in a word or two, for lists and pages."""
        return self.name.lower().replace("_", " ")


BUDGETS = ("iterations", "calls", "seconds", *(name for name in COUNTED if name != "calls"))
"""What a run counts and may have a budget of: steps, computing time, and what its oracle counts."""


class Limits(dict[str, Any]):
    """The budgets of a run by the names of ``BUDGETS``; None, or none, is unlimited."""

    def fraction(self, counts: Mapping[str, float]) -> float:
        """Return the share of the tightest budget that is used, at most 1; NaN without any."""
        shares = [counts[name] / max(limit, 1e-9) for name, limit in self.items() if limit is not None]
        return min(max(shares), 1.0) if shares else math.nan

    @property
    def oracle_budget(self) -> str:
        """The oracle's budgets in words: of calls, and of samples where there are some."""
        words = [f"{self[name]} {word}" for name, word in COUNTED.items() if self.get(name) is not None]
        return " and ".join(words) or "no oracle calls"

    def calls_spent(self, error: BudgetSpent) -> str:
        """Return the sentence on the oracle's budget that is spent: its own, where it has one."""
        return str(error) or f"The budget of {self.oracle_budget} is spent."

    def spent(self, iteration: int, seconds: float) -> str | None:
        """Return the sentence on a budget that is spent, if one is; calls and samples are the oracle's to watch."""
        if (most := self["iterations"]) is not None and iteration >= most:
            return f"The budget of {most} iterations is spent."
        return None if self["seconds"] is None else self.time_spent(seconds)

    def time_spent(self, seconds: float) -> str | None:
        """Return the sentence on the budget of seconds, if it is spent."""
        most = self["seconds"]
        return None if most is None or seconds < most else f"The budget of {most:g} s is spent."


class Progress(NamedTuple):
    """The progress of a run: its iterations, calls and seconds.

    Attributes
    ----------
    counts : mapping of str to float
        What it has used, by the names of ``BUDGETS``: of what its oracle counts, by the replica that has used most.
    fraction : float
        The share of the tightest budget; NaN without any.
    """

    counts: Mapping[str, float]
    fraction: float

    @property
    def iteration(self) -> int:
        """The number of steps."""
        return int(self.counts["iterations"])

    @property
    def calls(self) -> int:
        """Oracle calls of a replica that was never frozen."""
        return int(self.counts["calls"])

    @property
    def seconds(self) -> float:
        """The computing time."""
        return self.counts["seconds"]


class Target:
    """The first iteration at which |metric| <= threshold, for every replica.

    Attributes
    ----------
    metric : str
        A measure of the problem, e.g. ``gap``, ``relative_gap``, ``violation``, ``stationarity``.
    threshold : float
    hit : dict of str to Array, shape (R,)
        The counters when each replica first hit it, under the names that stores and traces hold; NaN before.
    """

    def __init__(self, metric: str, threshold: float, replicas: int) -> None:
        self.metric, self.threshold = metric, float(threshold)
        self.hit = {name: np.full(replicas, np.nan) for name in ("iteration", "seconds", *COUNTED)}

    @property
    def iteration(self) -> Array:
        """The iteration of each replica's first hit, (R,)."""
        return self.hit["iteration"]

    @property
    def calls(self) -> Array:
        """The oracle calls at each replica's first hit, (R,)."""
        return self.hit["calls"]

    def restore(self, hit: Mapping[str, Array]) -> None:
        """Restore the first hits from ``hit``."""
        self.hit = {name: hit[name] for name in self.hit}

    @property
    def hits(self) -> int:
        """The number of replicas that have hit the target."""
        return int(np.isfinite(self.iteration).sum())

    def check(self, values: Array, counts: Mapping[str, np.ndarray | float]) -> bool:
        """Record new hits from values (R,) and counters (R,), or one for all; return whether some have not hit yet."""
        open_ = np.isnan(self.iteration)
        new = open_ & (np.abs(values) <= self.threshold)
        if new.any():
            for name, count in counts.items():
                self.hit[name][new] = np.broadcast_to(count, new.shape)[new]
            open_ &= ~new
        return bool(open_.any())

    def __repr__(self) -> str:
        return f"<{self.metric} <= {self.threshold:g}: {self.hits} of {self.iteration.size} replicas>"


def build(targets: Mapping[str, float | Sequence[float]], replicas: int) -> list[Target]:
    """Make targets from {"gap": 1e-2, "violation": [1, 0.1]}, loosest first.

    Raises
    ------
    ValueError
        Where a threshold is not a positive finite number.
    """
    out = []
    for metric, thresholds in targets.items():
        values = thresholds if isinstance(thresholds, Sequence) and not isinstance(thresholds, str) else [thresholds]
        for value in sorted(values, reverse=True):
            if not isinstance(value, (int, float)) or not 0 < value < np.inf:
                raise ValueError(f"Expected the target {metric!r} a positive number or several, got {value!r}.")
            out.append(Target(metric, value, replicas))
    return out


def check_known(targets: Iterable[Target], measured: Collection[str], problem: str) -> None:
    """Check that a problem, of this name, measures what targets are for.

    Raises
    ------
    ValueError
        Where it does not.
    """
    unknown = next((target.metric for target in targets if target.metric not in measured), None)
    if unknown is not None:
        raise ValueError(f"Expected targets among {sorted(measured)}, got {unknown!r}: {problem} does not measure it.")
