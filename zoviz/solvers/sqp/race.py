"""The choice of the returned point under noise: candidates raced by repeated calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp import candidate as candidates
from zoviz.solvers.sqp.archive import Archive
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.situation import Space

_TINY = 1e-300
_UNKNOWN = 1e-12
"""The information, in calls, that stands for none."""
_LEAST_SHARE = 1e-4
"""Of the variance of differences, what a prediction's own is at least: else the level could not be seen beside it."""


class SharedNoise(NamedTuple):
    """What calls in batches of shared noise tell of k candidates: least squares with a random intercept for each batch.

    Attributes
    ----------
    ratio : Array, shape (q,)
        The variance that a batch shares over that of differences, for each output.
    level : Array, shape (q,)
        The variance that the models' predictions share.
    information, sums : Array, shapes (q, k, k) and (q, k)
        Matrix and right-hand side of the normal equations, in units of the variance of differences.
    """

    ratio: Array
    level: Array
    information: Array
    sums: Array

    @classmethod
    def start(cls, k: int, ratio: Array, level: Array) -> SharedNoise:
        """Return what is known of k candidates before any call."""
        return cls(ratio, level, np.zeros((len(ratio), k, k)), np.zeros((len(ratio), k)))

    def with_batch(self, called: np.ndarray, values: Array) -> SharedNoise:
        """Return the same after a batch of one call at each of ``called`` (k,), of values (k, q), 0 elsewhere."""
        ones = called.astype(float)
        share = self.ratio / (1.0 + self.ratio * ones.sum())
        information = self.information + np.diag(ones) - share[:, None, None] * np.outer(ones, ones)
        sums = self.sums + values.T - (share * values.sum(axis=0))[:, None] * ones
        return self._replace(information=information, sums=sums)

    def estimate(self, noise: Array, predicted: Array, precision: Array) -> tuple[Array, Array]:
        """Return estimates (k, q) and their covariances (q, k, k) from calls, and from predictions (k, q).

        These have precisions (k, q) of their own beside the level's; with precisions of 0 the calls count alone.
        """
        variance, unit, own = np.square(noise)[:, None, None], np.eye(len(precision)), precision.T
        share = 1.0 / (1.0 / np.maximum(self.level, _TINY) + own.sum(axis=1))
        prior = own[:, :, None] * unit - share[:, None, None] * own[:, :, None] * own[:, None]
        covariance = np.linalg.inv(self.information / variance + prior + _UNKNOWN / variance * unit)
        right = self.sums / variance[:, 0] + np.einsum("qkl,lq->qk", prior, predicted)
        return np.einsum("qkl,ql->kq", covariance, right), covariance


class Race(NamedTuple):
    """A race between candidates for the returned point: predictions of the models, and means of the calls so far.

    Attributes
    ----------
    points : Array, shape (k, n)
    predicted, errors : Array, shape (k, 1 + m)
        The models' outputs and their standard errors, before any call of the race.
    counts : Array, shape (k,)
        Calls of the race at each candidate.
    means : Array, shape (k, 1 + m)
        Means of the outputs over these calls.
    alive : ndarray of bool, shape (k,)
    noise : Array, shape (1 + m,)
    equal : ndarray of bool, shape (m,)
        Rows of equality pairs.
    caution : float
        What the candidates' usual back-offs were multiplied by.
    penalty : float
        Weight of the violation of equalities when candidates are compared.
    shared : SharedNoise or None
        What is known of candidates that are called in batches of shared noise.
    """

    points: Array
    predicted: Array
    errors: Array
    counts: Array
    means: Array
    alive: np.ndarray
    noise: Array
    equal: np.ndarray
    caution: float = 1.0
    penalty: float = 0.0
    shared: SharedNoise | None = None

    def is_over(self, space: Space, left: int) -> bool:
        """Return whether a race is decided, has none within the tolerance for sure, or a compromise to try."""
        decided = self.alive.sum() == 1
        return bool(decided or not self.is_confirmed(space) or self.compromise(space, left))

    def compromise(self, space: Space, left: int) -> list[Array]:
        """Return the point (n,) between a better candidate outside and a confirmed leader where constraints hold.

        Constraints are interpolated, and are to hold by the standard errors of a third of the calls that are left.
        There is none where no leader is confirmed, and where no candidate outside is better by more than the noise.
        """
        c = space.constants
        merit = self.merits(space)
        possible, _ = self.excess(space)
        best = self.leader(space)
        better = merit + c.sure * self.merit_errors(space, best) < merit[best]
        outside = better & (possible > 0.0) & (self.counts > 0)
        if possible[best] > 0.0 or not outside.any():
            return []
        nearest = int(np.argmin(np.where(outside, possible, np.inf)))
        h, error = (one[:, 1:] for one in self.estimates(space))
        if self.shared is None:
            margin = c.sure * self.noise[1:] / np.sqrt(max(c.share_of_calls * left, 1.0)) - space.tolerance
        else:  # further calls hardly lessen what is not known of the level
            margin = c.beyond * c.sure * error[best] - space.tolerance
        h = h + margin
        rows = ~self.equal & (h[nearest] > 0.0) & (h[best] < h[nearest])
        share = float((h[nearest, rows] / (h[nearest, rows] - h[best, rows])).max(initial=0.0))
        way = self.points[best] - self.points[nearest]
        return [self.points[nearest] + share * way] if 0.0 < share < 1.0 else []

    def is_confirmed(self, space: Space) -> bool:
        """Return whether the leader of a race is feasible, to the tolerance, by all of its standard errors."""
        possible, _ = self.excess(space)
        return bool(possible[self.leader(space)] <= 0.0)

    def calls(self, left: int, parallel: int = 1) -> Array:
        """Return the points (q, n) of a race's next round: half of the calls left, shared among the live candidates.

        Where ``parallel`` calls run at once, they are at least two for each worker, and all where fewer would be left
        than there are workers: each round waits for its slowest call.
        """
        alive = np.flatnonzero(self.alive)
        count = left // 2 if parallel == 1 else max(left // 2, 2 * parallel)
        repeats = min(left, count) // len(alive)
        if repeats < 2 or left - count < parallel - 1:
            return np.tile(self.points[alive], (left // len(alive) + 1, 1))[:left]
        return np.repeat(self.points[alive], repeats, axis=0)

    def take_values(self, points: Array, values: Array) -> Race:
        """Return a race after calls at points (q, n) gave values (q, 1 + m); +inf where one failed."""
        counts, means = self.counts.copy(), self.means.copy()
        good = np.isfinite(values).all(axis=1)
        for i, point in enumerate(self.points):
            mine = good & (points == point).all(axis=1)
            if mine.any():
                more = float(mine.sum())
                means[i] += (values[mine].mean(axis=0) - means[i]) * more / (counts[i] + more)
                counts[i] += more
        if self.shared is not None:
            called = np.array([(good & (points == point).all(axis=1)).any() for point in self.points])
            outputs = np.array([values[(points == point).all(axis=1)][:1].sum(axis=0) for point in self.points])
            self = self._replace(shared=self.shared.with_batch(called, np.where(called[:, None], outputs, 0.0)))
        return self._replace(counts=counts, means=means)

    def estimates(self, space: Space) -> tuple[Array, Array]:
        """Return estimates of all outputs at all candidates and their standard errors, (k, 1 + m) each.

        The precision-weighted mean of model and calls; the calls alone where the two are at odds.
        """
        c = space.constants
        if self.shared is not None:
            mean, covariance = self._posterior(self.shared, space)
            return mean, np.sqrt(np.einsum("qkk->kq", covariance))
        counts = np.maximum(self.counts, _TINY)[:, None]
        of_calls = np.square(self.noise) / counts
        of_model = np.maximum(np.square(self.errors), _TINY)
        odd = np.abs(self.predicted - self.means) > c.at_odds * np.sqrt(of_model + of_calls)
        precision = np.where(odd & (self.counts[:, None] > 0), 0.0, 1.0 / of_model)
        variance = 1.0 / (precision + 1.0 / of_calls)
        return variance * (precision * self.predicted + self.means / of_calls), np.sqrt(variance)

    def _posterior(self, shared: SharedNoise, space: Space) -> tuple[Array, Array]:
        """Return the estimates (k, 1 + m) under shared noise, and their covariances (1 + m, k, k)."""
        counts = np.maximum(self.counts, _TINY)[:, None]
        of_calls, least = np.square(self.noise) / counts, _LEAST_SHARE * np.square(self.noise)
        of_model = np.maximum(np.square(self.errors), least)
        weight = 1.0 / (of_model + of_calls)
        off = shared.estimate(self.noise, self.predicted, np.zeros_like(of_model))[0] - self.predicted
        off = off - (weight * off).sum(axis=0) / np.maximum(weight.sum(axis=0), _TINY)  # but for the level
        odd = (np.square(off) * weight > space.constants.at_odds**2) & (self.counts[:, None] > 0)
        return shared.estimate(self.noise, self.predicted, np.where(odd, 0.0, 1.0 / of_model))

    def excess(self, space: Space) -> tuple[Array, Array]:
        """Return the violations (k,) beyond the tolerance that are possible by the estimates, and the certain."""
        c = space.constants
        estimate, error = self.estimates(space)
        h, error = estimate[:, 1:], error[:, 1:]
        # An equality cannot be told to hold; it counts as met unless it is told not to, where it is known as well as
        # anywhere: else the candidate of the fewest calls would always pass.
        unknown = error - c.as_well_known * error.min(axis=0)
        upper = (
            np.where(self.equal, np.maximum(np.abs(h) - c.sure * error, c.sure * unknown), h + c.sure * error)
            - space.tolerance
        )
        lower = np.where(self.equal, np.abs(h), h) - c.proof * error - space.tolerance
        return upper.max(axis=1, initial=0.0), lower.max(axis=1, initial=0.0)

    def merits(self, space: Space) -> Array:
        """Return f with a penalty for the violation of equalities, (k,).

        By f alone the candidate would win that misses an equality by the most that noise hides.
        """
        estimate, _ = self.estimates(space)
        violation = np.maximum(estimate[:, 1:], 0.0)[:, self.equal].sum(axis=1)
        merit: Array = estimate[:, 0] + self.penalty * violation
        return merit

    def merit_errors(self, space: Space, best: int) -> Array:
        """Return the standard errors (k,) of the differences of merits from that of one candidate."""
        if self.shared is None:
            _, error = self.estimates(space)
            doubt = np.square(error[:, 1:])[:, self.equal].sum(axis=1) / 2.0  # both rows of a pair are one output
            error = np.sqrt(np.square(error[:, 0]) + self.penalty**2 * doubt)
            return np.hypot(error, error[best])
        _, covariance = self._posterior(self.shared, space)
        variance = np.einsum("qkk->qk", covariance)
        variance = np.maximum(variance + variance[:, [best]] - 2.0 * covariance[:, best], 0.0)
        return np.sqrt(variance[0] + self.penalty**2 * variance[1:][self.equal].sum(axis=0) / 2.0)

    def leader(self, space: Space) -> int:
        """Return the index of the best candidate: least merit if surely within the tolerance, else least doubt."""
        merit = self.merits(space)
        possible, certain = self.excess(space)
        finite = np.isfinite(self.estimates(space)[0]).all(axis=1) & np.isfinite(possible)
        possible = np.where(finite, possible, np.inf)
        sure = possible <= 0.0
        if sure.any():
            return int(np.argmin(np.where(sure, merit, np.inf)))
        undecided = finite & (certain <= 0.0)
        return int(np.argmin(np.where(undecided | ~undecided.any(), possible, np.inf)))

    def eliminate(self, space: Space) -> Race:
        """Return a race without candidates surely beyond the tolerance or surely worse than a feasible leader."""
        c = space.constants
        merit = self.merits(space)
        possible, certain = self.excess(space)
        best = self.leader(space)
        alive = self.alive & ~((certain > 0.0) & (certain[best] <= 0.0))
        if possible[best] <= 0.0:
            worse = merit - merit[best] > c.sure * self.merit_errors(space, best)
            alive &= ~worse
        alive[best] = True
        return self._replace(alive=alive)


def begin(
    descent: Descent,
    archive: Archive,
    others: list[Array],
    space: Space,
    back_off: float,
    caution: float = 1.0,
) -> Race:
    """Return a race between minimisers of the models with several back-offs, the centre and ``others``, (n,) each.

    The back-offs are the usual ones times ``caution``.
    """
    c = space.constants
    m, model = len(descent.multipliers), descent.fit(archive, space)
    spread, equal = descent.spread, archive.pairs.paired(m)
    trust = c.race_radius * min(1.0, descent.scale * descent.radius / spread)
    region = candidates.region(descent.centre, spread, trust, space, model.noise[1:])
    points = [descent.centre, *others]
    for factor in c.backed_off if m else (1.0,):
        cautious = candidates.candidate(model, region, descent.penalty, equal, caution * factor * back_off, 3.0)
        (u,) = space.kept.within(cautious.u[None], lambda point: model.upper(point, c.proof))
        points.append(space.clip(descent.centre + space.scale * spread * u))
    distinct = np.array([one for i, one in enumerate(points) if not any((one == two).all() for two in points[:i])])
    u = (distinct - descent.centre) / (space.scale * spread)
    forecast = np.array([model.value(one) for one in u])
    reach = np.abs(u).max(axis=1)[:, None]
    of_model = [model.standard_error(one, not model.batched) for one in u]
    errors = np.hypot(of_model, model.bias * model.noise * reach**3)
    errors = np.where(reach > 2.0, np.inf, errors)  # beyond the data the model says nothing
    k, shared = len(distinct), None
    if model.batched:
        shared = SharedNoise.start(k, np.square(model.shared), np.square(model.level_error))
    none, means, alive = np.zeros(k), np.zeros((k, 1 + m)), np.ones(k, dtype=bool)
    noise, penalty = model.noise, descent.penalty
    return Race(distinct, forecast, errors, none, means, alive, noise, equal, caution, penalty, shared)


def again(
    race: Race,
    descent: Descent,
    archive: Archive,
    others: list[Array],
    space: Space,
    back_off: float,
    left: int,
) -> Race:
    """Return the race that follows one that is over, with ``left`` calls.

    Its models know all calls so far, and the compromise takes part. Where no candidate was confirmed, minimisers are
    backed off farther; where all candidates surely violate, the trust region grows, too, and the point of the archive
    with the lowest f among those that are surely feasible takes part.
    """
    c = space.constants
    tolerance = space.tolerance
    if race.is_confirmed(space):
        others = [*others, *race.compromise(space, left)]
        return begin(descent, archive, others, space, back_off)
    _, certain = race.excess(space)
    if (certain > 0.0).all():
        descent.radius = min(c.more_caution * descent.radius, c.widest_radius)
        others = [*others, *archives.surely_inside(archive, tolerance, c.inside)]
    return begin(descent, archive, others, space, back_off, c.more_caution * race.caution)
