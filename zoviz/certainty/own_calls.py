"""The certainty of an answer whose values repeat, by calls around it, or by those that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from zoviz.certainty import lengths
from zoviz.certainty.calls import Calls, coefficients
from zoviz.certainty.certainty import Certainty, exact
from zoviz.certainty.estimate import MOST_VARIABLES, estimated
from zoviz.certainty.local_model import Design
from zoviz.certainty.stationarity import Interval
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.restart_rules import unit_lengths

RADIUS, NEAREST = 1e-2, 0.1
"""Distance from x of the farthest of further calls, in unit lengths (of 1e-4 to 1e-1 the one of the narrowest intervals
that hold the truth, also where bounds are wide), and of the nearest ones, in that."""
LEAST_RADIUS = 1e-4
"""Radius, in unit lengths, within which the minimum is looked for at least, however near the last calls lie."""
SOLVED = 1e-9
"""Relative accuracy to which a model's minimum is found: misfit of calls that a quadratic fits exactly may be less."""
ACCURATE = 1e-6
"""Relative width of an interval of f* that is narrow enough: the accuracy with which ``minimize`` ends."""
GUESSED = 100.0
"""Ranges of f among the calls nearby above which a possible gain is a guess: beside kinks it is a thousand and more."""
SPREAD = 0.02
"""Smallest singular value of the directions to the calls, over its largest value of evenly spread ones, from which on
they tell all slopes."""


def needed(box: Box) -> int:
    """Return how many calls around a point determine a quadratic and its misfit; 0 where there is nothing to fit."""
    n = int(box.variable.sum())
    return int(lengths.POINTS * coefficients(n)) + 2 if 1 <= n <= MOST_VARIABLES else 0


def around(x: Array, box: Box, random: np.random.Generator) -> Array:
    """Return the points (k, n) of a box to call around an answer x (n,), in random directions."""
    free, k = box.variable, needed(box)
    lower, upper, place = box.lower[free], box.upper[free], x[free]
    steps = random.standard_normal((k, len(place)))
    steps *= NEAREST ** ((np.arange(k) + 0.5) / k)[:, None] / np.abs(steps).max(axis=1, keepdims=True, initial=0.0)
    steps *= RADIUS * unit_lengths(lower, upper, place)
    inside = (place + steps >= lower) & (place + steps <= upper)
    return box.embed(np.clip(place + np.where(inside, steps, -steps), lower, upper))


def nearby(calls: Calls, x: Array, box: Box) -> Calls | None:
    """Return the calls nearest to an answer x (n,), as many as a quadratic takes; None where they do not tell one."""
    free, own, enough = box.variable, calls.finite, needed(box)
    steps = (own.x[:, free] - x[free]) / unit_lengths(box.lower[free], box.upper[free], x[free])
    distance = np.abs(steps).max(axis=1, initial=0.0)
    _, first = np.unique(own.x, axis=0, return_index=True)
    first = first[(distance[first] > lengths.LEAST_RADIUS) & (distance[first] <= lengths.MOST_RADIUS)]
    if not 1 <= enough <= len(first):
        return None
    near = first[np.argsort(distance[first], kind="stable")][:enough]
    directions = steps[near] / np.linalg.norm(steps[near], axis=1, keepdims=True)
    if np.linalg.svd(directions, compute_uv=False)[-1] < SPREAD * np.sqrt(enough / int(free.sum())):
        return None
    return Calls(own.x[near], own.y[near])


def repeating(
    near: Sequence[Calls],
    x: Array,
    outputs: Array,
    multipliers: Array,
    box: Box,
    tolerance: Array | float,
    further: int = 0,
    advice: str = "",
) -> Certainty:
    """Return how sure an answer is whose values repeat: f* and multipliers by a model of the calls nearby.

    Parameters
    ----------
    near : sequence of Calls
        Those around x, and those that ``nearby`` returns: the first that tell f* well, else those that tell it best.
    x : Array, shape (n,)
    outputs : Array, shape (1 + m,)
        f and h at x, which are exact.
    multipliers : Array, shape (m,)
        Those of the method, where there is no model; NaN for none.
    box : Box
    tolerance : Array, shape (m,), or float
        Largest h that counts as 0.
    further : int
        Calls that were made around x.
    advice : str
        What would determine f*, where the calls do not.
    """
    known = exact(x, float(outputs[0]), outputs[1:], multipliers, tolerance)
    known = replace(known, calls=further, note=": ".join(filter(None, [known.note, advice])))
    if int(box.variable.sum()) > MOST_VARIABLES:
        return replace(known, note=f"f* is not estimated with more than {MOST_VARIABLES} variables")
    best: Certainty | None = None
    for calls in near if np.isfinite(outputs).all() else ():
        found = _modelled(calls.finite, x, outputs, box)
        if found is not None and (best is None or _width(found) < _width(best)):
            best = found
        if best is not None and _accurate(best):
            break
    if best is None:
        return known
    return replace(
        known,
        f_star=best.f_star,
        gain=best.gain,
        x_star=best.x_star,
        activity=best.activity,
        multipliers=best.multipliers,
        directions=best.directions,
        note=best.note,
    )


def _width(certainty: Certainty) -> float:
    return certainty.f_star.high - certainty.f_star.low


def _accurate(certainty: Certainty) -> bool:
    return _width(certainty) <= ACCURATE * (1.0 + abs(certainty.f_star.value))


def _modelled(near: Calls, x: Array, outputs: Array, box: Box) -> Certainty | None:
    """Return what a model of calls nearby says; None where it tells no minimum."""
    free = box.variable
    unit = unit_lengths(box.lower[free], box.upper[free], x[free])
    farthest = float(np.abs((near.x[:, free] - x[free]) / unit).max(initial=0.0))
    calls = Calls(np.concatenate([x[None], near.x]), np.concatenate([outputs[None], near.y]))
    none, nothing = Calls.joined([], len(x), len(outputs) - 1), np.zeros((0, int(free.sum())))
    for radius in (farthest, max(farthest, LEAST_RADIUS)):  # the first may be too small to hold a feasible point
        found = estimated(none, calls, x, box, Design(calls.x, x[free], radius * unit, nothing, radius * unit))
        # A model whose f falls to its end may be a bad one of calls that lie unevenly: it tells nothing for sure.
        if found is None or not (found.tells_minimum and np.isfinite(found.f_star.low)):
            continue
        # Within a smaller radius x is known all the same, though f may be flat there.
        directions = found.directions if radius >= NEAREST * RADIUS else ()
        found = replace(found, f_star=_f_star(found, outputs), directions=directions)
        if _accurate(found) or found.gain.high <= GUESSED * float(np.ptp(calls.y[:, 0])):
            return found
    return None


def _f_star(found: Certainty, outputs: Array) -> Interval:
    """Return the interval of f*: where x is feasible, f there less what is to be gained, which is known better."""
    value, low, high = found.f_star
    unsolved, least = SOLVED * (1.0 + abs(value)), np.inf
    if (outputs[1:] <= 0.0).all():
        least = float(outputs[0])  # f* is no more, whatever the model says
        low = max(low, least - found.gain.high)
    return Interval(*(min(end, least) for end in (max(value, low), low - unsolved, high + unsolved)))
