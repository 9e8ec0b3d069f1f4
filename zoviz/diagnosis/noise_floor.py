"""The noise floor of a run: whether what it is still off by, or moves by, is of the size of its values' noise."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.diagnosis.course import Course, percentile
from zoviz.runs.engine import columns as names
from zoviz.runs.engine.trace import Snapshot

WITHIN = 10.0
"""Times the noise of one value, up to which a run is said to be at its floor: random directions amplify the noise, in
10 variables about fourfold. What goes to and fro farther out does so by its steps."""
WHITE = (0.5, 1.5)
"""Mean squared successive difference over twice the variance, between which values show nothing but noise: of white
noise it is 1, of what drifts near 0, of what jumps between two ends 2."""


class NoiseScale(NamedTuple):
    """The noise of single values; NaN where it is there, and its size is not known.

    Attributes
    ----------
    f, h : float
        Standard deviation on f, and on each h.
    """

    f: float
    h: float


def within_noise(snapshot: Snapshot, course: Course, noise: NoiseScale | None) -> bool:
    """Return whether a run ends within the noise of its values, by the noise that is known."""
    noise = measured(snapshot, noise)
    if noise is None or math.isnan(noise.f) or course.broken:
        return False
    if course.last(course.violation) > WITHIN * noise.h:
        return False
    if course.measure == "gap":
        return course.last(course.distance) <= WITHIN * noise.f
    swing = _swing(_late_objectives(snapshot, course))
    # Without an optimum one that has hardly left its start moves as little as one that is at its floor.
    return course.measure != "mean regret" and course.distance.max() > 2.0 * swing and swing <= WITHIN * noise.f


def at_noise_floor(snapshot: Snapshot, course: Course, noise: NoiseScale | None) -> str:
    """Return what to say of a run that is at the noise floor of its values; empty for another.

    Parameters
    ----------
    snapshot : Snapshot
    course : Course
        Of the same trace.
    noise : NoiseScale, optional
        None: the values are not noisy.
    """
    declared, noise = noise, measured(snapshot, noise)
    if declared is None or noise is None:
        return ""
    if math.isnan(noise.f):
        sigma = _white_noise(_late_objectives(snapshot, course))
        # Constraints are no more violated than the objective's noise has it: nothing else is known of theirs.
        quiet = math.isfinite(sigma) and course.last(course.violation) <= WITHIN * sigma
        return said(sigma, measured=True) if quiet else ""
    if not within_noise(snapshot, course, noise):
        return ""
    deep = course.measure == "gap" and course.middle(course.distance) <= noise.f
    return "" if _falls(course) and not deep else said(noise.f, measured=math.isnan(declared.f))


def measured(snapshot: Snapshot, noise: NoiseScale | None) -> NoiseScale | None:
    """Return the noise, of a size that the method has measured where nobody has declared it; that of h as that of f."""
    if noise is None or not math.isnan(noise.f) or names.VALUE_NOISE not in snapshot.columns:
        return noise
    last = snapshot.columns[names.VALUE_NOISE][-1]
    sigma = percentile(last[~np.isnan(last)], 50) if not np.isnan(last).all() else math.nan
    return NoiseScale(sigma, sigma)


def said(sigma: float, *, measured: bool) -> str:
    """Return the words for a run at its floor, with the noise of a value of f."""
    return f"At the noise floor (σ {f'about {sigma:.1g}, measured' if measured else f'= {sigma:g}'})"


def _falls(course: Course) -> bool:
    """Return whether the distance still falls by more than it goes to and fro."""
    distance, width = course.distance, max(3, course.distance.size // 5)
    middle = distance[distance.size // 2 - width // 2 :][:width]
    return percentile(distance[-width:], 90) < percentile(middle, 10)


def _late_objectives(snapshot: Snapshot, course: Course) -> Array:
    """Return the objective (T, R) in the second half of a course."""
    columns, late = snapshot.columns, course.rows[course.rows.size // 2 :]
    return columns[names.OBJECTIVE][late] if names.OBJECTIVE in columns else np.full((late.size, 1), np.nan)


def _swing(values: Array) -> float:
    """Return the span between the outer deciles of values (T, R), of the middle replica; NaN if none is known."""
    ordered = np.sort(values, axis=0)
    return percentile(ordered[int(0.9 * (len(ordered) - 1))] - ordered[int(0.1 * (len(ordered) - 1))], 50)


def _white_noise(values: Array) -> float:
    """Return the standard deviation of values (T, R) that show nothing but noise; NaN where they do not."""
    variance = values.var(axis=0)
    successive = 0.5 * np.square(np.diff(values, axis=0)).mean(axis=0)
    low, high = WHITE
    white = (variance > 0.0) & (successive >= low * variance) & (successive <= high * variance)
    return percentile(np.sqrt(successive), 50) if 2 * int(white.sum()) > white.size else math.nan
