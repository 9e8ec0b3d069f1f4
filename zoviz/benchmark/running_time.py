r"""Running times to targets: the expected one, its distribution over targets, and simulated restarts.

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
    """Return running times (count,) of a method that starts anew until it succeeds.

    Runs are drawn with replacement: the calls of those that failed add up, until one reached the target.

    Parameters
    ----------
    calls, spent : Array, shape (r,)
        Calls to the target, +inf for a run that failed, and all calls of the runs.
    count : int
    generator : numpy.random.Generator

    Returns
    -------
    Array
        +inf where no run reached the target.
    """
    solved = np.isfinite(calls)
    if not solved.any():
        return np.full(count, np.inf)
    failures = np.minimum(generator.geometric(solved.mean(), size=count) - 1, _MOST_DRAWS)
    last = generator.choice(calls[solved], size=count)
    if solved.all():
        return last
    lost = generator.choice(spent[~solved], size=int(failures.sum()))
    ends = np.concatenate([[0.0], np.cumsum(lost)])[np.concatenate([[0], np.cumsum(failures)])]
    return last + np.diff(ends)


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
    """
    levels = [one.complete() for one in levels]
    blocks = []
    for hits in levels:
        calls = hits.calls
        if generator is not None:
            pairs = [
                [
                    simulated_restarts(hits.calls[p, s], hits.spent[p, s], count, generator)
                    for s in range(calls.shape[1])
                ]
                for p in range(calls.shape[0])
            ]
            calls = np.array(pairs)
        blocks.append(calls / hits.dimensions[:, None, None])
    return profile_of(levels[0].solvers, levels[0].problems * len(levels), np.concatenate(blocks, axis=0))
