"""The choice of the returned point under noise: candidates raced by repeated calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp import candidate as candidates
from zoviz.solvers.sqp import descent as descents
from zoviz.solvers.sqp.archive import Archive, Pairs
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.situation import Situation

SURE, _PROOF = 2.0, 3.0
"""Standard errors by which a point must be feasible to count as such, or worse to be dropped; and by which it must
violate to count as infeasible: there are several looks at several rows."""
_AS_WELL_KNOWN = 2.0
"""An equality that is known so many times worse at one candidate than at another counts as violated by the rest."""
_AT_ODDS = 4.0
"""Standard deviations between model and calls from which on the model does not count there."""
_RADIUS = 0.7
"""The part of the trust region in which the models are trusted to the end."""
_BACKED_OFF = (0.33, 1.0, 2.0)
"""Candidates of the model: with so many times the usual back-off."""
_MORE_CAUTION = 2.0
"""Where no candidate is confirmed, the next race's are backed off so many times as far, and where all surely violate
the trust region is so many times as large."""
_INSIDE = 3.0
"""Standard errors by which all constraints hold at a point of the archive that is an answer of last resort."""
_SHARE_OF_CALLS = 1.0 / 3.0
"""The part of the calls left that a compromise may expect: it and the leader share a half of them, with others."""
_TINY = 1e-300


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


def begin(
    descent: Descent, archive: Archive, pairs: Pairs, others: list[Array], situation: Situation, caution: float = 1.0
) -> tuple[Descent, Race]:
    """Return a race between minimisers of the models with several back-offs, the centre and ``others``, (n,) each.

    The back-offs are the usual ones times ``caution``.
    """
    space, m = situation.space, len(descent.multipliers)
    descent, model = descents.fit_models(descent, archive, pairs, space)
    spread, equal = descent.spread, pairs.paired(m)
    trust = _RADIUS * min(1.0, descent.scale * descent.radius / spread)
    region = candidates.region(descent.centre, spread, trust, space, model.noise[1:])
    points = [descent.centre, *others]
    for factor in _BACKED_OFF if m else (1.0,):
        back_off = caution * factor * situation.settings.back_off
        minimiser = candidates.candidate(model, region, descent.penalty, equal, back_off, 3.0)
        points.append(space.clip(descent.centre + space.scale * spread * minimiser.u))
    distinct = np.array([one for i, one in enumerate(points) if not any((one == two).all() for two in points[:i])])
    u = (distinct - descent.centre) / (space.scale * spread)
    forecast = np.array([model.value(one) for one in u])
    reach = np.abs(u).max(axis=1)[:, None]
    errors = np.hypot([model.standard_error(one) for one in u], model.bias * model.noise * reach**3)
    errors = np.where(reach > 2.0, np.inf, errors)  # beyond the data the model says nothing
    k = len(distinct)
    no_means = np.zeros((k, 1 + m))
    alive = np.ones(k, dtype=bool)
    race = Race(distinct, forecast, errors, np.zeros(k), no_means, alive, model.noise, equal, caution, descent.penalty)
    return descent, race


def again(
    race: Race, descent: Descent, archive: Archive, pairs: Pairs, others: list[Array], situation: Situation
) -> tuple[Descent, Race]:
    """Return the race that follows one that is over.

    Its models know all calls so far, and the compromise takes part. Where no candidate was confirmed, minimisers are
    backed off farther; where all candidates surely violate, the trust region grows, too, and the point of the archive
    with the lowest f among those that are surely feasible takes part.
    """
    tolerance = situation.space.tolerance
    if is_confirmed(race, tolerance):
        others = [*others, *compromise(race, tolerance, situation.left)]
        return begin(descent, archive, pairs, others, situation)
    _, certain = excess(race, tolerance)
    if (certain > 0.0).all():
        radius = min(_MORE_CAUTION * descent.radius, descents.LARGEST_RADIUS)
        descent = descent._replace(radius=radius)
        others = [*others, *archives.surely_inside(archive, pairs, tolerance, _INSIDE)]
    return begin(descent, archive, pairs, others, situation, _MORE_CAUTION * race.caution)


def is_over(race: Race, tolerance: Array, left: int) -> bool:
    """Return whether a race is decided, has none within ``tolerance`` (m,) for sure, or a compromise to try."""
    decided = race.alive.sum() == 1
    return bool(decided or not is_confirmed(race, tolerance) or compromise(race, tolerance, left))


def compromise(race: Race, tolerance: Array, left: int) -> list[Array]:
    """Return the point (n,) on the way from a better candidate outside to a confirmed leader where constraints hold.

    Constraints are interpolated, and are to hold by the standard errors of a third of the calls that are left. There is
    none where no leader is confirmed, and where no candidate outside is better by more than the noise.
    """
    merit, error = merits(race)
    possible, _ = excess(race, tolerance)
    best = leader(race, tolerance)
    better = merit + SURE * np.hypot(error, error[best]) < merit[best]
    outside = better & (possible > 0.0) & (race.counts > 0)
    if possible[best] > 0.0 or not outside.any():
        return []
    nearest = int(np.argmin(np.where(outside, possible, np.inf)))
    margin = SURE * race.noise[1:] / np.sqrt(max(_SHARE_OF_CALLS * left, 1.0)) - tolerance
    h = estimates(race)[0][:, 1:] + margin
    rows = ~race.equal & (h[nearest] > 0.0) & (h[best] < h[nearest])
    share = float((h[nearest, rows] / (h[nearest, rows] - h[best, rows])).max(initial=0.0))
    way = race.points[best] - race.points[nearest]
    return [race.points[nearest] + share * way] if 0.0 < share < 1.0 else []


def is_confirmed(race: Race, tolerance: Array) -> bool:
    """Return whether the leader of a race is feasible, to ``tolerance`` (m,), by all of its standard errors."""
    possible, _ = excess(race, tolerance)
    return bool(possible[leader(race, tolerance)] <= 0.0)


def calls(race: Race, left: int) -> Array:
    """Return the points (q, n) of a race's next round: half of the calls left, shared among the live candidates."""
    alive = np.flatnonzero(race.alive)
    repeats = left // 2 // len(alive)
    if repeats < 2:
        return np.tile(race.points[alive], (left // len(alive) + 1, 1))[:left]
    return np.repeat(race.points[alive], repeats, axis=0)


def take_values(race: Race, points: Array, values: Array) -> Race:
    """Return a race after calls at points (q, n) gave values (q, 1 + m); +inf where one failed."""
    counts, means = race.counts.copy(), race.means.copy()
    good = np.isfinite(values).all(axis=1)
    for i, point in enumerate(race.points):
        mine = good & (points == point).all(axis=1)
        if mine.any():
            more = float(mine.sum())
            means[i] += (values[mine].mean(axis=0) - means[i]) * more / (counts[i] + more)
            counts[i] += more
    return race._replace(counts=counts, means=means)


def estimates(race: Race) -> tuple[Array, Array]:
    """Return estimates of all outputs at all candidates and their standard errors, (k, 1 + m) each.

    The precision-weighted mean of model and calls; the calls alone where the two are at odds.
    """
    counts = np.maximum(race.counts, _TINY)[:, None]
    of_calls = np.square(race.noise) / counts
    of_model = np.maximum(np.square(race.errors), _TINY)
    odd = np.abs(race.predicted - race.means) > _AT_ODDS * np.sqrt(of_model + of_calls)
    precision = np.where(odd & (race.counts[:, None] > 0), 0.0, 1.0 / of_model)
    variance = 1.0 / (precision + 1.0 / of_calls)
    return variance * (precision * race.predicted + race.means / of_calls), np.sqrt(variance)


def excess(race: Race, tolerance: Array) -> tuple[Array, Array]:
    """Return the violations (k,) beyond ``tolerance`` (m,) that the estimates leave possible, and those they prove."""
    estimate, error = estimates(race)
    h, error = estimate[:, 1:], error[:, 1:]
    # An equality cannot be told to hold; it counts as met unless it is told not to, where it is known as well as
    # anywhere: else the candidate of the fewest calls would always pass.
    unknown = error - _AS_WELL_KNOWN * error.min(axis=0)
    upper = np.where(race.equal, np.maximum(np.abs(h) - SURE * error, SURE * unknown), h + SURE * error) - tolerance
    lower = np.where(race.equal, np.abs(h), h) - _PROOF * error - tolerance
    return upper.max(axis=1, initial=0.0), lower.max(axis=1, initial=0.0)


def merits(race: Race) -> tuple[Array, Array]:
    """Return f with a penalty for the violation of equalities, and its standard error, (k,) each.

    By f alone the candidate would win that misses an equality by the most that noise hides.
    """
    estimate, error = estimates(race)
    violation = np.maximum(estimate[:, 1:], 0.0)[:, race.equal].sum(axis=1)
    doubt = np.square(error[:, 1:])[:, race.equal].sum(axis=1) / 2.0  # both rows of a pair are one output
    return estimate[:, 0] + race.penalty * violation, np.sqrt(np.square(error[:, 0]) + race.penalty**2 * doubt)


def leader(race: Race, tolerance: Array) -> int:
    """Return the index of the best candidate: least merit if surely within ``tolerance`` (m,), else least uncertain."""
    merit, _ = merits(race)
    possible, certain = excess(race, tolerance)
    finite = np.isfinite(estimates(race)[0]).all(axis=1) & np.isfinite(possible)
    possible = np.where(finite, possible, np.inf)
    sure = possible <= 0.0
    if sure.any():
        return int(np.argmin(np.where(sure, merit, np.inf)))
    undecided = finite & (certain <= 0.0)
    return int(np.argmin(np.where(undecided | ~undecided.any(), possible, np.inf)))


def eliminate(race: Race, tolerance: Array) -> Race:
    """Return a race without candidates surely beyond ``tolerance`` (m,) or surely worse than a feasible leader."""
    merit, error = merits(race)
    possible, certain = excess(race, tolerance)
    best = leader(race, tolerance)
    alive = race.alive & ~((certain > 0.0) & (certain[best] <= 0.0))
    if possible[best] <= 0.0:
        worse = merit - merit[best] > SURE * np.hypot(error, error[best])
        alive &= ~worse
    alive[best] = True
    return race._replace(alive=alive)
