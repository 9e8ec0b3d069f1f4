"""A trial of remedies: forks of a run with common random numbers, one for each remedy and one without."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from zoviz.certainty.estimate import interval
from zoviz.certainty.stationarity import Interval
from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.diagnosis.course import BARELY, MEASURES
from zoviz.diagnosis.remedies import GO_ON, Place, Remedy, place_of, remedies
from zoviz.diagnosis.verdict import EXACT, verdict_of
from zoviz.runs import repeat
from zoviz.runs.engine import columns as names
from zoviz.runs.engine.stopping import BUDGETS, RunStatus
from zoviz.runs.run import Run
from zoviz.runs.run_view import RunView

LEVEL = 0.95
"""Of the intervals of all remedies of a trial together."""
_FAR = 1e3
"""Most that a distance counts as a share of the start's, of a replica that ran away; the least is what counts as
solved, beyond which digits are chance."""
_ALIKE = 1e-3
"""The least such share where no solution is known, and the best value that was met stands for it."""


class Stretch(NamedTuple):
    """The last fifth of a run's rows between two iterations, as a verdict judges a course by it."""

    run: RunView
    since: int
    until: float = math.inf

    def _rows(self, name: str) -> Array | None:
        columns = self.run.trace.snapshot().columns
        end = max(int(np.searchsorted(columns[names.ITERATION], self.until, side="right")), 1)
        first = min(int(np.searchsorted(columns[names.ITERATION], self.since)), end - 1)
        width = min(max((end - first) // 5, 3), end - first)
        return columns[name][end - width : end] if name in columns else None

    def values(self, measure: str) -> Array:
        """Return a measure of distance, (T, R); NaN where it has none."""
        found = self._rows(MEASURES[measure])
        return np.full((1, self.run.replicas), np.nan) if found is None else found

    def violation(self) -> Array:
        """Return the violation, (T, R); 0 where there are no constraints."""
        found = self._rows(names.VIOLATION)
        return np.zeros((1, self.run.replicas)) if found is None else np.maximum(found, 0.0)


class Yardstick(NamedTuple):
    """What the ends of a run and its forks are measured by.

    Attributes
    ----------
    measure : str
        As of a ``Course``.
    distance, violation : float
        The run's own at its start; of an objective, how far it was above ``lowest``.
    lowest : float
        What is subtracted: of an objective, the lowest at which any of them ended.
    tolerance : float
        Violation that counts as none.
    """

    measure: str
    distance: float
    violation: float
    lowest: float
    tolerance: float

    @classmethod
    def of(cls, run: RunView, ends: Sequence[Stretch]) -> Yardstick:
        """Return what the ends of a run and its forks are measured by.

        Raises
        ------
        ZovizError
            Where nothing in the run's trace tells what is better.
        """
        columns = run.trace.snapshot().columns
        known = (one for one, name in MEASURES.items() if name in columns and np.isfinite(columns[name][0]).any())
        measure = next(known, "")
        if not measure:
            raise ZovizError("Expected a run with an objective in its trace, got none: nothing tells what is better.")
        tolerance = float(run.tolerances.max(initial=0.0)) or defaults.FEASIBILITY_TOLERANCE
        violation = columns.get(names.VIOLATION, np.zeros((1, 1)))
        # A feasible start has none to compare with: what there is on the way stands for it.
        some = violation[0] if (violation[0] > tolerance).any() else violation
        usual = float(np.median(some[some > tolerance])) if (some > tolerance).any() else tolerance
        start, lowest = float(np.nanmedian(columns[MEASURES[measure]][0])), 0.0
        if measure == "objective":
            feasible = [one.values(measure)[:, one.violation().max(axis=0) <= BARELY * tolerance] for one in ends]
            lowest = min((float(one.min()) for one in feasible if one.size), default=-math.inf)
            lowest = lowest if math.isfinite(lowest) else start - 1.0
        return cls(measure, abs(start - lowest) or 1.0, usual, lowest, tolerance)

    def losses(self, end: Stretch) -> Array:
        """Return the logarithm to base 10 of how far off each replica, (R,), is at an end.

        The larger of distance and violation, both as shares of the start's.
        """
        values, violation = end.values(self.measure), end.violation()
        share = np.where(violation <= BARELY * self.tolerance, 0.0, violation) / self.violation
        off = np.median(np.maximum(np.abs(values - self.lowest) / self.distance, share), axis=0)
        least = _ALIKE if self.measure == "objective" else EXACT
        return np.log10(np.clip(np.where(np.isfinite(values[-1]) & np.isfinite(off), off, np.inf), least, _FAR))


class Outcome(NamedTuple):
    """What a remedy came to beside going on without it.

    Attributes
    ----------
    remedy : Remedy
    run : Run
        The fork that tried it.
    gain : Interval
        Decimal digits of the distance from a solution, or from the best value that was met, that it gains: the mean
        over pairs of replicas, above 0 where the remedy is better.
    error : float
        Standard error of that mean.
    """

    remedy: Remedy
    run: Run
    gain: Interval
    error: float

    @property
    def better(self) -> bool:
        """Whether it is surely better than going on without it."""
        return self.gain.low > 0.0

    @property
    def times(self) -> Interval:
        """How many times as near to a solution it is; NaN where one replica tells no interval."""
        return Interval(
            *(10.0 ** max(min(one, 300.0), -300.0) if math.isfinite(one) else math.nan for one in self.gain)
        )

    @property
    def word(self) -> str:
        """What it came to, in a word or two."""
        if not math.isfinite(self.gain.low):
            return "one replica cannot tell"
        return "better" if self.better else "worse" if self.gain.high < 0.0 else "no clear difference"

    @property
    def sentence(self) -> str:
        """What it came to, in words."""
        value, low, high = (f"{one:.2g}" for one in self.times)
        times = f", {value} times as near ({low} to {high})" if math.isfinite(self.times.low) else ""
        return f"{self.remedy.words}: {self.word}{times}."


@dataclass(frozen=True)
class Trial:
    """What the remedies of a run came to, each in as many calls and with the same random numbers.

    Attributes
    ----------
    source : RunView
    place : Place
        Where the forks leave it.
    unchanged : Run
        The fork without a remedy.
    outcomes : tuple of Outcome
    """

    source: RunView
    place: Place
    unchanged: Run
    outcomes: tuple[Outcome, ...]

    @property
    def best(self) -> Outcome | None:
        """The remedy that gains most of those that are surely better than none; None without any."""
        return max(filter(lambda one: one.better, self.outcomes), key=lambda one: one.gain.value, default=None)

    @property
    def sentence(self) -> str:
        """What is better, in words."""
        if not self.outcomes:
            return "The run needs no remedy."
        best = self.best
        return "No remedy is clearly better than none." if best is None else f"Best: {best.sentence}"

    @property
    def price(self) -> str:
        """What each remedy was given, in words."""
        place = self.place
        again = f", after {place.repeated:,} that repeat the run" if place.repeated else ""
        return f"Each in {place.further:,} calls of a replica from iteration {place.iteration:,} on{again}."

    def __str__(self) -> str:
        return "\n".join([self.price, *(f"  {one.sentence}" for one in self.outcomes), self.sentence])


def try_remedies(
    run: RunView,
    calls: int | None = None,
    chosen: Sequence[Remedy] | None = None,
    proceed: Callable[[], object] = lambda: None,
) -> Trial:
    """Fork a run for each of its remedies and once without, with common random numbers, and compare them.

    A fork leaves the run at its last iteration, or before it ran away; a remedy that begins anew has as many calls from
    its start on. None of them counts as worse than the run's own end, whose best point is there anyway. The forks are
    kept in the run's store.

    Parameters
    ----------
    run : Run or StoredRun
        Paused or ended; it is left alone.
    calls : int, optional
        Calls of each replica from the fork on; default: half of those that the run has made.
    chosen : sequence of Remedy, optional
        Default: all that the run's verdict names.
    proceed : callable, optional
        Called before every iteration; what it raises ends the trial.

    Raises
    ------
    ZovizError
        Where the run has no iterate, or nothing in its trace tells what is better.
    """
    if not len(run.trace):
        raise ZovizError("Expected a run that has an iterate, got none: there is nothing to fork.")
    judged = verdict_of(run)
    place = place_of(run, judged, calls)
    wanted = remedies(run, judged, calls) if chosen is None else list(chosen)
    unchanged = _followed(_fork(run, place), proceed)
    tried = [_followed(_fork(run, place, one), proceed) if one.changes or one.afresh else unchanged for one in wanted]
    own, base = Stretch(run, 0, place.iteration), Stretch(unchanged, place.iteration)
    ends = [Stretch(fork, 0 if one.afresh else place.iteration) for one, fork in zip(wanted, tried, strict=True)]
    yardstick = Yardstick.of(run, [own, base, *ends])
    level = 1.0 - (1.0 - LEVEL) / max(len(wanted), 1)
    floor = yardstick.losses(own)
    without = np.minimum(yardstick.losses(base), floor)
    outcomes = []
    for remedy, fork, end in zip(wanted, tried, ends, strict=True):
        gains = (floor if fork is unchanged else without) - np.minimum(yardstick.losses(end), floor)
        error = float(gains.std(ddof=1)) / math.sqrt(gains.size) if gains.size > 1 else math.inf
        gain = interval(float(gains.mean()), error, max(gains.size - 1, 1), level)
        outcomes.append(Outcome(remedy, fork, gain, error))
    return Trial(run, place, unchanged, tuple(outcomes))


def _fork(run: RunView, place: Place, remedy: Remedy = GO_ON) -> Run:
    """Return the run that tries a remedy, not started."""
    calls = place.further + (0 if remedy.afresh else place.calls)
    budgets: dict[str, Any] = dict.fromkeys(BUDGETS) | {"calls": calls, "stop_at_targets": False}
    label = "no remedy" if remedy == GO_ON else remedy.words
    settings = {"label": label, "parent": run.id, "study": ""} | budgets
    if remedy.afresh:
        return Run.of(repeat.begun(run).clone().replaced(**settings, **remedy.afresh), store=run.store)
    return Run.forked(run, place.iteration, remedy.changes, store=run.store, **settings)


def _followed(run: Run, proceed: Callable[[], object]) -> Run:
    """Run to the end and return the run; one that ends by an error of its black box is an outcome, too."""
    try:
        run.run(proceed)
    except Exception:  # whatever its black box raises
        proceed()
        if run.status is not RunStatus.FAILED or not len(run.trace):
            raise
    return run
