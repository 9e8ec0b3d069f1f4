r"""A regression of all outputs around a point whose errors are known: fresh calls judge, older ones lend curvatures.

The calls that led to a point are a biased jury: it was chosen because they were low. So calls that had no part in the
choice tell levels, slopes and curvatures along their own axes; those of before have level and slope of their own, and
tell the rest of the Hessian,

.. math:: y = c_k + g_k^T u + \tfrac12 u^T H u + \tfrac12 \sum_a d_a (a^T u)^2 [k = \text{fresh}] + e,

k being fresh or before. Every estimate is linear in the calls, so that its error is a sum over them: their residuals
(a sandwich, whatever the law of the noise and wherever it is larger), the misfit of a quadratic, and curvatures that
nothing tells.

References
----------
MacKinnon and White (1985), HC3, for the sandwich; Patterson and Thompson (1971) for the magnitudes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.regression import Data, Prior, fit, priors

REACH = 0.45
"""Distance of a design's pairs from its centre, in radii: nearer ones tell slopes badly, farther ones have more misfit
(least width of f* on eight problems)."""
AT_BOUND = 1e-3
"""Distance from a bound, in these, at which a variable is held there: the others' pairs leave it where it is."""
CENTRE_SHARE = 0.4
"""Share of a design's calls at the point itself: levels decide on feasibility (chosen on the same)."""
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
FEW = 6
"""Degrees of freedom of repeated calls from which on they tell the noise."""
FARTHEST, NEAREST = 2.0, 400
"""Earlier points that have a part: within so many radii, and so many distinct ones at most."""
LOOSE = 3.0
"""Spread of curvatures along the axes, in their own root mean squares: with less f(x) was covered in 83 to 89 %."""
LEAST_SHARE = 1e-4
"""Share of an output's range that counts as its noise at least: curvatures are measured in it, and those of an exact
output beside noisy ones would be beyond all that is tried."""
_RIDGE, _LEAST_NOISE, _LEAST_SPREAD, _LEVERAGE = 1e-10, 1e-13, 1e-3, 0.9
"""Guards: of the normal equations, of outputs that repeat, of curvatures that are all 0 along the axes (in the noise),
and of a call that alone tells a coefficient."""


class Calls(NamedTuple):
    """Calls: points (N, n) and outputs (N, 1 + m), f first."""

    x: Array
    y: Array

    @classmethod
    def joined(cls, calls: Sequence[Calls], n: int, m: int) -> Calls:
        """Return several sets of calls as one, of n variables and m constraints."""
        parts = [cls(np.zeros((0, n)), np.zeros((0, m + 1))), *calls]
        return cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @property
    def finite(self) -> Calls:
        """The calls with finite values."""
        return self.among(np.asarray(np.isfinite(self.y).all(axis=1)))

    def among(self, mask: np.ndarray) -> Calls:
        """Return the calls that a mask (N,) selects."""
        return Calls(self.x[mask], self.y[mask])

    def of(self, variables: np.ndarray) -> Calls:
        """Return the calls by some of their variables alone."""
        return Calls(self.x[:, variables], self.y)


class Design(NamedTuple):
    """Points to be called in order to judge one.

    Attributes
    ----------
    points : Array, shape (K, n)
    centre : Array, shape (n,)
        Of the pairs: the point itself, moved so that they keep the bounds.
    reach : Array, shape (n,)
    axes : Array, shape (k n, n)
        Directions of the pairs, of largest entry 1, in units of ``reach``.
    radius : float
        Of the model, in unit lengths.
    """

    points: Array
    centre: Array
    reach: Array
    axes: Array
    radius: float


def coefficients(n: int) -> int:
    """Return the number of coefficients of a quadratic in n variables."""
    return (n + 1) * (n + 2) // 2


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
        near = _near(before, x, radius * unit)
        groups = _Groups((near.x - x) / (radius * unit), near.y)
        misfit = max(one.bias for one in groups.magnitudes(np.maximum(groups.least, noise)))
        if misfit <= most:
            break
        radius *= max(float(most / misfit) ** (1.0 / 3.0), 0.25)
    return float(np.clip(radius, min(least, MOST_RADIUS), MOST_RADIUS))


def _noise_near(calls: Calls, x: Array, unit: Array, radius: float) -> Array:
    """Return the noise (q,) by calls at the same points; where there are few, by what a quadratic leaves nearby."""
    groups = _Groups((calls.x - x) / unit, calls.y)
    if groups.degrees >= FEW:
        return groups.noise
    near = _near(calls, x, radius * unit / FARTHEST)
    u = (near.x - x) / (radius * unit)
    rows = np.concatenate([np.ones((len(u), 1)), u, _quadratic(u)], axis=1)
    rest = near.y - rows @ np.linalg.lstsq(rows, near.y, rcond=None)[0]
    return np.asarray(np.sqrt(np.square(rest).sum(axis=0) / max(len(u) - rows.shape[1], 1)))


def design(
    x: Array,
    unit: Array,
    lower: Array,
    upper: Array,
    calls: int,
    random: np.random.Generator,
    before: Calls,
    bases: int,
) -> Design:
    """Return the points to call in order to judge x: x itself, and pairs along random orthogonal axes.

    A variable at a bound is moved alone, to two places inside.

    Parameters
    ----------
    x, unit, lower, upper : Array, shape (n,)
        The point, the lengths that count as 1, and the bounds; all of free variables alone.
    calls : int
        At least 2 n + 1.
    random : Generator
    before : Calls
        Finite earlier ones, which choose the radius.
    bases : int
        Bases of axes at most: 1 where earlier calls tell the Hessian; (n + 2) / 2 tell the whole of it.
    """
    n, radius = len(x), radius_of(before, x, unit, calls)
    pairs = int(round((1.0 - CENTRE_SHARE) * calls)) // 2
    reach = np.minimum(REACH * radius * unit, (upper - lower) / 2.0)
    room = np.minimum(x - lower, upper - x)
    held, inward = room <= AT_BOUND * reach, np.where(upper - x > x - lower, 1.0, -1.0)
    roomy = np.flatnonzero(~held)
    bases = min(max(1, (pairs - int(held.sum())) // max(roomy.size, 1)), bases)
    axes = np.zeros((bases * roomy.size, n))
    for k in range(bases):
        turned = np.linalg.qr(random.standard_normal((roomy.size, roomy.size)))[0]
        axes[k * roomy.size : (k + 1) * roomy.size, roomy] = turned / np.abs(turned).max(
            axis=1, keepdims=True, initial=0.0
        )
    centre = np.where(held, x + inward * reach, np.clip(x, lower + reach, upper - reach))
    base, inner = np.where(held, x, centre), np.eye(n)[held] * inward
    steps = np.concatenate([axes, -axes]) * reach
    ahead = np.concatenate([inner, 2.0 * inner]) * reach
    places = np.clip(np.concatenate([base + steps, x + ahead]), lower, upper)
    repeats = max(1, 2 * pairs // len(places))
    rest = max(calls - repeats * len(places), 1)
    points = np.concatenate([np.repeat(places, repeats, axis=0), np.tile(x, (rest, 1))])
    return Design(points, centre, reach, np.concatenate([axes, inner]), radius)


class LocalModel:
    """Quadratic models of all outputs around a point, in units of a radius, and the errors of what is linear in them.

    Parameters
    ----------
    before, fresh : Calls
        Finite ones. The first may be none.
    x, unit : Array, shape (n,)
    plan : Design
        That of ``fresh``.
    misfit : bool
        Whether a quadratic's misfit has a part in weights and errors.

    Attributes
    ----------
    value, slope, hessian : Array, shapes (q,), (q, n), (q, n, n)
        At the point, in units of the radius.
    radius : float
        In unit lengths.
    length : Array, shape (n,)
        The radius in each variable.
    noise : Array, shape (q,)
        Standard deviation of one call.
    """

    def __init__(self, before: Calls, fresh: Calls, x: Array, unit: Array, plan: Design, misfit: bool = True) -> None:
        self.radius, self.length = plan.radius, unit * plan.radius
        before = _near(before, x, self.length)
        points, outputs = np.concatenate([fresh.x, before.x]), np.concatenate([fresh.y, before.y])
        self.n, self.q, self.calls = len(x), outputs.shape[1], len(points)
        is_fresh = np.arange(len(points)) < len(fresh.x)
        u = (points - x) / self.length
        groups = _Groups(u, outputs)
        self.noise = groups.noise
        along = plan.axes / np.square(plan.axes).sum(axis=1)[:, None] / plan.reach
        self._axes, self._shift = along * self.length, along @ (x - plan.centre)
        self._regress(u, outputs, is_fresh, groups, misfit)

    def _regress(self, u: Array, outputs: Array, is_fresh: np.ndarray, groups: _Groups, misfit: bool) -> None:
        n, linear = self.n, np.concatenate([np.ones((len(u), 1)), u], axis=1)
        parts = [linear * is_fresh[:, None], linear * ~is_fresh[:, None]] if not is_fresh.all() else [linear]
        along = 0.5 * np.square(u @ self._axes.T + self._shift) * is_fresh[:, None]
        rows = np.concatenate([*parts, _quadratic(u), along], axis=1)
        first = rows.shape[1] - len(self._axes) - n * (n + 1) // 2  # of the quadratic part
        self._used = np.r_[0 : n + 1, first : rows.shape[1]]  # what fresh calls are described by
        shrunk, loose = np.split(np.arange(first, rows.shape[1]), [n * (n + 1) // 2])
        scale = np.maximum(groups.noise, groups.least)
        chosen = [one if misfit else one._replace(bias=0.0) for one in groups.magnitudes(scale)]
        cube = np.power(np.abs(u).max(axis=1), 3)
        weights, self._maps, self._unknown = [], [], []
        self._residual, leverage = np.zeros_like(outputs), np.zeros_like(outputs)
        solved: dict[tuple[Prior, float], tuple[Array, Array, Array]] = {}
        for j, prior in enumerate(chosen):
            precision = np.zeros(rows.shape[1])
            precision[shrunk] = prior.curvature**-2
            share = 1.0 / (1.0 + groups.counts[groups.of] * np.square(prior.bias * cube))
            free = _solve(rows, share, precision)[0] @ outputs[:, j]
            root = float(np.sqrt(np.square(free[loose]).mean())) if loose.size else 0.0
            spread = max(LOOSE * root / scale[j], _LEAST_SPREAD)
            precision[loose] = spread**-2
            if (prior, spread) not in solved:
                solved[prior, spread] = _solve(rows, share, precision)
            map_, inverse, own = solved[prior, spread]
            self._maps.append(map_)
            self._unknown.append(inverse * np.sqrt(precision) * scale[j])
            weights.append(map_ @ outputs[:, j])
            leverage[:, j], self._residual[:, j] = own, outputs[:, j] - rows @ weights[-1]
        self._residual /= 1.0 - np.clip(leverage, 0.0, _LEVERAGE)
        self._of, bias = groups.of, np.array([prior.bias for prior in chosen])
        self._misfit = bias * scale * cube[groups.first][:, None]
        self._read(np.array(weights)[:, self._used])

    def _read(self, weights: Array) -> None:
        """Take value, slope and Hessian at the point from coefficients (q, p)."""
        n, (i, j) = self.n, np.triu_indices(self.n, 1)
        self.value, self.slope = weights[:, 0], weights[:, 1 : n + 1]
        self.hessian = np.zeros((self.q, n, n))
        self.hessian[:, np.arange(n), np.arange(n)] = np.sqrt(2.0) * weights[:, n + 1 : 2 * n + 1]
        last = coefficients(n)
        self.hessian[:, i, j] = self.hessian[:, j, i] = weights[:, 2 * n + 1 : last]
        along = weights[:, last:]
        self.value = self.value + 0.5 * along @ np.square(self._shift)
        self.slope = self.slope + along @ (self._shift[:, None] * self._axes)
        self.hessian += np.einsum("qa,ai,aj->qij", along, self._axes, self._axes)

    def value_at(self, u: Array) -> Array:
        """Return the outputs (q,) at a point u (n,)."""
        return np.asarray(self.value + self.slope @ u + 0.5 * (self.hessian @ u) @ u)

    def slope_at(self, u: Array) -> Array:
        """Return the derivatives (q, n) at a point u (n,)."""
        return np.asarray(self.slope + self.hessian @ u)

    def value_row(self, u: Array) -> Array:
        """Return what every coefficient has in an output at u, (p,)."""
        along = 0.5 * np.square(self._axes @ u + self._shift)
        return np.concatenate([[1.0], u, _quadratic(u[None])[0], along])

    def slope_rows(self, u: Array) -> Array:
        """Return what every coefficient has in an output's derivatives at u, (n, p)."""
        n, pairs = self.n, list(zip(*np.triu_indices(self.n, 1), strict=True))
        rows = np.zeros((n, coefficients(n) + len(self._axes)))
        rows[:, 1 : n + 1] = np.eye(n)
        rows[np.arange(n), n + 1 + np.arange(n)] = np.sqrt(2.0) * u
        for k, (i, j) in enumerate(pairs):
            rows[i, 2 * n + 1 + k], rows[j, 2 * n + 1 + k] = u[j], u[i]
        rows[:, coefficients(n) :] = (self._axes * (self._axes @ u + self._shift)[:, None]).T
        return rows

    def errors(self, functionals: Array) -> Errors:
        """Return the errors of linear functionals (k, q, p) of the outputs' coefficients."""
        by_call = np.zeros((len(functionals), self.calls))
        rest = np.zeros((len(functionals), len(functionals)))
        for j in range(self.q):
            if not functionals[:, j].any():
                continue
            effect = functionals[:, j] @ self._maps[j][self._used]
            by_call += effect * self._residual[:, j]
            grouped = np.array([np.bincount(self._of, one) for one in effect]) * self._misfit[:, j]
            unknown = functionals[:, j] @ self._unknown[j][self._used]
            rest += grouped @ grouped.T + unknown @ unknown.T
        noise = by_call @ by_call.T
        # Satterthwaite's: of a sum of squares of calls, some of which weigh more than others.
        own = np.diag(noise)
        degrees = 3.0 * np.square(own) / np.maximum((by_call**4).sum(axis=1), 1e-300)
        degrees = degrees * np.square((own + np.diag(rest)) / np.maximum(own, 1e-300))
        return Errors(noise, noise + rest, np.clip(degrees, 3.0, 1e4))


class Errors(NamedTuple):
    """Covariances (k, k) of estimates by noise alone and in all, and their degrees of freedom (k,)."""

    noise: Array
    all: Array
    degrees: Array


class _Groups:
    """Calls at the same points together."""

    def __init__(self, u: Array, outputs: Array) -> None:
        _, self.first, of, counts = np.unique(u, axis=0, return_index=True, return_inverse=True, return_counts=True)
        self.of, self.counts, self._u = of.reshape(-1), counts.astype(float), u
        sums = np.stack([np.bincount(self.of, column) for column in outputs.T], axis=1)
        self._means = sums / self.counts[:, None]
        square = np.square(outputs - self._means[self.of]).sum(axis=0)
        self.degrees = float((self.counts - 1.0).sum())
        noise, size = np.sqrt(square / max(self.degrees, 1.0)), 1.0 + np.abs(outputs).max(axis=0)
        self.noise = np.where(noise > _LEAST_NOISE * size, noise, 0.0)
        self.least = np.maximum(_LEAST_NOISE * size, LEAST_SHARE * np.ptp(outputs, axis=0))

    def magnitudes(self, noise: Array) -> list[Prior]:
        """Return the sizes of curvature and of misfit of each output, in its noise (q,), by restricted likelihood."""
        u = self._u[self.first]
        full = [one for one in priors(u.shape[1], STANDARD) if one.kind == 0]
        return fit(Data(u, np.abs(u).max(axis=1), self.counts, self._means, np.zeros((len(u), 0))), noise, full).priors


def _near(calls: Calls, x: Array, length: Array) -> Calls:
    """Return the calls within reach of x, at the nearest points."""
    distance = np.abs((calls.x - x) / length).max(axis=1)
    distinct = np.unique(distance)
    keep = distance <= min(FARTHEST, distinct[min(NEAREST, len(distinct)) - 1]) if len(distance) else distance > 0.0
    return calls.among(np.asarray(keep))


def _quadratic(u: Array) -> Array:
    """Return features (N, n (n + 1) / 2) whose inner products are (u^T v)^2 / 2."""
    i, j = np.triu_indices(u.shape[1], 1)
    return np.concatenate([np.square(u) / np.sqrt(2.0), u[:, i] * u[:, j]], axis=1)


def _solve(rows: Array, weight: Array, precision: Array) -> tuple[Array, Array, Array]:
    """Return the map (p, N) from outputs to coefficients, the inverse (p, p) of its matrix, and the leverages (N,)."""
    from scipy import linalg

    gram = (rows * weight[:, None]).T @ rows
    inverse = linalg.pinvh(gram + np.diag(precision + _RIDGE * np.trace(gram) / len(gram)))
    map_ = inverse @ (rows * weight[:, None]).T
    return map_, inverse, np.einsum("ip,pi->i", rows, map_)
