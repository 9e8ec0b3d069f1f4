"""The archive of the noisy arm: distinct points with their outputs, and the rows among these that form equalities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import SQPConstants

_LEAST_NOISE = 1e-13

_NONE = np.empty((0, 2), dtype=np.int64)


class Pairs(NamedTuple):
    """Pairs of constraints with h_i = -c h_j, which are equalities, and pairs that turned out not to be.

    Attributes
    ----------
    rows, banned : ndarray of int, shape (k, 2)
        Places among the m constraints; ``banned`` is never paired again.
    ratios : Array, shape (k,)
        The ratio c of each pair: 1 for -h and h, but for the units that scaling under noise has measured for them.
        Empty: 1 for all.
    """

    rows: np.ndarray
    banned: np.ndarray
    ratios: Array = np.empty(0)

    def paired(self, m: int) -> np.ndarray:
        """Return which constraints belong to a pair, (m,) of bool."""
        mask = np.zeros(m, dtype=bool)
        mask[self.rows.ravel()] = True
        return mask

    def joined(self, values: Array, noise: Array) -> tuple[Array, Array]:
        """Return values (..., 1 + m) and noise (1 + m,) with e = (h_i - c h_j) / 2 and -e / c as the rows of a pair."""
        if not len(self.rows):
            return values, noise
        values, noise = values.copy(), noise.copy()
        i, j = 1 + self.rows[:, 0], 1 + self.rows[:, 1]
        ratios = self.ratios if len(self.ratios) else np.ones(len(self.rows))
        half = (values[..., i] - ratios * values[..., j]) / 2.0
        values[..., i], values[..., j] = half, -half / ratios
        noise[i] = np.hypot(noise[i], ratios * noise[j]) / 2.0
        noise[j] = noise[i] / ratios
        return values, noise


class Batches(NamedTuple):
    """Calls one by one, where those of a batch share a sample of the noise: their differences are precise.

    Attributes
    ----------
    points : Array, shape (K, n)
    values : Array, shape (K, 1 + m)
    numbers : ndarray of int, shape (K,)
        Of the batch of each.
    """

    points: Array
    values: Array
    numbers: np.ndarray

    def difference(self, point: Array, other: Array) -> tuple[Array, int]:
        """Return the mean difference (1 + m,) of outputs at points (n,) in the batches of both, and their number."""
        here, there = ((self.points == one).all(axis=1) for one in (point, other))
        both = np.intersect1d(self.numbers[here], self.numbers[there])
        common = np.isin(self.numbers, both)
        sums = [self.values[rows & common].sum(axis=0) for rows in (here, there)]
        return (sums[0] - sums[1]) / max(len(both), 1), len(both)


class Rows(NamedTuple):
    """What models are fitted to: points (N, n), the calls (N,) that each row is of, their means (N, 1 + m).

    And the numbers of their batches, (N, 1), where batches share noise; (N, 0) elsewhere.
    """

    points: Array
    counts: Array
    means: Array
    numbers: np.ndarray

    @property
    def batched(self) -> bool:
        """Whether the points of a batch share their noise."""
        return self.numbers.shape[1] > 0


class Archive(NamedTuple):
    """An archive of distinct points, with the mean and the spread of the outputs over the calls at each.

    Attributes
    ----------
    points : Array, shape (N, n)
    counts : Array, shape (N,)
        Calls at each point.
    means, squares : Array, shape (N, 1 + m)
        Mean of the outputs, f first, and sum of their squared deviations from it.
    spread : Array, shape (1 + m,)
        Sum of the squared deviations at all points, those that were dropped included.
    degrees : float
        Degrees of freedom of ``spread``.
    largest : float or Array, shape (1 + m,)
        A value beyond it is a failure and no data.
    pairs : Pairs
    batches : Batches or None
        The same calls by batches, under common noise.
    """

    points: Array
    counts: Array
    means: Array
    squares: Array
    spread: Array
    degrees: float
    largest: float | Array
    pairs: Pairs = Pairs(_NONE, _NONE)
    batches: Batches | None = None

    @property
    def noise(self) -> Array:
        """The pooled standard deviation of every output, (1 + m,)."""
        return np.maximum(np.sqrt(self.spread / max(1.0, self.degrees)), _LEAST_NOISE)

    @property
    def rows(self) -> Rows:
        """The distinct points; the calls one by one where those of a batch share noise."""
        if self.batches is None:
            return Rows(self.points, self.counts, self.means, np.empty((len(self.counts), 0)))
        points, values, numbers = self.batches
        return Rows(points, np.ones(len(points)), values, numbers[:, None])

    def find(self, point: Array) -> int:
        """Return the place of a point (n,) in the archive, -1 where it is not there."""
        places = np.flatnonzero((self.points == point).all(axis=1))
        return int(places[0]) if len(places) else -1

    def local_noise(self, near: np.ndarray, c: SQPConstants) -> Array:
        """Return the noise (1 + m,) at the points of the mask ``near`` (N,); the pooled one where few are repeated.

        So noise that differs from one region to another is known where it matters.
        """
        degrees = float((self.counts[near] - 1.0).sum())
        if degrees < c.local_degrees:
            return self.noise
        return np.maximum(np.sqrt(self.squares[near].sum(axis=0) / degrees), _LEAST_NOISE)


def empty(n: int, first: Array, c: SQPConstants) -> Archive:
    """Return an archive without points, for a problem with these values (1 + m,) at its start."""
    rows = np.empty((0, len(first)))
    largest = c.failure * max(1.0, float(np.abs(first[np.isfinite(first)]).max(initial=0.0)))
    return Archive(np.empty((0, n)), np.empty(0), rows, rows, np.zeros(len(first)), 0.0, largest)


def add(archive: Archive, points: Array, values: Array, common: bool = False) -> tuple[Archive, np.ndarray]:
    """Return the archive with more calls, and which of them gave values, (q,) of bool.

    Parameters
    ----------
    archive : Archive
    points, values : Array, shapes (q, n) and (q, 1 + m)
    common : bool
        Whether the calls share one sample of the noise: those at one point then count once.
    """
    good = np.asarray((np.abs(values) < archive.largest).all(axis=1))  # NaN and infinite values are not
    if not good.any():
        return archive, good
    distinct, group = _groups(points[good])
    q = len(distinct)
    counts = np.bincount(group, minlength=q).astype(float)
    means = np.zeros((q, values.shape[1]))
    np.add.at(means, group, values[good])
    means /= counts[:, None]
    squares = np.zeros_like(means)
    np.add.at(squares, group, np.square(values[good] - means[group]))
    if common:
        counts, squares = np.ones(q), np.zeros_like(squares)
        archive = archive._replace(batches=_with_batch(archive.batches, distinct, means))
    return _merge(archive, distinct, counts, means, squares), good


def _with_batch(batches: Batches | None, points: Array, values: Array) -> Batches:
    """Return the batches and another one, of points (q, n) with values (q, 1 + m)."""
    if batches is None:
        return Batches(points, values, np.zeros(len(points), dtype=np.int64))
    number = np.full(len(points), batches.numbers[-1] + 1)
    joined = zip(batches, (points, values, number), strict=True)
    return Batches(*(np.concatenate(pair) for pair in joined))


def with_rounding(archive: Archive, quantum: Array, c: SQPConstants) -> Archive:
    """Return the archive of outputs that are rounded to multiples of ``quantum`` (1 + m,): that is all their noise."""
    return archive._replace(spread=c.known_degrees * np.square(quantum) / 12.0, degrees=c.known_degrees)


def with_sizes(archive: Archive, sizes: Array) -> Archive:
    """Return the archive with its outputs divided by ``sizes``, (1 + m,)."""
    return archive._replace(
        means=archive.means / sizes,
        squares=archive.squares / np.square(sizes),
        spread=archive.spread / np.square(sizes),
        largest=archive.largest / sizes,
        batches=None if archive.batches is None else archive.batches._replace(values=archive.batches.values / sizes),
    )


def trim(archive: Archive, centre: Array, scale: Array, capacity: int) -> Archive:
    """Return the archive without the points farthest from a centre (n,), once there are more than ``capacity``."""
    if archive.batches is not None and len(archive.batches.points) > capacity:
        keep = _nearest(archive.batches.points, centre, scale, 0.0, capacity)
        archive = archive._replace(batches=Batches(*(column[keep] for column in archive.batches)))
    if len(archive.counts) <= capacity:
        return archive
    keep = _nearest(archive.points, centre, scale, 0.3 * np.log(archive.counts), capacity)
    return archive._replace(
        points=archive.points[keep],
        counts=archive.counts[keep],
        means=archive.means[keep],
        squares=archive.squares[keep],
    )


def _nearest(points: Array, centre: Array, scale: Array, bonus: Array | float, capacity: int) -> np.ndarray:
    """Return the places of the points nearest in the logarithm of the distance less a bonus, 3/4 of the capacity."""
    distance = np.abs((points - centre) / scale).max(axis=1)
    order = np.argsort(np.log(np.maximum(distance, 1e-300)) - bonus, kind="stable")
    return np.sort(order[: 3 * capacity // 4])


def _groups(points: Array) -> tuple[Array, np.ndarray]:
    """Return the distinct points in the order in which they come first, and the group of each."""
    _, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.int64)
    place[order] = np.arange(len(first))
    return points[np.sort(first)], place[inverse.reshape(-1)]


def _merge(archive: Archive, points: Array, counts: Array, means: Array, squares: Array) -> Archive:
    """Join groups of calls to the archive (Chan, Golub and LeVeque, 1983, for sums of squares in two parts)."""
    spread, degrees = archive.spread + squares.sum(axis=0), archive.degrees + float((counts - 1.0).sum())
    places = np.array([archive.find(point) for point in points], dtype=np.int64)
    old, new = places >= 0, places < 0
    all_counts, all_means, all_squares = archive.counts.copy(), archive.means.copy(), archive.squares.copy()
    if old.any():
        at = places[old]
        before, more = archive.counts[at][:, None], counts[old][:, None]
        change = means[old] - archive.means[at]
        between = np.square(change) * before * more / (before + more)
        all_counts[at] += counts[old]
        all_means[at] += change * more / (before + more)
        all_squares[at] += squares[old] + between
        spread, degrees = spread + between.sum(axis=0), degrees + float(old.sum())
    return Archive(
        np.concatenate([archive.points, points[new]]),
        np.concatenate([all_counts, counts[new]]),
        np.concatenate([all_means, means[new]]),
        np.concatenate([all_squares, squares[new]]),
        spread,
        degrees,
        archive.largest,
        archive.pairs,
        archive.batches,
    )


def surely_inside(archive: Archive, tolerance: Array, errors: float) -> Array:
    """Return the point of the lowest mean f where all constraints hold by some standard errors, (1, n); (0, n) if none.

    Parameters
    ----------
    archive : Archive
        Rows of its pairs hold where they cannot be told from 0.
    tolerance : Array, shape (m,)
    errors : float
        Standard errors of the means.
    """
    values, noise = archive.pairs.joined(archive.means, archive.noise)
    h, uncertainty = values[:, 1:], errors * noise[1:] / np.sqrt(archive.counts)[:, None]
    upper = np.where(archive.pairs.paired(len(tolerance)), np.abs(h) - uncertainty, h + uncertainty)
    inside = (upper <= tolerance).all(axis=1)
    if not inside.any():
        return archive.points[:0]
    best = int(np.argmin(np.where(inside, values[:, 0], np.inf)))
    return archive.points[best : best + 1]


def detected_pairs(archive: Archive, c: SQPConstants) -> Pairs:
    """Return the pairs that the archive shows: rows whose sum h_i + c h_j is pure noise at every point."""
    h, counts, pairs = archive.means[-c.pair_points :, 1:], archive.counts[-c.pair_points :], archive.pairs
    noise, m = archive.noise[1:], h.shape[1]
    if m < 2 or not len(h):
        return Pairs(_NONE, pairs.banned)
    wide = _limit_factor(archive)
    visible = np.ptp(h, axis=0) > c.pair_change * noise
    in_pair, rows, ratios = np.zeros(m, dtype=bool), [], []
    for i in range(m - 1):
        others = np.arange(i + 1, m)
        others = others[~in_pair[others] & visible[others]]
        if in_pair[i] or not visible[i] or not len(others):
            continue
        ratio = _ratios(h[:, [i]], h[:, others], counts, noise[i], noise[others])
        square = _squares(h[:, [i]], h[:, others], counts, noise[i], noise[others], ratio)
        pure = (square.max(axis=0) < (c.pair_far * wide) ** 2) & (square.mean(axis=0) < c.pair_mean_square * wide)
        pure &= (ratio > 1.0 / c.pair_unequal) & (ratio < c.pair_unequal)
        candidates = [k for k in np.flatnonzero(pure) if not (pairs.banned == (i, others[k])).all(axis=1).any()]
        if candidates:
            j = int(others[candidates[0]])
            rows.append((i, j))
            ratios.append(ratio[candidates[0]])
            in_pair[[i, j]] = True
    return pairs._replace(rows=np.array(rows, dtype=np.int64).reshape(-1, 2), ratios=np.array(ratios, dtype=float))


def tested_pairs(archive: Archive, c: SQPConstants) -> Pairs:
    """Return the pairs, their ratios fitted to all points, without those whose sums are no longer pure noise.

    These are banned.
    """
    pairs = archive.pairs
    if not len(pairs.rows):
        return pairs
    h, noise = archive.means[:, 1:], archive.noise[1:]
    i, j = pairs.rows.T
    ratios = _ratios(h[:, i], h[:, j], archive.counts, noise[i], noise[j])
    square = _squares(h[:, i], h[:, j], archive.counts, noise[i], noise[j], ratios)
    usual = (c.again_mean_square + c.again_spread * np.sqrt(2.0 / len(h))) * _limit_factor(archive)
    pure = (square.mean(axis=0) < usual) & (square.max(axis=0) < c.again_far)
    return Pairs(pairs.rows[pure], np.concatenate([pairs.banned, pairs.rows[~pure]]), ratios[pure])


def _ratios(h: Array, other: Array, counts: Array, noise: Array, other_noise: Array) -> Array:
    """Return the ratios c (k,) of h = -c other, from rows (N, k) with noise on both sides; 0 where there is none.

    The slope of Deming's regression through the origin, of most likelihood where the noise of both is known.
    """
    weights, share = counts[:, None], np.square(noise / other_noise)
    yy, xx = (weights * np.square(h)).sum(axis=0), (weights * np.square(other)).sum(axis=0)
    xy = -(weights * h * other).sum(axis=0)
    difference = yy - share * xx
    top = difference + np.sqrt(np.square(difference) + 4.0 * share * np.square(xy))
    return np.where(xy > 0.0, top / np.where(xy > 0.0, 2.0 * xy, 1.0), 0.0)


def _squares(h: Array, other: Array, counts: Array, noise: Array, other_noise: Array, ratios: Array) -> Array:
    """Return the squares of h + c other in units of their noise, (N, k), for rows (N, k) and ratios c (k,)."""
    variance = np.square(noise) + np.square(ratios * other_noise)
    return np.square(h + ratios * other) * counts[:, None] / variance


def _limit_factor(archive: Archive) -> float:
    """Return by how much the limits are wider while the noise is poorly known."""
    return 1.0 + 3.0 / float(np.sqrt(max(archive.degrees, 1.0) / 2.0))
