r"""Performance and data profiles of solvers over problems, with bands by the bootstrap.

.. math:: \rho_s(\alpha) = \frac{1}{p\,r} \#\{(j, k): t_{jsk} \le \alpha \min_q t_{jqk}\}, \qquad
          d_s(\kappa) = \frac{1}{p\,r} \#\{(j, k): t_{jsk} \le \kappa (n_j + 1)\}

with t the calls that solver s took to the level in replica k of problem j.

References
----------
Dolan and Moré (2002), Benchmarking optimization software with performance profiles, Mathematical Programming 91;
Moré and Wild (2009), Benchmarking derivative-free optimization algorithms, SIAM Journal on Optimization 20, (2.1) and
(2.8).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.benchmark.courses import Hits
from zoviz.core.types import Array

_RESAMPLES = 400


class Profile(NamedTuple):
    """Step functions of several solvers: at ``x`` the share of problems and replicas that they had solved by then.

    Attributes
    ----------
    solvers : tuple of str
    x : list of Array
        Of each solver, the places of its steps, growing.
    y : list of Array
        Of each solver, its share from this place on.
    cost : Array, shape (p, s, r)
        The cost of each run on the axis; +inf where it did not reach the level.
    problems : tuple of str
    """

    solvers: tuple[str, ...]
    x: list[Array]
    y: list[Array]
    cost: Array
    problems: tuple[str, ...]

    def at(self, x: Array) -> Array:
        """Return the shares (s, len(x)) at places."""
        return np.stack([_share(steps, shares, np.asarray(x)) for steps, shares in zip(self.x, self.y, strict=True)])

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of a logarithmic axis: a little beyond the least and the largest cost above 0."""
        finite = self.cost[np.isfinite(self.cost) & (self.cost > 0.0)]
        return (0.9 * float(finite.min()), 1.1 * float(finite.max())) if finite.size else (0.1, 10.0)

    def runs_at(self, solver: str, x: float) -> list[tuple[str, int]]:
        """Return the problems and replicas whose run makes the solver's step at a place."""
        own = self.cost[:, self.solvers.index(solver)]
        return [(self.problems[p], int(r)) for p, r in zip(*np.nonzero(own == x), strict=True)]


def staircase(x: Array, y: Array, left: float, right: float) -> tuple[Array, Array]:
    """Return the corners (2 k + 2,) of a function with steps (k,) that is 0 from ``left`` on and ends at ``right``."""
    places = np.concatenate([[left], np.repeat(x, 2), [max(right, left)]])
    return places, np.repeat(np.concatenate([[0.0], y]), 2)


def _share(steps: Array, shares: Array, x: Array) -> Array:
    place = np.searchsorted(steps, x, side="right")
    return np.concatenate([[0.0], shares])[place]


def performance_profile(hits: Hits) -> Profile:
    """Return the performance profile: costs are ratios to the fewest calls of a solver in the same replica.

    Raises
    ------
    ZovizError
        Where no problem has all runs.
    """
    hits = hits.complete()
    fewest = hits.calls.min(axis=1, keepdims=True)
    solved = np.isfinite(hits.calls)
    # A run that ends at its start has taken no call, and so has the best.
    ratio = np.where(hits.calls == fewest, 1.0, hits.calls / np.where(solved, np.maximum(fewest, 1e-300), 1.0))
    return profile_of(hits.solvers, hits.problems, np.where(solved, ratio, np.inf))


def data_profile(hits: Hits) -> Profile:
    """Return the data profile: costs are calls in sweeps of n + 1.

    Raises
    ------
    ZovizError
        Where no problem has all runs.
    """
    hits = hits.complete()
    return profile_of(hits.solvers, hits.problems, hits.calls / (hits.dimensions[:, None, None] + 1.0))


def profile_of(solvers: tuple[str, ...], problems: tuple[str, ...], cost: Array) -> Profile:
    """Return step functions of costs (p, s, r): the share of problems and replicas solved within each cost."""
    places, shares = [], []
    for own in np.moveaxis(cost, 1, 0):
        x, counts = np.unique(own[np.isfinite(own)], return_counts=True)
        places.append(x)
        shares.append(np.cumsum(counts) / own.size)
    return Profile(solvers, places, shares, cost, problems)


def band(
    profile: Profile,
    x: Array,
    generator: np.random.Generator,
    resamples: int = _RESAMPLES,
    within: bool = True,
) -> tuple[Array, Array]:
    """Return the lower and upper ends (s, len(x)) of a band of 90 % around a profile, by the bootstrap.

    Problems are drawn with replacement, and replicas within each.

    Parameters
    ----------
    profile : Profile
    x : Array
        Places.
    generator : numpy.random.Generator
    resamples : int
    within : bool
        Draw the replicas of a problem, too; else the problem counts with all of them, as where they are no runs.
    """
    p, s, r = profile.cost.shape
    if not within:
        own = np.sort(profile.cost, axis=2)
        counts = np.stack([[np.searchsorted(one, x, side="right") for one in each] for each in own])  # (p, s, len(x))
        drawn = generator.multinomial(p, np.full(p, 1.0 / p), size=resamples) / p
        return _ends((drawn @ (counts / r).reshape(p, -1)).reshape(resamples, s, -1))
    solved = profile.cost[..., None] <= np.asarray(x)  # (p, s, r, len(x))
    # How often each run is drawn: as often as its problem in the mean, spread evenly over the problem's replicas.
    drawn = generator.multinomial(p, np.full(p, 1.0 / p), size=resamples)
    weights = generator.multinomial(drawn * r, np.full(r, 1.0 / r)) / (p * r)  # (resamples, p, r)
    flat = np.moveaxis(solved, 1, 2).reshape(p * r, -1).astype(float)
    return _ends((weights.reshape(resamples, p * r) @ flat).reshape(resamples, s, -1))


def _ends(shares: Array) -> tuple[Array, Array]:
    """Return the quantiles (s, len(x)) of shares (resamples, s, len(x)) between which nine of ten of them lie."""
    lower, upper = np.quantile(shares, [0.05, 0.95], axis=0)
    return lower, upper
