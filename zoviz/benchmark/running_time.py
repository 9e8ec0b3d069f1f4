r"""Running times to targets: expected time, distribution over targets, and simulated restarts.

.. math:: \mathrm{ERT} = \frac{\sum_k \min(t_k, T_k)}{\#\{k: t_k < \infty\}}

with t_k the calls that run k took to the target and T_k all of its calls.

References
----------
Hansen, Auger, Ros, Mersmann, Tušar and Brockhoff (2021), COCO: a platform for comparing continuous optimizers in a
black-box setting, Optimization Methods and Software 36, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zoviz.benchmark.courses import Hits
from zoviz.benchmark.profiles import Profile, profile_of
from zoviz.core.types import Array

TARGETS = tuple(float(10.0 ** (-k / 4.0)) for k in range(2, 33))
"""Levels whose running times are put together, four for each power of ten from 10^-0.5 to 10^-8."""
_MOST_DRAWS = 10_000
"""Runs that a simulated restart strings together at most; what has not succeeded then counts as never."""


def expected_running_time(hits: Hits) -> Array:
    """Return the ERT (p, s) in calls; +inf where no run reached the level, NaN where there is no run."""
    calls, spent = hits.calls, hits.spent
    there, solved = np.isfinite(spent), np.isfinite(calls)
    used = np.where(there, np.where(solved, calls, spent), 0.0).sum(axis=-1)
    successes = solved.sum(axis=-1)
    ert = np.where(successes > 0, used / np.maximum(successes, 1), np.inf)
    return np.where(there.any(axis=-1), ert, np.nan)


def simulated_restarts(calls: Array, spent: Array, count: int, generator: np.random.Generator) -> Array:
    """Return running times (..., count) of a method that starts anew until it succeeds.

    Runs are drawn with replacement: the calls of those that failed add up, until one reached the target.

    Parameters
    ----------
    calls, spent : Array, shape (..., r)
        Calls to the target, +inf for a run that failed, and all calls of the runs.
    count : int
    generator : numpy.random.Generator

    Returns
    -------
    Array
        +inf where no run reached the target.
    """
    *places, r = calls.shape
    order = np.argsort(~np.isfinite(calls), axis=-1, kind="stable")  # those that succeeded stand first
    ends, whole = (np.take_along_axis(one, order, axis=-1).reshape(-1, r) for one in (calls, spent))
    successes = np.isfinite(ends).sum(axis=1)[:, None]
    share = np.where(successes > 0, successes / r, 1.0)
    size = len(ends), count
    failures = np.minimum(generator.geometric(share, size=size) - 1, _MOST_DRAWS)
    last = np.take_along_axis(ends, generator.integers(np.maximum(successes, 1), size=size), axis=1)
    rows = np.repeat(np.arange(len(ends)), failures.sum(axis=1))
    lost = whole[rows, successes[rows, 0] + generator.integers(np.maximum(r - successes[rows, 0], 1))]
    sums = np.concatenate([[0.0], np.cumsum(lost)])[np.concatenate([[0], np.cumsum(failures)])]
    times = np.where(successes > 0, last + np.diff(sums).reshape(size), np.inf)
    return times.reshape(*places, count)


def running_time_distribution(
    levels: Sequence[Hits], generator: np.random.Generator | None = None, count: int = 100
) -> Profile:
    """Return the ECDF of running times over problems, levels and runs, in calls over the number of variables.

    Parameters
    ----------
    levels : sequence of Hits
        Of the same runs, one for each target.
    generator : numpy.random.Generator, optional
        For simulated restarts, ``count`` of each problem and level; None: the runs as they are.
    count : int

    Returns
    -------
    Profile
        Of costs (p, s, l r): the replicas at the first level, then those at the next.
    """
    levels = [one.complete() for one in levels]
    first = levels[0]
    calls = np.stack([one.calls for one in levels], axis=2)  # (p, s, l, r)
    if generator is not None:
        spent = np.broadcast_to(first.spent[:, :, None], calls.shape)
        calls = simulated_restarts(calls, spent, count, generator)
    cost = calls.reshape(*calls.shape[:2], -1) / first.dimensions[:, None, None]
    return profile_of(first.solvers, first.problems, cost)
