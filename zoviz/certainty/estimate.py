"""The certainty of a noisy answer, estimated from fresh calls around it and from those that led to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zoviz.certainty import local_model
from zoviz.certainty.calls import Calls
from zoviz.certainty.certainty import Certainty, Direction, at_point
from zoviz.certainty.lengths import CALLS, MOST_RADIUS
from zoviz.certainty.local_minimum import doubtful_bounds, minimum, programme
from zoviz.certainty.local_model import Design, LocalModel
from zoviz.certainty.stationarity import ANY, NOT_NEGATIVE, Activity, Interval
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.restart_rules import unit_lengths
from zoviz.solvers.sqp import archive
from zoviz.solvers.sqp.constants import STANDARD

CLEARLY = 3.0
"""Standard errors from 0 at which a row, or a multiplier, is told from it."""
MOST_VARIABLES = 30
"""Free variables up to which a quadratic is fitted: beyond, it is more than a second, and thousands of calls."""
GUESSED = 2.0
"""Ranges of f among the fresh calls around x above which a possible gain is a guess: it comes from curvatures that no
call tells."""
FEWEST = 4
"""Calls for each of n + 1 below which only x itself is called again."""


def design(
    x: Array, box: Box, calls: int | None, random: np.random.Generator, before: Calls | None = None, bases: int = 1
) -> Design:
    """Return the points to call in order to tell how sure an answer is.

    Parameters
    ----------
    x : Array, shape (n,)
        In the box, in the user's units.
    box : Box
    calls : int, optional
        How many; default 16 for each of n + 1, n the variables that bounds do not fix. Where they do not suffice for
        slopes, or there are too many variables, x is called again and again.
    random : Generator
    before : Calls, optional
        Those that were made on the way to x: they choose how far from it the others are.
    bases : int
        Bases of axes at most: (n + 2) / 2 where earlier calls tell nothing of the Hessian.
    """
    free = box.variable
    n = int(free.sum())
    calls = CALLS * (n + 1) if calls is None else calls
    lower, upper, place = box.lower[free], box.upper[free], x[free]
    if not 1 <= n <= MOST_VARIABLES or calls < FEWEST * (n + 1):
        nothing = np.zeros((0, n))
        unit = unit_lengths(lower, upper, place)
        return Design(np.tile(x, (calls, 1)), place, np.zeros(n), nothing, MOST_RADIUS * unit)
    earlier = Calls(np.zeros((0, n)), np.zeros((0, 1))) if before is None else before.finite.of(free)
    made = local_model.design(place, unit_lengths(lower, upper, place), lower, upper, calls, random, earlier, bases)
    return made._replace(points=box.embed(made.points))


def certainty(
    before: Calls,
    fresh: Calls,
    x: Array,
    box: Box,
    plan: Design,
    level: float = 0.95,
    note: str = "",
    misfit: bool = True,
) -> Certainty:
    """Estimate how sure an answer is.

    Parameters
    ----------
    before : Calls
        Those that led to x, which lend curvatures alone; may be none.
    fresh : Calls
        Those of ``plan``; failures are left out.
    x : Array, shape (n,)
    box : Box
    plan : Design
        What ``design`` returned.
    level : float
        Of the intervals.
    note : str
        What else limits it.
    misfit : bool
        Whether errors hold what a quadratic leaves; without, intervals are too narrow.
    """
    before, good = before.finite, fresh.finite
    if not len(plan.axes) or len(good.x) < 0.5 * len(fresh.x):
        return _of_repeats(good, x, level, len(fresh.x), note or "too few calls, or too many variables, to estimate f*")
    found = estimated(before, good, x, box, plan, level, note, misfit)
    if found is None:  # of values of wildly different sizes: what x alone tells is not lost
        return _of_repeats(good, x, level, len(fresh.x), note or "the values nearby differ too much for a model")
    return replace(found, calls=len(fresh.x), archive=found.archive + found.calls - len(fresh.x))


def estimated(
    before: Calls,
    fresh: Calls,
    x: Array,
    box: Box,
    plan: Design,
    level: float = 0.95,
    note: str = "",
    misfit: bool = True,
) -> Certainty | None:
    """Return how sure an answer is by models around it, of finite calls; None where values are too different for one.

    Parameters
    ----------
    before, fresh : Calls
    x : Array, shape (n,)
    box, plan, level, note, misfit
        As of ``certainty``.
    """
    free = box.variable
    rows = _Rows(Calls(*(np.concatenate(parts) for parts in zip(fresh, before, strict=True))))
    earlier, own = (Calls(calls.x[:, free], rows.joined(calls.y)) for calls in (before, fresh))
    try:
        model = LocalModel(earlier, own, x[free], plan, misfit)
        return _Estimate(model, rows, x, box, level, float(np.ptp(fresh.y[:, 0]))).certainty(len(fresh.x), note)
    except np.linalg.LinAlgError:
        return None


def _of_repeats(calls: Calls, x: Array, level: float, made: int, note: str) -> Certainty:
    """Return what calls at x itself tell, which are those of all calls that were made there."""
    y = calls.y[(calls.x == x).all(axis=1)]
    count, m = len(y), calls.y.shape[1] - 1
    mean = y.mean(axis=0) if count else np.full(m + 1, np.nan)
    sd = y.std(axis=0, ddof=1) if count > 1 else np.full(m + 1, np.nan)
    error, degrees = sd / np.sqrt(max(count, 1)), max(count - 1.0, 1.0)
    ends = [interval(value, one, degrees, level) for value, one in zip(mean, error, strict=True)]
    low = [
        Activity.INACTIVE if one.value < -CLEARLY * e else Activity.UNDECIDED
        for one, e in zip(ends, error, strict=True)
    ]
    return at_point(x, ends, _probability(mean[1:], error[1:], degrees), low[1:], sd, made, note, level=level)


class _Rows:
    """The constraints as rows of the models, in which a pair h_i = -c h_j is one equality."""

    def __init__(self, calls: Calls) -> None:
        self.m = calls.y.shape[1] - 1
        known, _ = archive.add(archive.empty(calls.x.shape[1], calls.y[0], STANDARD), *calls)
        pairs = archive.detected_pairs(known, STANDARD)
        partner = {int(i): int(j) for i, j in pairs.rows}
        ratios = dict(zip(partner, pairs.ratios.tolist(), strict=True))
        self.own = [i for i in range(self.m) if i not in partner.values()]
        self.partner = [partner.get(i, -1) for i in self.own]
        self.ratio = [ratios.get(i, 1.0) for i in self.own]
        self.equal = np.array([j >= 0 for j in self.partner], dtype=bool)

    def joined(self, outputs: Array) -> Array:
        """Return outputs (N, 1 + rows), with the mean (h_i - c h_j) / 2 of a pair h_i = -c h_j."""
        own = outputs[:, [0, *(1 + i for i in self.own)]]
        for k in np.flatnonzero(self.equal):
            own[:, 1 + k] = 0.5 * (own[:, 1 + k] - self.ratio[k] * outputs[:, 1 + self.partner[k]])
        return own

    def apart(self, intervals: list[Interval]) -> list[Interval]:
        """Return the intervals of all constraints from those of the rows."""
        out = [Interval(np.nan, np.nan, np.nan)] * self.m
        for i, j, c, one in zip(self.own, self.partner, self.ratio, intervals, strict=True):
            out[i] = one
            if j >= 0:
                out[j] = Interval(-one.value / c, -one.high / c, -one.low / c)
        return out

    def each(self, things: list[Activity]) -> list[Activity]:
        """Return what holds of each constraint from what holds of its row."""
        out = [Activity.ACTIVE] * self.m
        for i, one in zip(self.own, things, strict=True):
            out[i] = one
        return out


class _Estimate:
    """The intervals at a point, from models of all outputs around it."""

    def __init__(self, model: LocalModel, rows: _Rows, x: Array, box: Box, level: float, spread: float) -> None:
        self._model, self._rows, self._x, self._box, self._level = model, rows, x, box, level
        self._range = spread  # of f among the fresh calls
        free = box.variable
        ends = [(end[free] - x[free]) / model.length for end in (box.lower, box.upper)]
        self._found = programme(model, rows.equal, *ends)
        self._base = minimum(model, self._found, self._found.active)
        self._near, self._loose = self._undecided()
        self._all = [self._base, *(minimum(model, self._found, active) for active in self._other_sets())]
        self._freed = self._base  # where a bound may hold a variable or not, x is told without it
        self._free = self._found.free | doubtful_bounds(model, self._found, self._base, CLEARLY)
        if self._free.sum() > self._found.free.sum():
            self._freed = minimum(model, self._found._replace(free=self._free), self._found.active)
            self._all.append(self._freed)

    def _undecided(self) -> tuple[list[int], list[int]]:
        """Return rows that may be active though they are below 0, and active ones whose multiplier may be 0."""
        base, active = self._base, self._found.active
        inactive = np.setdiff1d(np.arange(len(base.h)), active)
        near = [int(j) for j in inactive if base.h[j] > -CLEARLY * np.sqrt(max(base.h_variance[j], 0.0))]
        loose = [
            int(j) for j in active if base.y[j] < CLEARLY * np.sqrt(base.y_variance[j]) and not self._rows.equal[j]
        ]
        return near, loose

    def _other_sets(self) -> list[np.ndarray]:
        """Return the other sets of active rows that noise leaves possible."""
        active, room = self._found.active, int(self._found.free.sum()) > len(self._found.active)
        sets = [np.sort(np.append(active, j)) for j in self._near if room]
        sets += [np.setdiff1d(active, [j]) for j in self._loose]
        return sets + ([np.setdiff1d(active, self._loose)] if len(self._loose) > 1 else [])

    def certainty(self, calls: int, note: str) -> Certainty:
        """Return the certainty with all its figures."""
        model, base, rows = self._model, self._base, self._rows
        here = np.zeros((model.q, model.q, len(model.value_row(np.zeros(model.n)))))
        here[np.arange(model.q), np.arange(model.q)] = model.value_row(np.zeros(model.n))
        errors = model.errors(here)
        error = np.sqrt(np.diag(errors.all))
        ends = [self._ends(*one) for one in zip(model.value, error, errors.degrees, strict=True)]
        f_star = self._ends(base.f, np.sqrt(base.f_variance), base.f_degrees)
        gain = self._ends(ends[0].value - base.f, np.sqrt(base.gain_variance), base.f_degrees)
        worth = [self._multiplier(j) for j in range(len(base.y))]
        h_x = rows.apart(ends[1:])
        notes = [note]
        if not self._found.feasible:
            notes.append("the models have no feasible point nearby")
            f_star, gain, worth = ANY, NOT_NEGATIVE, [NOT_NEGATIVE] * len(worth)
        elif not self._found.within and gain.low > 0.0:
            notes.append("x is not near a minimum: f falls as far as the models reach")
            f_star, gain = f_star._replace(low=-np.inf), gain._replace(high=np.inf)
        elif model.noise[0] > 0.0 and gain.high > GUESSED * self._range:
            notes.append("the calls nearby do not determine f*")
            f_star, gain, worth = ANY, NOT_NEGATIVE, [NOT_NEGATIVE] * len(worth)
        probability = _probability(model.value[1:], error[1:], errors.degrees[1:])
        every = np.ones(rows.m)
        for i, j, p in zip(rows.own, rows.partner, probability, strict=True):
            every[i] = p
            if j >= 0:
                every[j] = 1.0 - p
        noise = np.zeros(rows.m + 1)
        noise[[0, *(1 + i for i in rows.own)]] = model.noise
        return Certainty(
            x=self._x,
            f_x=ends[0],
            f_star=f_star,
            gain=Interval(*(max(end, 0.0) for end in gain)),
            h_x=tuple(h_x),
            p_feasible=every,
            activity=tuple(rows.each([self._word(j) for j in range(len(base.y))])),
            multipliers=tuple(_split(rows, worth)),
            x_star=tuple(self._place() if np.isfinite(f_star.low) else self._anywhere()),
            directions=tuple(self._directions()),
            noise=noise,
            calls=calls,
            archive=model.calls - calls,
            level=self._level,
            note="; ".join(filter(None, notes)),
        )

    def _ends(self, value: float, error: float, degrees: float) -> Interval:
        return interval(float(value), float(error), float(degrees), self._level)

    def _word(self, row: int) -> Activity:
        if not self._found.feasible or row in self._near or row in self._loose:
            return Activity.UNDECIDED
        return Activity.ACTIVE if row in self._found.active else Activity.INACTIVE

    def _multiplier(self, row: int) -> Interval:
        """Return a row's multiplier with the hull of its intervals over the sets that are possible."""
        ends = []
        for one in self._all:
            if row in one.active:
                ends.append(self._ends(one.y[row], np.sqrt(max(one.y_variance[row], 0.0)), one.y_degrees[row]))
            else:
                ends.append(Interval(0.0, 0.0, 0.0))
        least = -np.inf if self._rows.equal[row] else 0.0
        value = self._base.y[row] if row in self._base.active else 0.0
        low, high = min(one.low for one in ends), max(one.high for one in ends)
        return Interval(max(value, least), max(low, least), max(high, least))

    def _place(self) -> list[Interval]:
        """Return the minimum variable by variable, with hulls over the sets that are possible, in the bounds."""
        free = np.flatnonzero(self._box.variable)
        out = [Interval(float(one), float(one), float(one)) for one in self._x]
        for k, i in enumerate(free):
            ends = [self._ends(one.u[k], np.sqrt(max(one.covariance[k, k], 0.0)), one.u_degrees) for one in self._all]
            hull = self._freed.u[k], min(one.low for one in ends), max(one.high for one in ends)
            lower, upper = self._box.lower[i], self._box.upper[i]
            out[i] = Interval(*(float(np.clip(self._x[i] + self._model.length[k] * u, lower, upper)) for u in hull))
        return out

    def _anywhere(self) -> list[Interval]:
        """Return what is known of a minimum that lies beyond the models' reach: the bounds alone."""
        return [
            Interval(*(float(one) for one in ends))
            for ends in zip(self._x, self._box.lower, self._box.upper, strict=True)
        ]

    def _directions(self) -> list[Direction]:
        """Return the principal directions of x in the variables that no bound holds."""
        free, model = self._free, self._model
        values, vectors = np.linalg.eigh(self._freed.covariance[np.ix_(free, free)])
        unit = np.ones(len(self._x))
        unit[self._box.variable] = model.length
        out = []
        for value, vector in zip(values, vectors.T, strict=True):
            step = np.zeros(len(self._x))
            step[np.flatnonzero(self._box.variable)[free]] = vector * model.length[free]
            error = float(np.sqrt(max(value, 0.0)))
            out.append(Direction(step, error, 2.0 * error > 1.0, unit))
        return out


def interval(value: float, error: float, degrees: float, level: float) -> Interval:
    """Return a figure with its interval, by Student's t for a standard error with ``degrees`` of freedom."""
    from scipy.special import stdtrit

    spread = float(stdtrit(degrees, 0.5 + 0.5 * level)) * error
    return Interval(float(value), float(value - spread), float(value + spread))


def _probability(h: Array, error: Array, degrees: Array | float) -> Array:
    from scipy.special import stdtr

    with np.errstate(over="ignore"):  # of a row without an error
        return np.asarray(stdtr(degrees, -h / np.maximum(error, 1e-300)))


def _split(rows: _Rows, worth: list[Interval]) -> list[Interval]:
    """Return the multipliers of all constraints; those of a pair are the positive and the negative part of one."""
    out = [Interval(0.0, 0.0, 0.0)] * rows.m
    for i, j, c, one in zip(rows.own, rows.partner, rows.ratio, worth, strict=True):
        out[i] = Interval(*(max(float(end), 0.0) for end in one)) if j >= 0 else one
        if j >= 0 and np.isnan(one.value):
            out[j] = one
        elif j >= 0:
            out[j] = Interval(*(max(-c * float(end), 0.0) for end in (one.value, one.high, one.low)))
    return out
