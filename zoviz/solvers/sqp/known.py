"""Without noise: steps by models of past points, before any difference is taken.

Models and their minimisers are those of the noisy arm; each costs a call, and a step of differences n + 2.
"""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.oracle.past import Known
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp.archive import Archive
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.exact import Exact, fresh
from zoviz.solvers.sqp.situation import Asks, Space, StepContext
from zoviz.solvers.sqp.sqp_run import SQPRun

_ROUND_OFF = 1e-9
"""What counts as noise of the values, in units of their spread."""


def steps_by_models(exact: Exact, known: Known, context: StepContext, box: Space) -> Asks:
    """Ask for the minimisers of models while they keep what they promise, from the best point; return the context.

    The arm's run then goes on from the best of them where it has begun at a past point, or where models promise nothing
    more. Elsewhere it goes on from its own start, as if nothing were known: what models gained before they failed is no
    better place to begin at.
    """
    c, n, first, failures = box.constants, box.n, exact.run, exact.failures
    exact.failures = exact.failures.add(known.points, np.where(np.isfinite(known.values[:, :1]), 0.0, np.inf))
    sizes = 0.5 * known.sizes
    archive = _archive(known, first, box, sizes)
    if len(archive.points) < n + 3 or not np.isfinite(first.value).all():
        return context
    space, x, value = box._replace(tolerance=box.tolerance / sizes[1:]), first.x, first.value / sizes
    if not len(exact.own):
        best = int(np.argmin(_merits(archive.means, c.past_price)))
        x, value = archive.points[best], archive.means[best]
    descent = Descent.start(x, len(sizes) - 1, _first_radius(archive, x, box), 1.0, False, 0)
    misses, most, promise, reached = 0, c.past_misses if known.trusted else 1, np.inf, first.x
    for _ in range(n + 2):  # the price of a step by differences
        context = yield from fresh(context)
        if misses == most or context.left <= 2 * n + 2:
            break
        archive, descent.centre = archive._replace(pairs=archives.detected_pairs(archive, c)), x
        ahead = descent.predict(archive, space, 0.0)
        price = max(descent.penalty, c.past_price)  # or a higher one: what follows begins outside otherwise
        promise = float(_merits(value, price) - _merits(ahead.values, price))
        decrease, new = -np.inf, np.full(len(sizes), np.inf)
        if promise > c.tiny_decrease and archive.find(ahead.point) < 0:
            (new,) = yield "trial", ahead.point[None]
            context.used = True
            exact.keep_best(ahead.point[None], new[None], box)
            exact.failures = exact.failures.add(ahead.point[None], new[None])
            archive, _ = archives.add(archive, ahead.point[None], new[None] / sizes)
            decrease = float(_merits(value, price) - _merits(new / sizes, price))
        missed = not decrease > c.past_kept * promise
        misses = misses + 1 if missed else 0
        if missed or (decrease > c.good * promise and ahead.length > c.good):
            descent.radius *= c.past_shrink if missed else c.past_growth
        if decrease > 0.0:
            reached = x = ahead.point
            value = new / sizes
    if reached is not first.x and (len(exact.own) or promise <= c.tiny_decrease):
        exact.run = SQPRun.start(x, value * sizes, len(sizes) - 1, 1.0, first.penalty)
        exact.own = exact.own if len(exact.own) else first.x
    elif not len(exact.own):
        exact.failures = failures
    return context


def _archive(known: Known, run: SQPRun, box: Space, sizes: Array) -> Archive:
    """Return an archive of what is known and of a run's start, in units of ``sizes`` (1 + m,)."""
    new = np.isfinite(known.values).all(axis=1) & (known.points != run.x).any(axis=1)
    points, values = np.vstack([run.x, known.points[new]]), np.vstack([run.value, known.values[new]])
    archive, _ = archives.add(archives.empty(box.n, run.value / sizes, box.constants), points, values / sizes)
    return archives.with_rounding(archive, np.full(len(sizes), _ROUND_OFF), box.constants)


def _first_radius(archive: Archive, x: Array, box: Space) -> float:
    """Return the radius within whose reach a model around x (n,) has two points for each coefficient of its slope."""
    c, distance = box.constants, np.sort(np.abs((archive.points - x) / box.scale).max(axis=1))
    return max(float(distance[: 2 * box.n + 3][-1]) / c.within, c.past_radius)


def _merits(values: Array, price: float) -> Array:
    """Return f and a price on violations, of values (..., 1 + m)."""
    merits: Array = values[..., 0] + price * np.maximum(values[..., 1:], 0.0).sum(axis=-1)
    return merits
