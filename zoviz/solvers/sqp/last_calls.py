"""ZOSQP's last calls without noise, where these are too few for a gradient and a step."""

from __future__ import annotations

import numpy as np

from zoviz.core.ranking import is_feasible
from zoviz.core.types import Array
from zoviz.solvers.sqp import elastic_qp
from zoviz.solvers.sqp.situation import Space, StepContext
from zoviz.solvers.sqp.sqp_run import SQPRun


def last_calls(run: SQPRun, best: Array, best_value: Array, context: StepContext, box: Space) -> Array:
    """Return points (left, n) for all calls that are left.

    Where the present point is outside the constraints back among them, and then: on from the last step, back along it,
    and around the best point.
    """
    left, back, space = context.left, np.empty((0, box.n)), box.scaled(run.length)
    if run.is_outside(best_value, box):
        ways = _chord(run, best, best_value, box), _retreats(run, space, context.settings.trust_scale, left)
        turns = [points[i : i + 1] for i in range(max(len(way) for way in ways)) for points in ways]
        back = np.concatenate([back, *turns])[:left]
    return np.concatenate([back, _around(run, best, space, left - len(back), context.generator)])


def _retreats(run: SQPRun, space: Space, trust_scale: float, count: int) -> Array:
    """Return up to ``count`` points (q, n) back among the constraints, (0, n) where no derivatives are known.

    Steps of the programme from the present point, with the last derivatives, at which constraints that it violates are
    to be met with 1, 4, 16 and 64 times their violation to spare: what a step leaves of them is of second order.
    """
    c = space.constants
    points = np.empty((0, space.n))
    if not (run.slopes.size and run.hessian.size):
        return points
    h = (run.value / run.size)[1:]
    for spare in c.spare[:count]:
        model = run.model(space, trust_scale, h + spare * np.maximum(h, 0.0))
        step = elastic_qp.steered(model, run.penalty, c.largest_penalty, c.least_violation, c.exactness)
        points = np.concatenate([points, space.clip(run.x + space.scale * step.d)[None]])
    return points


def _chord(run: SQPRun, best: Array, best_value: Array, space: Space) -> Array:
    """Return points (q, n) on the way from the best point to a present one outside; none where the best is no better.

    The first is where the chords of the violated constraints meet 0, and feasible where these are convex.
    """
    c = space.constants
    inside, outside = best_value[1:], run.value[1:]
    if not is_feasible(inside, space.tolerance):
        return np.empty((0, space.n))
    violated = outside > space.tolerance
    room = np.maximum(-inside[violated], 0.0)
    share = float((room / (room + outside[violated])).min())
    shares = share * np.array(c.chord) if share > c.no_room else np.empty(0)
    return space.clip(best + shares[:, None] * (run.x - best))


def _around(run: SQPRun, best: Array, space: Space, count: int, generator: np.random.Generator) -> Array:
    """Return a number of points (count, n) on from the last step, back along it, and around the best point."""
    direction = run.x - run.last_x
    if not direction.any():
        direction = space.scale * run.step.d
    lengths = np.concatenate([[1.0, 0.5, 2.0, 0.25, 0.1], 2.0 * generator.random(count)])[:count]
    along = run.x + lengths[:, None] * direction
    reach = run.radius * 10.0 ** -generator.uniform(0.0, 4.0, count)
    nearby = best + space.scale * reach[:, None] * generator.standard_normal((count, space.n))
    turn = (np.arange(count) % 2 == 1) | (not direction.any())
    return space.clip(np.where(turn[:, None], nearby, along))
