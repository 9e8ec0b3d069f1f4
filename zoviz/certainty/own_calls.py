"""The certainty of an answer whose values repeat, by the calls that led to it: no further one is made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zoviz.certainty import lengths
from zoviz.certainty.calls import Calls, coefficients
from zoviz.certainty.certainty import Certainty, exact
from zoviz.certainty.estimate import estimated
from zoviz.certainty.local_model import Design
from zoviz.certainty.stationarity import Interval
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.restart_rules import unit_lengths

MOST_VARIABLES = 12
"""Free variables up to which the calls are fitted: beyond, it is more than a tenth of a second."""
LEAST_RADIUS = 1e-4
"""Radius, in unit lengths, within which the minimum is looked for at least, however near the last calls lie."""
SOLVED = 1e-9
"""Relative accuracy to which a model's minimum is found: misfit of calls that a quadratic fits exactly may be less."""
SPREAD = 0.02
"""Smallest singular value of the directions to the calls, over its largest value of evenly spread ones, from which on
they tell all slopes."""


def nearby(calls: Calls, x: Array, box: Box) -> Calls | None:
    """Return the calls nearest to an answer x (n,), as many as a quadratic takes; None where they do not tell one."""
    free, own = box.variable, calls.finite
    n = int(free.sum())
    if not 1 <= n <= MOST_VARIABLES:
        return None
    steps = (own.x[:, free] - x[free]) / unit_lengths(box.lower[free], box.upper[free], x[free])
    distance = np.abs(steps).max(axis=1)
    _, first = np.unique(own.x, axis=0, return_index=True)
    first = first[(distance[first] > lengths.LEAST_RADIUS) & (distance[first] <= lengths.MOST_RADIUS)]
    enough = int(lengths.POINTS * coefficients(n)) + 2
    if len(first) < enough:
        return None
    near = first[np.argsort(distance[first], kind="stable")][:enough]
    directions = steps[near] / np.linalg.norm(steps[near], axis=1, keepdims=True)
    if np.linalg.svd(directions, compute_uv=False)[-1] < SPREAD * np.sqrt(enough / n):
        return None
    return Calls(own.x[near], own.y[near])


def repeating(
    near: Calls | None, x: Array, outputs: Array, multipliers: Array, box: Box, tolerance: Array | float
) -> Certainty:
    """Return how sure an answer is whose values repeat: f* and multipliers by a model of the calls nearby.

    Parameters
    ----------
    near : Calls or None
        As ``nearby`` returns them.
    x : Array, shape (n,)
    outputs : Array, shape (1 + m,)
        f and h at x, which are exact.
    multipliers : Array, shape (m,)
        Those of the method, where there is no model; NaN for none.
    box : Box
    tolerance : Array, shape (m,), or float
        Largest h that counts as 0.
    """
    known = exact(x, float(outputs[0]), outputs[1:], multipliers, tolerance)
    if near is None or not np.isfinite(outputs).all():
        return known
    free = box.variable
    unit = unit_lengths(box.lower[free], box.upper[free], x[free])
    farthest = float(np.abs((near.x[:, free] - x[free]) / unit).max())
    calls = Calls(np.concatenate([x[None], near.x]), np.concatenate([outputs[None], near.y]))
    none, nothing = Calls.joined([], len(x), len(outputs) - 1), np.zeros((0, int(free.sum())))
    for radius in (farthest, max(farthest, LEAST_RADIUS)):  # the first may be too small to hold a feasible point
        found = estimated(none, calls, x, box, Design(calls.x, x[free], radius * unit, nothing, radius * unit))
        # A model whose f falls to its end may be a bad one of calls that lie unevenly: it tells nothing for sure.
        if found is not None and found.tells_minimum and np.isfinite(found.f_star.low):
            unsolved = SOLVED * (1.0 + abs(found.f_star.value))
            # Where x is feasible f* is no more than f there, whatever the model says.
            least = float(outputs[0]) if (outputs[1:] <= 0.0).all() else np.inf
            low, high = found.f_star.low - unsolved, found.f_star.high + unsolved
            f_star = Interval(*(min(end, least) for end in (found.f_star.value, low, high)))
            exactly = replace(known, f_star=f_star, gain=found.gain, x_star=found.x_star, note=found.note)
            return replace(exactly, activity=found.activity, multipliers=found.multipliers)
    return known
