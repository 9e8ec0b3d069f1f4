"""Curvatures of an online bilevel problem, measured by a few charged calls at the start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Provenance
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems.bilevel import BilevelConstants

_DIRECTIONS, _POWERS, _STEP = 8, 8, 1e-2
"""Directions of differences, power iterations, and length of the differences' steps (chosen by us)."""
_PAIRS, _SHARE = 32, 0.25
"""Pairs of directions in y for the size of g's Hessian, and the length of their steps in units of ||y_1||, or 1 where
that is 0 (chosen by us): a network is not smooth, and shorter differences see its kinks and not its curvature."""
_MARGIN = 3.0
"""How much larger L_g is at least taken to be than the largest curvature along a few directions (chosen by us)."""
_RANK_MARGIN = 30.0
"""How much larger the effective rank is taken to be than that of the start (chosen by us, on a network's seeds 1 to 5
and 7: curvatures grow as it learns, and what steps of 0.01 had learnt in 2000 rounds they lost in the next 3000)."""
_LEAST_CONVEXITY = 0.05
"""Share of L_g that mu_g is at least taken to be (chosen by us). What is smaller along a random direction is hardly
convex, and no theory gives it a step; the leader's goes with the third power, and at a thousandth it stood still."""
_SYSTEM_MARGIN = 10.0
"""How much longer than a first solution the system's may become (chosen by us)."""


def measured_bilevel_constants(
    rounds: BilevelOracle, oracle: Oracle, x0: Array, streams: Streams, first_order: bool
) -> BilevelConstants:
    """Measure L_g, mu_g, L_F and p at (x_1, y_1) from round 0's functions, in the first replica that has them.

    Second differences of values along random directions give mean curvatures of g in y, of f in both, and mixed ones;
    L_g is what power iterations find or, with values alone, that of ``_curvatures_by_values``, at least three times the
    largest found along a direction; mu_g the smallest found; the effective rank 30 times d mean |u'Hu| / L_g. L_F =
    L_fx + L_fy (J / mu_g)^2 with J the norm of the mixed derivative, p = 10 ||grad_y f|| / mu_g.

    Notes
    -----
    Rough on purpose, and ours: enough for steps that do not diverge, not for good ones.
    """
    before, y0 = oracle.account.spent, rounds.initial(streams)
    n, d = x0.shape[1], y0.shape[1]
    in_x, in_y = (_directions(streams, size) for size in (n, d))
    bends = np.abs(_second(lambda y: rounds.inner(_spread(x0, y), y), y0, in_y))
    f_bend = np.abs(_second(lambda y: rounds.outer(_spread(x0, y), y), y0, in_y)).mean(axis=1)
    f_bend_x = np.abs(_second(lambda x: rounds.outer(x, _spread(y0, x)), x0, in_x)).mean(axis=1)
    f_slope = _first(lambda y: rounds.outer(_spread(x0, y), y), y0, in_y) * np.sqrt(d)
    mixed = _mixed(rounds, x0, y0, in_x, in_y) * np.sqrt(n * d)
    largest = _MARGIN * bends.max(axis=1)
    if first_order:
        largest = np.maximum(largest / _MARGIN, _power(rounds, x0, y0, in_y[:, 0]))
        traces = d * bends.mean(axis=1)
    else:
        by_values, mean = _curvatures_by_values(rounds, x0, y0, streams)
        largest, traces = np.maximum(largest, by_values), d * mean
    estimates = np.stack([largest, bends.min(axis=1), f_bend, f_bend_x, f_slope, mixed, traces])
    good = np.flatnonzero(np.isfinite(estimates).all(axis=0))
    estimates = estimates[:, good[0]] if good.size else np.ones(len(estimates))
    curvature = float(estimates[0]) or 1.0
    convexity = float(np.clip(estimates[1], _LEAST_CONVEXITY * curvature, curvature))
    outer = float(estimates[3] + estimates[2] * (estimates[5] / convexity) ** 2) or curvature
    size = float(max(_SYSTEM_MARGIN * estimates[4] / convexity, 1.0))
    rank = float(np.clip(_RANK_MARGIN * estimates[6] / curvature, 1.0, d))
    calls = oracle.account.spent - before
    return BilevelConstants(curvature, convexity, outer, size, rank, provenance=Provenance.MEASURED, calls=calls)


def _directions(streams: Streams, size: int, count: int = _DIRECTIONS, purpose: str = "magnitudes") -> Array:
    """Draw unit vectors, (R, count, size)."""
    u = streams.normal(purpose, count, size)
    return u / np.linalg.norm(u, axis=-1, keepdims=True)


def _spread(fixed: Array, points: Array) -> Array:
    return np.broadcast_to(fixed[:, None], (*points.shape[:2], fixed.shape[-1]))


def _ends(phi: Callable[[Array], Array], centre: Array, u: Array) -> tuple[Array, Array]:
    return phi(centre[:, None] + _STEP * u), phi(centre[:, None] - _STEP * u)


def _second(phi: Callable[[Array], Array], centre: Array, u: Array) -> Array:
    """Return second differences along u, (R, k)."""
    ahead, behind = _ends(phi, centre, u)
    return (ahead - 2.0 * phi(centre[:, None]) + behind) / _STEP**2


def _first(phi: Callable[[Array], Array], centre: Array, u: Array) -> Array:
    """Return the root mean square of the slopes along u, (R,)."""
    ahead, behind = _ends(phi, centre, u)
    return np.sqrt(np.square((ahead - behind) / (2.0 * _STEP)).mean(axis=1))


def _mixed(rounds: BilevelOracle, x: Array, y: Array, u: Array, w: Array) -> Array:
    """Return the root mean square of the mixed second differences of g along pairs of directions, (R,)."""
    values = [
        rounds.inner(x[:, None] + s * _STEP * u, y[:, None] + r * _STEP * w) for s in (1.0, -1.0) for r in (1.0, -1.0)
    ]
    return np.sqrt(np.square((values[0] - values[1] - values[2] + values[3]) / (4.0 * _STEP**2)).mean(axis=1))


def _curvatures_by_values(rounds: BilevelOracle, x: Array, y: Array, streams: Streams) -> tuple[Array, Array]:
    r"""Return g's largest curvature in y as values alone tell it, and the mean size along directions, (R,) each.

    .. math:: L_g \approx \frac{\|H\|_F^2}{d\,\mathrm{mean}\,|u^\top H u|}, \qquad
              \|H\|_F^2 = d^2\,\mathrm{mean}\,(u^\top H w)^2

    over random unit vectors u and w, by four values for each pair. Of a Hessian without negative eigenvalues it is
    their mean, weighted by themselves: the largest where a few of them make up the whole, as a network's do. Along a
    random direction these few are lost among the d others.
    """
    d, size = y.shape[1], np.sqrt(np.square(y).sum(axis=1))
    length = np.where(size > 0, _SHARE * size, 1.0)[:, None]
    u, w = (length[..., None] * _directions(streams, d, _PAIRS, "curvatures") for _ in range(2))
    sums, differences = u + w, u - w
    spread, base = _spread(x, u), y[:, None]
    plus, minus = rounds.inner(spread, base + sums), rounds.inner(spread, base - sums)
    across = rounds.inner(spread, base + differences), rounds.inner(spread, base - differences)
    mixed = (plus + minus - across[0] - across[1]) / (4.0 * length**2)
    middle = rounds.inner(x[:, None], base)
    # u + w is a random direction too, of square length 2: no further calls.
    along = np.abs(np.concatenate([plus + minus, across[0] + across[1]], axis=1) - 2.0 * middle) / (2.0 * length**2)
    mean = along.mean(axis=1)
    return d * np.square(mixed).mean(axis=1) / np.maximum(mean, np.finfo(float).tiny), mean


def _power(rounds: BilevelOracle, x: Array, y: Array, v: Array) -> Array:
    """Return the largest curvature of g in y, (R,), by power iterations from v."""
    size = np.ones(len(v))
    for _ in range(_POWERS):
        image = rounds.hessian_vector(x, y, v)
        size = np.sqrt(np.square(image).sum(axis=-1))
        v = image / np.where(size > 0, size, 1.0)[:, None]
    return size
