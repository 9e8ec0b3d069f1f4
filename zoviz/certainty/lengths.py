r"""How far from a point its model reaches, variable by variable, by the calls that led to the point.

Bounds may be hundreds of times as wide as the region in which a function matters. Where one variable curves outputs far
more than the others, what calls do not show of the Hessian would be taken to be as large, and hide the rest. So the
lengths of such stiff variables are shortened, until outputs curve along them about as much as along the others, or
little in the noise. A diagonal quadratic of the calls nearby tells how stiff they are, and again after each step:
only when the stiffest are short do calls tell it of the others.
"""

from __future__ import annotations

import numpy as np

from zoviz.certainty.calls import FARTHEST, FEW, Calls, Groups, coefficients, near_by, quadratic, ridge
from zoviz.core.types import Array

CALLS = 16
"""Calls of a design for each of n + 1: 95 % intervals of f of half a standard deviation of the noise at n = 4."""
MOST_RADIUS, MISFIT = 0.5, 1.0
"""Largest radius in unit lengths, and the misfit at its end, in standard deviations of a call, up to which one is taken
though nearer points would do, with 16 (n + 1) calls: those of a run's end often lie so near each other that noise hides
all between them."""
LEAST_RADIUS = 1e-9
"""Smallest radius in unit lengths: nearer points differ by round-off."""
POINTS = 1.5
"""Distinct points within the radius, for each coefficient of a quadratic."""
CURVED = 20.0
"""Curvature over a variable's length, in the noise of f*, up to which it is not stiff (of 5, 10, 20, 50 and 100 the one
of the narrowest intervals of f* on seven problems with wide bounds)."""
ALIKE = 2.0
"""Curvatures up to this multiple of the lower quartile count as alike (of 1, 2 and 4 the one with narrow intervals
there and the same ones as without where bounds are narrow)."""
SURE = 2.0
"""Standard errors from 0 at which a curvature is known."""
HIDDEN = 100.0
"""Standard deviation of a Hessian's entries, in that of a call, of which calls leave little where they tell them."""
_SHORTER, _TOGETHER, _STEPS, _ROUNDS = 4.0, 16.0, 40, 3
"""Factor by which a length is shortened at most in a step, factor from the stiffest of those that are shortened with
it, and steps and rounds at most."""
_SMALLEST = 1e-6
"""Share of an output's range that its noise is at least: of exact ones, too."""


def lengths_of(before: Calls, x: Array, unit: Array, calls: int) -> Array:
    """Return how far a model reaches in each variable, (n,).

    Where calls leave more of the Hessian unknown than the axes of a design tell, all variables are shortened in which
    outputs curve much, not only those in which they curve more than in the others.

    Parameters
    ----------
    before : Calls
    x, unit : Array, shape (n,)
    calls : int
        Of the design.
    """
    length = MOST_RADIUS * unit
    for alike in (ALIKE, 0.0):
        most = longest(before, x, MOST_RADIUS * unit, alike)
        length = _misfitting(before, x, unit, most, calls)
        if unknown(before, x, length) <= len(x):
            break
    return length


def longest(calls: Calls, x: Array, length: Array, alike: float) -> Array:
    """Return the lengths (n,), at most those given, over which no variable is stiff.

    Parameters
    ----------
    calls : Calls
    x, length : Array, shape (n,)
    alike : float
        How many times the lower quartile of curvatures are no stiffness.
    """
    length, noise = length.copy(), np.zeros(0)
    stiffness, known = np.zeros(len(x)), np.zeros(len(x), dtype=bool)
    if not len(calls.x):
        return length
    groups = Groups(calls.x - x, calls.y)
    for _ in range(_STEPS):
        near = np.flatnonzero((np.abs(groups.points) <= FARTHEST * length).all(axis=1))
        degrees = float((groups.counts[near] - 1.0).sum())
        if degrees >= FEW:
            noise = np.sqrt(groups.squares[near].sum(axis=0) / degrees)
        if not noise.size or not near.size:
            break
        low, high = _curvatures(groups.points[near] / length, groups.means[near], groups.counts[near], noise)
        stiffness = np.minimum(np.maximum(low, stiffness), high)
        limit = max(CURVED, alike * float(np.quantile(stiffness, 0.25, method="lower")))
        stiff = (stiffness > limit) & (stiffness * _TOGETHER >= stiffness.max())
        shorter = np.where(stiff, np.maximum(np.sqrt(limit / np.maximum(stiffness, limit)), 1.0 / _SHORTER), 1.0)
        if (shorter > 0.95).all():
            break
        length *= shorter
        known |= stiff  # what farther calls told of these holds until nearer ones contradict
        stiffness = np.where(known, stiffness * np.square(shorter), 0.0)
    return length


def _curvatures(u: Array, y: Array, counts: Array, noise: Array) -> tuple[Array, Array]:
    """Return what each variable's curvature is at least and at most, (n,), in noise of f*, by means at points (N, n).

    Slopes and curvatures are thought to be no larger than the outputs' range. Constraints count by what they are worth:
    the multipliers that explain the slope of f with the least noise.
    """
    n, q = u.shape[1], y.shape[1]
    rows = np.concatenate([np.ones((len(u), 1)), u, 0.5 * np.square(u)], axis=1)
    y, spread = y - y.mean(axis=0), np.ptp(y, axis=0)
    noise = np.maximum(noise, np.maximum(_SMALLEST * spread, 1e-300))
    slope, low, high = np.zeros((3, q, n))
    for j in np.flatnonzero(spread > 0.0):
        map_, inverse, _ = ridge(rows, counts, np.append(0.0, np.full(2 * n, (noise[j] / spread[j]) ** 2)))
        weights = map_ @ y[:, j]
        rest = counts @ np.square(y[:, j] - rows @ weights) / max(len(u) - rows.shape[1], 1)
        size = SURE * np.sqrt(max(noise[j] ** 2, rest if len(u) > rows.shape[1] else 0.0))
        own = size * np.sqrt(np.square(map_) @ (1.0 / counts))
        slope[j], curvature = weights[1 : n + 1], np.abs(weights[n + 1 :])
        low[j] = np.maximum(curvature - own[n + 1 :], 0.0)
        high[j] = curvature + size * np.sqrt(np.diag(inverse)[n + 1 :])
    scaled = slope / noise[:, None]
    worth = np.append(1.0, np.linalg.solve(scaled[1:] @ scaled[1:].T + np.eye(q - 1), scaled[1:] @ scaled[0]))
    share = (np.abs(worth) / noise / np.abs(worth).max())[:, None]
    return (share * low).max(axis=0), (share * high).max(axis=0)


def unknown(calls: Calls, x: Array, length: Array) -> float:
    """Return how many entries of a Hessian, of n (n + 1) / 2, calls within some lengths (n,) of x do not tell."""
    near, n = near_by(calls, x, length), len(x)
    u = (near.x - x) / length
    rows = np.concatenate([np.ones((len(u), 1)), u, quadratic(u)], axis=1)
    precision = np.full(rows.shape[1], HIDDEN**-2)
    precision[: n + 1] = 0.0
    inverse = ridge(rows, np.ones(len(u)), precision)[1]
    return float(np.diag(inverse)[n + 1 :].sum() * HIDDEN**-2)


def _misfitting(before: Calls, x: Array, unit: Array, most: Array, calls: int) -> Array:
    """Return the lengths (n,) of one radius for all variables, at most given ones, in which misfit is no problem."""
    radius = MOST_RADIUS
    for _ in range(_ROUNDS):
        found = radius_of(before, x, np.minimum(unit, most / radius), calls)
        if found >= radius:
            break
        radius = found
    return np.minimum(radius * unit, most)


def radius_of(before: Calls, x: Array, unit: Array, calls: int) -> float:
    """Return the radius, in unit lengths, in which earlier calls suffice for a quadratic and misfit is below the noise.

    Parameters
    ----------
    before : Calls
    x, unit : Array, shape (n,)
    calls : int
        Of the design: the more there are, the less misfit they bear.
    """
    distance = np.sort(np.abs((np.unique(before.x, axis=0) - x) / unit).max(axis=1))
    if len(distance) <= len(x) + 1:
        return MOST_RADIUS
    most = MISFIT * np.sqrt(CALLS * (len(x) + 1) / calls)
    enough = min(int(POINTS * coefficients(len(x))) + 2, len(distance))
    least = max(float(distance[enough - 1]), LEAST_RADIUS)
    noise = _noise_near(before, x, unit, least)
    radius = MOST_RADIUS
    while radius > least:
        around = (distance > 0.5 * radius) & (distance <= FARTHEST * radius)
        if around.sum() <= 2 * len(x):  # nothing is known of so far away
            radius *= 0.5
            continue
        near = near_by(before, x, radius * unit)
        groups = Groups((near.x - x) / (radius * unit), near.y)
        misfit = max(one.bias for one in groups.magnitudes(np.maximum(groups.least(), noise)))
        if misfit <= most:
            break
        radius *= max(float(most / misfit) ** (1.0 / 3.0), 0.25)
    return float(np.clip(radius, min(least, MOST_RADIUS), MOST_RADIUS))


def _noise_near(calls: Calls, x: Array, unit: Array, radius: float) -> Array:
    """Return the noise (q,) by calls at the same points; where there are few, by what a quadratic leaves nearby."""
    groups = Groups((calls.x - x) / unit, calls.y)
    if groups.degrees >= FEW:
        return groups.noise
    near = near_by(calls, x, radius * unit / FARTHEST)
    u = (near.x - x) / (radius * unit)
    rows = np.concatenate([np.ones((len(u), 1)), u, quadratic(u)], axis=1)
    rest = near.y - rows @ np.linalg.lstsq(rows, near.y, rcond=None)[0]
    return np.asarray(np.sqrt(np.square(rest).sum(axis=0) / max(len(u) - rows.shape[1], 1)))
