"""The end of a run: its status, its budgets, and the first hits of its targets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array


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


class Limits(NamedTuple):
    """The budgets of a run; None is unlimited."""

    iterations: int | None
    calls: int | None
    seconds: float | None
    samples: int | None = None
    zeta_samples: int | None = None

    def fraction(
        self, iterations: int, calls: int, seconds: float, samples: int | None = 0, zeta_samples: int | None = 0
    ) -> float:
        """Return the share of the tightest budget that is used, at most 1; NaN without any."""
        counters = zip(self, (iterations, calls, seconds, samples, zeta_samples), strict=True)
        shares = [used / max(limit, 1e-9) for limit, used in counters if limit is not None and used is not None]
        return min(max(shares), 1.0) if shares else math.nan

    @property
    def oracle_budget(self) -> str:
        """The oracle's budgets in words: of calls, and of samples where there are some."""
        names = {"oracle calls": self.calls, "samples": self.samples, "samples of zeta": self.zeta_samples}
        words = [f"{limit} {name}" for name, limit in names.items() if limit is not None]
        return " and ".join(words) or "no oracle calls"

    def spent(self, iteration: int, seconds: float) -> str | None:
        """Return the sentence on a budget that is spent, if one is; calls and samples are the oracle's to watch."""
        if self.iterations is not None and iteration >= self.iterations:
            return f"The budget of {self.iterations} iterations is spent."
        return None if self.seconds is None else self.time_spent(seconds)

    def time_spent(self, seconds: float) -> str | None:
        """Return the sentence on the budget of seconds, if it is spent."""
        return None if self.seconds is None or seconds < self.seconds else f"The budget of {self.seconds:g} s is spent."


class Progress(NamedTuple):
    """The counters of a run: iterations, calls a replica, computing seconds, share of the budget or NaN, samples."""

    iteration: int
    calls: int
    seconds: float
    fraction: float
    samples: int = 0
    zeta_samples: int = 0


class Target:
    """The first iteration at which |metric| <= threshold, for every replica.

    Attributes
    ----------
    metric : str
        A measure of the problem, e.g. ``gap``, ``relative_gap``, ``violation``, ``stationarity``.
    threshold : float
    iteration, calls, seconds, samples, zeta_samples : Array, shape (R,)
        When each replica first hit it; NaN before.
    """

    def __init__(self, metric: str, threshold: float, replicas: int) -> None:
        self.metric, self.threshold = metric, float(threshold)
        self.iteration = np.full(replicas, np.nan)
        self.calls = np.full(replicas, np.nan)
        self.seconds = np.full(replicas, np.nan)
        self.samples = np.full(replicas, np.nan)
        self.zeta_samples = np.full(replicas, np.nan)

    @property
    def hit(self) -> dict[str, Array]:
        """The counters of the first hits, (R,) each, under the names that stores hold."""
        return {name: getattr(self, name) for name in ("iteration", "calls", "seconds", "samples", "zeta_samples")}

    def restore(self, hit: Mapping[str, Array]) -> None:
        """Restore the first hits from ``hit``."""
        self.iteration, self.calls, self.seconds = hit["iteration"], hit["calls"], hit["seconds"]
        self.samples, self.zeta_samples = hit["samples"], hit["zeta_samples"]

    @property
    def hits(self) -> int:
        """The number of replicas that have hit the target."""
        return int(np.isfinite(self.iteration).sum())

    def check(
        self,
        values: Array,
        iteration: int,
        calls: np.ndarray,
        seconds: float,
        samples: np.ndarray,
        zeta_samples: np.ndarray,
    ) -> bool:
        """Record new hits from values, calls and samples (R,), and return whether some replica has not hit yet."""
        open_ = np.isnan(self.iteration)
        new = open_ & (np.abs(values) <= self.threshold)
        if new.any():
            self.calls[new], self.seconds[new] = calls[new], seconds
            self.samples[new], self.zeta_samples[new] = samples[new], zeta_samples[new]
            self.iteration[new] = iteration
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
