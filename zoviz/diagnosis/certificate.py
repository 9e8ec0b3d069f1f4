"""A certificate of a point by function values alone: how nearly the conditions for a minimum hold there."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import param
from scipy.stats import norm

from zoviz.certainty.calls import Calls
from zoviz.certainty.certainty import Certainty, at_point
from zoviz.certainty.estimate import certainty, design
from zoviz.certainty.own_calls import around, needed, repeating
from zoviz.certainty.stationarity import (
    NOT_NEGATIVE,
    Activity,
    Interval,
    Multipliers,
    Place,
    Sample,
    interval_of_residual,
    solved,
    undetermined,
)
from zoviz.core import defaults
from zoviz.core.configurable import Configurable
from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.threads.arithmetic import silent_arithmetic
from zoviz.core.types import Array, Evaluation
from zoviz.diagnosis.differences import evaluated
from zoviz.diagnosis.measured_slopes import Slopes, cost, slopes
from zoviz.diagnosis.observed_run import refuse_other_forms
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.runs.engine.answering import leader_of
from zoviz.runs.run_view import RunView

CLEARLY = 3.0
"""Standard errors below 0 from which on a row counts as inactive: taken for one by mistake, once in 700 times, an
active row leaves a residual that is not there."""

FOR_EACH = 4
"""Calls that tell how sure the minimum is, for each repeat and each of n + 1: 16 (n + 1) by default."""
HAIR = 1e-3
"""Widths of the box: where a row is nearer to 0 than so much, the residual with it as active is told first (chosen by
us)."""


class NearlyActive(NamedTuple):
    """A point's residual if rows counted as active that lie below 0: it may be near a point where they are.

    Attributes
    ----------
    rows : tuple of int
        Those of the rows that would have a multiplier, from 0.
    residual, complementarity : float
        Then, the second being the largest |y_j h_j|.
    distance : float
        The largest way along its own slope on which one of them becomes 0, in widths of the box.
    """

    rows: tuple[int, ...]
    residual: float
    complementarity: float
    distance: float


@dataclass(frozen=True)
class Certificate:
    """What function values say of a point; a first-order certificate says stationary, never optimal.

    Attributes
    ----------
    x : Array, shape (n,)
    residual : Interval
        min over y >= 0 of ||x - P_X(x - grad f - J^T y)||, rows that are not active having y_j = 0. From 0 on where
        a row without a slope jumps near the point and may hold it; NaN, from 0 to infinity, where f has no slope.
        Where it cannot be told whether a row is active, it may be that of either case.
    counted : Interval
        The residual if all rows are active of which that cannot be told.
    violation : Interval
        ||[h]_+||.
    complementarity : Interval
        The largest |y_j h_j|.
    multipliers, multipliers_low, multipliers_high : Array, shape (m,)
        If the rows are active of which that cannot be told.
        NaN, from 0 to infinity, where they cannot be told; an end of infinity alone where they have no upper bound.
    h, h_error : Array, shape (m,)
        Constraints, and their standard errors.
    active : tuple of Activity
        One for each constraint.
    nearly : NearlyActive or None
        What the residual would be if rows were active that are clearly below 0, where it is less than half as large.
    singular_value : Interval
        The smallest of the Jacobian of the rows that may be active, in the free coordinates; near 0 the multipliers are
        not unique. NaN where no row is active.
    floor : float
        A residual that a perfect point would stay below under this noise, with 95 %.
    noise, step : Array, shape (m + 1,)
        Standard deviations of f and h when they were asked for again, and what their values are rounded to; 0 for none.
    flat : ndarray of bool, shape (m + 1,)
        Which of f and h take a few values alone around the point, as 0 and 1: they have no slope.
    declared : bool
        Whether noise was declared.
    failed : int
        Coordinates along which the black box gave no values: the residual is that of the others.
    calls : int
        What it cost, off the books of any run.
    confidence : float
        Of the intervals.
    certainty : Certainty
        How sure values, constraints and multipliers are; under noise the minimum near the point, too.
    """

    x: Array
    residual: Interval
    counted: Interval
    violation: Interval
    complementarity: Interval
    multipliers: Array
    multipliers_low: Array
    multipliers_high: Array
    h: Array
    h_error: Array
    active: tuple[Activity, ...]
    nearly: NearlyActive | None
    singular_value: Interval
    floor: float
    noise: Array
    step: Array
    flat: np.ndarray
    declared: bool
    failed: int
    calls: int
    confidence: float
    certainty: Certainty

    @property
    def sentence(self) -> str:
        """The certificate in one sentence."""
        near = "" if self._by_a_hair else self._near
        parts = [", ".join(filter(None, self._figures)), near, *self._roughness, self._failures, *self._limits]
        return "; ".join(filter(None, parts)) + "."

    @property
    def _figures(self) -> tuple[str, ...]:
        words = self.certainty.activity
        sure = [f"h{j + 1}" for j, word in enumerate(words) if word is Activity.ACTIVE]
        unsure = [f"h{j + 1}" for j, word in enumerate(words) if word is Activity.UNDECIDED]
        return (
            self._residual,
            f"violation {_text(self.violation)}" if self.active else "",
            f"active: {', '.join(sure) or 'none'}" if self.active else "",
            f"undecided: {', '.join(unsure)}" if unsure else "",
        )

    @property
    def _by_a_hair(self) -> bool:
        return self.nearly is not None and self.nearly.distance < HAIR

    @property
    def _residual(self) -> str:
        """The residual; that with all rows as active first where these are inactive by a hair."""
        figure = _text(self.residual)
        if self.counted != self.residual and np.isfinite(self.residual.high):
            pairs = enumerate(zip(self.active, self.certainty.activity, strict=True))
            rows = [j for j, (own, nearby) in pairs if own is Activity.UNDECIDED and nearby is not Activity.ACTIVE]
            listed = ", ".join(f"h{j + 1}" for j in rows)
            otherwise = f" if {listed} active (< {self.residual.high:.1e} otherwise)" if rows else ""
            return f"KKT residual {_text(self.counted)}{otherwise}"
        if self.nearly is None or not self._by_a_hair:
            return f"KKT residual {figure}"
        return f"KKT residual {self.nearly.residual:.1e} with {self._slack_rows} ({figure} otherwise)"

    @property
    def _slack_rows(self) -> str:
        """The rows that are nearly active, and what counting them leaves of complementarity."""
        if self.nearly is None:
            return ""
        rows = ", ".join(f"h{j + 1} = {self.h[j]:.1e}" for j in self.nearly.rows)
        return f"{rows} counted as active, |y h| {self.nearly.complementarity:.1e}"

    @property
    def _near(self) -> str:
        return "" if self.nearly is None else f"{self.nearly.residual:.1e} with {self._slack_rows}"

    @property
    def _roughness(self) -> tuple[str, ...]:
        """What keeps values from being exact, where nobody has said so."""
        noise = _listed(self.noise, np.flatnonzero((self.noise > 0.0) & ~self.declared))
        step = _listed(self.step, np.flatnonzero((self.step > self.noise) & ~self.flat))
        flat = ", ".join(_name(j) for j in np.flatnonzero(self.flat[:1].tolist() + self._unsure_rows))
        return (
            f"repeated calls differ, standard deviation {noise}" if noise else "",
            f"values are rounded to {step}" if step else "",
            f"slopes of {flat} are unknown: only a few distinct values were seen" if flat else "",
        )

    @property
    def _unsure_rows(self) -> list[bool]:
        return [
            bool(flat) and word is Activity.UNDECIDED for flat, word in zip(self.flat[1:], self.active, strict=True)
        ]

    @property
    def _failures(self) -> str:
        return f"{self.failed} of {self.x.size} coordinates gave no values" if self.failed else ""

    @property
    def _limits(self) -> tuple[str, str]:
        return f"{self.calls:,} calls", f"resolution {self.floor:.1e}" if np.isfinite(self.floor) else ""


class Certifier(Configurable):
    """What makes certificates, by calls on a ledger of their own.

    Gradient and Jacobian are measured by differences along all coordinates (``zoviz.diagnosis.differences``), with
    standard errors; every figure has an interval from normal draws of (g, J, h), for each of which the multipliers are
    solved for again. A row counts as inactive, and its multiplier as 0, where h_j lies below 0 by more than the
    tolerance and 3 standard errors. Under noise of every call as many calls again, around the point, tell how sure the
    minimum near it is.
    """

    repeats = param.Integer(
        default=4, bounds=(1, 10_000), label="Repeats", doc="Evaluations of each point under noise."
    )
    draws = param.Integer(
        default=200, bounds=(200, 100_000), label="Draws", doc="Random draws of the errors behind the intervals."
    )
    confidence = param.Number(default=0.95, bounds=(0.5, 0.999), label="Confidence", doc="Level of the intervals.")
    tolerance = param.Number(
        default=defaults.FEASIBILITY_TOLERANCE, bounds=(0, None), label="Tolerance", doc="Largest |h| that counts as 0."
    )
    minimum = param.Boolean(
        default=False,
        label="Minimum nearby",
        doc="Without noise call further points around the point, some 3/4 n^2 with up to 30 variables, which tell the "
        "minimum nearby.",
    )

    def cost(self, problem: Problem, known: Certainty | None = None) -> tuple[int, int]:
        """Return the least and the largest number of calls of a certificate, where the certainty is known already."""
        n, contract = int(Box.of(problem.domain).variable.sum()), problem.contract
        least, most = cost(n, contract, self.repeats)
        judging = self.judging(problem) if known is None else 0
        largest = max(judging, needed(Box.of(problem.domain))) if judging and self.minimum else judging
        return least + judging * (contract == "independent"), most + largest * (contract != "common")

    def judging(self, problem: Problem) -> int:
        """Return the calls that tell how sure the minimum near a point is."""
        return FOR_EACH * self.repeats * (int(Box.of(problem.domain).variable.sum()) + 1)

    def certify(
        self,
        problem: Problem,
        x: Array,
        seed: int = 0,
        proceed: Callable[[], object] = lambda: None,
        known: Certainty | None = None,
    ) -> Certificate:
        """Certify a point.

        Parameters
        ----------
        problem : Problem
            In a box; it is left as it is, a clone is asked.
        x : Array, shape (n,)
            In the box, in the user's units.
        seed : int
            Of the noise and the draws, apart from every run's of the same seed.
        proceed : callable
            Called before every batch of calls, and between the calls of a black box; what it raises ends the
            certificate.
        known : Certainty, optional
            That of the point, which is then not estimated again.

        Raises
        ------
        ZovizError
            For another kind of task, a point outside the box, or one at which the black box gives no value.
        """
        refuse_other_forms(problem, "certificate")
        place = Box.of(problem.domain)
        if not place.contains(x[None], self.tolerance)[0]:
            raise ZovizError("Expected a point inside the bounds, got one outside: project it first.")
        streams = Streams(zlib.crc32(f"certificate {seed}".encode()), 1)
        own, x = problem.clone_apart(), place.project(x)
        own.count_constraints(x)
        kept: list[Calls] = []

        def keep(points: Array, value: Evaluation) -> None:
            kept.append(Calls(points.copy(), value.stacked))

        try:
            oracle, judged = Oracle(own, streams, proceed=proceed, listeners=[keep]), known
            with oracle.purpose(Purpose.CERTIFICATE), silent_arithmetic():
                measured = slopes(oracle, x, self.repeats)
                noisy = problem.contract == "independent" or bool((measured.noise > 0.0).any())
                further = 0
                if known is None and problem.contract != "common" and np.isfinite(measured.value).all():
                    random = streams.generator("certainty")
                    if noisy:
                        judged = self._judged(oracle, x, kept, random)
                        further = judged.calls
                    elif self.minimum and not (measured.step.any() or measured.flat.any() or problem.keeps_rows):
                        judged, further = self._modelled(oracle, x, measured.value, random)
        finally:
            own.release()
        if not np.isfinite(measured.value).all():
            raise ZovizError(
                f"Expected finite values at the point, got NaN or Inf: there is nothing to certify. "
                f"{own.failure_message}".rstrip()
            )
        declared = problem.contract != "deterministic"
        calls = measured.calls + further
        return self._certificate(place, x, measured, streams.generator("draws"), declared, judged, calls)

    def _judged(self, oracle: Oracle, x: Array, kept: Sequence[Calls], random: np.random.Generator) -> Certainty:
        """Call points around x (n,), and tell by them and by those that gave slopes how sure the minimum is."""
        box, n = Box.of(oracle.domain), int(Box.of(oracle.domain).variable.sum())
        before = Calls.joined(kept, oracle.n, oracle.m)
        plan = design(x, box, self.judging(oracle.problem), random, before, bases=(n + 2) // 2)
        fresh = Calls(plan.points, evaluated(oracle, plan.points))
        return certainty(before, fresh, x, box, plan, self.confidence)

    def _modelled(
        self, oracle: Oracle, x: Array, outputs: Array, random: np.random.Generator
    ) -> tuple[Certainty | None, int]:
        """Call points around x (n,), where outputs (1 + m,) repeat; return what they say of f*, and their number."""
        box = Box.of(oracle.domain)
        points, unknown = around(x, box, random), np.full(oracle.m, np.nan)
        calls = Calls(points, evaluated(oracle, points))
        found = repeating([calls], x, outputs, unknown, box, self.tolerance, len(points))
        return found if found.tells_minimum else None, len(points)

    def _certificate(
        self,
        box: Box,
        x: Array,
        measured: Slopes,
        random: np.random.Generator,
        declared: bool,
        judged: Certainty | None,
        calls: int,
    ) -> Certificate:
        place, h, error = Place(box, x), measured.value[1:], measured.value_error[1:]
        measured, lost = _without_lost(measured)
        _, errors = measured.draws(random, self.draws)
        z = self._quantile(h.size)
        flat = self._unsure(measured)
        sample = Sample(errors[:, 0], errors[:, 1:], self._may_be_active(h, error) & ~measured.flat[1:])
        best, counted, floor, low, high = self._stationary(place, measured, sample)
        active = self._active(h, error, flat)
        doubtful = sample.allowed & np.array([word is Activity.UNDECIDED for word in active], dtype=bool)
        residual = counted
        if doubtful.any():  # without them, the residual is larger and the others' multipliers are other ones
            fewer = sample._replace(allowed=sample.allowed & ~doubtful)
            _, without, _, *ends = self._stationary(place, measured, fewer)
            residual = Interval(counted.value, min(counted.low, without.low), max(counted.high, without.high))
            low, high = np.where(doubtful, low, np.minimum(low, ends[0])), np.maximum(high, ends[1])
        made = Certificate(
            x=x,
            residual=residual,
            counted=counted,
            violation=Interval(*(_violation(h + shift * z * error) for shift in (0.0, -1.0, 1.0))),
            complementarity=_complementarity(h, z * error, best.y, np.where(doubtful, 0.0, low), high),
            multipliers=best.y,
            multipliers_low=low,
            multipliers_high=high,
            h=h,
            h_error=error,
            active=active,
            nearly=_nearly(box, x, measured, best, sample.allowed),
            singular_value=self._singular_value(measured.slope[1:], sample, best),
            floor=floor,
            noise=measured.noise,
            step=measured.step,
            flat=measured.flat,
            declared=declared,
            failed=lost,
            calls=calls,
            confidence=self.confidence,
            certainty=judged or self._known(x, measured, active, (best.y, low, high), flat),
        )
        return _without_slopes(made, flat, flat & measured.jumps[1:])

    def _known(
        self, x: Array, measured: Slopes, active: Sequence[Activity], multipliers: Sequence[Array], flat: np.ndarray
    ) -> Certainty:
        """Return the certainty that slopes alone give, of multipliers with their ends; rows (m,) may be flat."""
        worth = [
            NOT_NEGATIVE if measured.flat[0] or none else Interval(*one.tolist())
            for one, none in zip(np.stack(multipliers, axis=1), flat, strict=True)
        ]
        spread = self._quantile(len(active)) * measured.value_error
        outputs = zip(measured.value, measured.value - spread, measured.value + spread, strict=True)
        scale = np.maximum(measured.value_error[1:], 1e-300)
        return at_point(
            x,
            [Interval(*map(float, one)) for one in outputs],
            norm.cdf(self.tolerance, loc=measured.value[1:], scale=scale),
            active,
            measured.noise,
            measured.calls,
            "of f* nothing is known: the calls tell slopes, not curvatures",
            worth,
            self.confidence,
        )

    def _unsure(self, measured: Slopes) -> np.ndarray:
        """Return the rows without a slope that may hold the point, (m,) of bool: not below 0 everywhere around it."""
        largest, error = measured.largest[1:], measured.value_error[1:]
        return measured.flat[1:] & self._may_be_active(largest, error)

    def _stationary(
        self, place: Place, measured: Slopes, sample: Sample
    ) -> tuple[Multipliers, Interval, float, Array, Array]:
        """Return multipliers, the residual, its floor, and the ends of the multipliers' intervals."""
        gradient, jacobian = measured.slope[0], measured.slope[1:]
        best = place.multipliers(gradient, jacobian, sample.allowed)
        residual, floor = interval_of_residual(
            place, gradient, jacobian, best, sample, self.confidence, measured.bounded
        )
        again = solved(place, gradient, jacobian, best.free, sample)
        low, high = self._around(best.y, np.array([one.y for one in again]))
        high[undetermined(gradient, jacobian, best, again, sample)] = np.inf
        return best, residual, floor, low, high

    @property
    def _tails(self) -> tuple[float, float]:
        return 0.5 * (1.0 - self.confidence), 0.5 * (1.0 + self.confidence)

    def _quantile(self, rows: int) -> float:
        """Return the standard errors within which all rows lie at once."""
        return float(norm.isf(0.5 * (1.0 - self.confidence) / max(rows, 1)))

    def _may_be_active(self, h: Array, error: Array) -> np.ndarray:
        """Return which rows of h (..., m) are not clearly below 0."""
        return np.asarray(h + CLEARLY * error >= -self.tolerance)

    def _around(self, y: Array, draws: Array) -> tuple[Array, Array]:
        """Return ends of the multipliers' intervals, of draws (D, m): those of the draws, and these mirrored at y.

        Draws have the bias of the estimate twice, their mirror image has it taken away; both are covered.
        """
        low, high = np.quantile(draws, self._tails, axis=0)
        return np.maximum(np.minimum(low, 2.0 * y - high), 0.0), np.maximum(high, 2.0 * y - low)

    def _active(self, h: Array, error: Array, flat: np.ndarray) -> tuple[Activity, ...]:
        """Say which rows are active: near 0 or above for sure, or below 0 for sure.

        Of those without a slope that may hold the point, ``flat``, it cannot be told.
        """
        sure, none = (h - CLEARLY * error >= -self.tolerance) & ~flat, ~self._may_be_active(h, error) & ~flat
        return tuple(
            Activity.INACTIVE if no else Activity.ACTIVE if yes else Activity.UNDECIDED
            for no, yes in zip(none, sure, strict=True)
        )

    def _singular_value(self, jacobian: Array, sample: Sample, best: Multipliers) -> Interval:
        """Return the smallest singular value of the Jacobian in the free coordinates, of rows that may be active."""
        rows, errors = sample.allowed, sample.jacobian
        if not rows.any() or not best.free.any():
            return Interval(np.nan, np.nan, np.nan)
        if rows.sum() > best.free.sum():
            return Interval(0.0, 0.0, 0.0)
        own = jacobian[np.ix_(rows, best.free)]
        least = np.linalg.svd(own + errors[:, rows][:, :, best.free], compute_uv=False)[:, -1]
        low, high = np.quantile(least, self._tails)
        return Interval(float(np.linalg.svd(own, compute_uv=False)[-1]), float(low), float(high))


def certificate_of(
    run: RunView,
    replica: int = 0,
    certifier: Certifier | None = None,
    proceed: Callable[[], object] = lambda: None,
) -> Certificate:
    """Certify the reported point of a live or stored run, whose budget and random numbers are left alone.

    Parameters
    ----------
    run : Run or StoredRun
    replica : int
    certifier : Certifier, optional
    proceed : callable
        As for ``Certifier.certify``.
    """
    certifier = Certifier() if certifier is None else certifier
    known = known_certainty(run, replica, certifier)
    x = run.result.x[replica] if known is None else known.x
    return certifier.certify(run.problem, x, run.seed, proceed, known)


def known_certainty(run: RunView, replica: int, certifier: Certifier) -> Certainty | None:
    """Return how sure a run's answer is, where the replica led to it and a certificate would not know better."""
    sure = None if run.answer is None else run.answer.certainty
    if sure is None or not sure.tells_minimum or replica != leader_of(run.result):
        return None
    most = certifier.judging(run.problem) if sure.noisy else 0
    return sure if sure.calls >= most and (sure.noisy or certifier.repeats <= Certifier().repeats) else None


def _without_lost(measured: Slopes) -> tuple[Slopes, int]:
    """Return slopes of 0 along coordinates of which nothing is known, which have no part in the residual; how many."""
    lost = ~np.isfinite(measured.slope).all(axis=0) | ~np.isfinite(measured.slope_error).all(axis=0)
    if lost.any():
        blank = [np.where(lost, 0.0, part) for part in (measured.slope, measured.slope_error, measured.base_weight)]
        measured = measured._replace(slope=blank[0], slope_error=blank[1], base_weight=blank[2])
    return measured, int(lost.sum())


def _nearly(box: Box, x: Array, measured: Slopes, best: Multipliers, allowed: np.ndarray) -> NearlyActive | None:
    """Return what the rows that are not allowed would change, where that is much."""
    h, jacobian = measured.value[1:], measured.slope[1:]
    every = Place(box, x).multipliers(measured.slope[0], jacobian, np.ones(h.size, dtype=bool))
    if every.norm >= 0.5 * best.norm:
        return None
    rows = np.flatnonzero((every.y > 0.0) & ~allowed)
    # In widths of the box, by which variables of other units compare; infinite ones count as the point's size.
    width = np.where(np.isfinite(box.upper - box.lower), box.upper - box.lower, np.maximum(np.abs(x), 1.0))
    slopes_of_rows = np.sqrt(np.square(jacobian[rows] * width).sum(axis=1))
    distance = float(np.max(np.abs(h[rows]) / slopes_of_rows, initial=0.0))
    return NearlyActive(tuple(rows.tolist()), every.norm, float(np.abs(every.y * h).max(initial=0.0)), distance)


def _complementarity(h: Array, spread: Array, y: Array, low: Array, high: Array) -> Interval:
    """Return the largest |y_j h_j|, of h (m,) up to a spread and multipliers between two ends."""
    least, most = low * np.maximum(np.abs(h) - spread, 0.0), np.zeros(h.size)
    most[high > 0.0] = (high * (np.abs(h) + spread))[high > 0.0]
    return Interval(*(float(part.max(initial=0.0)) for part in (np.abs(y * h), least, most)))


def _without_slopes(made: Certificate, unsure: np.ndarray, jumps: np.ndarray) -> Certificate:
    """Return a certificate without what depends on functions that have no slopes.

    Rows (m,) that are ``unsure`` have a multiplier of which nothing is known; those that jump beside the point may hold
    it, so that neither the residual nor another multiplier is known to be more than 0.
    """
    unknown = np.full(unsure.size, bool(made.flat[0])) | unsure
    everything, held = bool(made.flat[0]), bool(jumps.any())
    unbounded = unknown | held & np.array([word is not Activity.INACTIVE for word in made.active], dtype=bool)
    low, high = np.where(unbounded, 0.0, made.multipliers_low), np.where(unbounded, np.inf, made.multipliers_high)
    residual, counted, slack = made.residual, made.counted, made.complementarity
    if everything:
        residual = counted = NOT_NEGATIVE
    elif held:
        residual = counted = residual._replace(low=0.0)
    if unbounded[np.abs(made.h) > 0.0].any():
        slack = NOT_NEGATIVE
    return replace(
        made,
        residual=residual,
        counted=counted,
        complementarity=slack,
        floor=np.inf if everything else made.floor,
        multipliers=np.where(unbounded, np.nan, made.multipliers),
        multipliers_low=low,
        multipliers_high=high,
        nearly=None if everything or held else made.nearly,
        singular_value=Interval(np.nan, np.nan, np.nan) if held else made.singular_value,
    )


def _name(function: int | np.integer[Any]) -> str:
    return f"h{function}" if function else "f"


def _listed(sizes: Array, functions: np.ndarray) -> str:
    return ", ".join(f"{sizes[j]:.1e} ({_name(j)})" for j in functions)


def _violation(h: Array) -> float:
    return float(np.sqrt(np.square(np.maximum(h, 0.0)).sum()))


def _text(interval: Interval) -> str:
    """Return a figure with its interval; where that begins at 0, with its end alone."""
    if not np.isfinite(interval.high):
        return "cannot tell"
    if interval.low > 0.0:
        return f"{interval.value:.1e} ({interval.low:.1e} to {interval.high:.1e})"
    value = f"{interval.value:.1e}" if interval.value else "0"
    return f"{value} (< {interval.high:.1e})" if interval.high > 0.0 else value
