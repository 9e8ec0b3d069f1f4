"""The noise-free arm as a whole: runs one after the other, from the best point and from elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.ranking import best_of, is_feasible
from zoviz.core.types import Array
from zoviz.solvers import differences
from zoviz.solvers.restart_rules import FAR, NEAR, in_box, moved
from zoviz.solvers.sqp import derivatives, smooth_phase
from zoviz.solvers.sqp.situation import Situation, Space
from zoviz.solvers.sqp.smooth_phase import SmoothRun

_NARROWEST, _WIDEST = -2.0, 1.0
"""Decimal exponents of a restart's first radius."""
_PROGRESS = 0.9
"""Share of the violation at the last restoration's beginning below which another one is worth while (chosen by us)."""
_NEAR = 1e-2
"""Excess over the lowest f, relative to it, up to which it is worth while to polish a run's end."""
_SEEN = 16
"""Points whose values are kept to tell rounding."""
_CHORD, _NO_ROOM = (1.0, 0.8, 0.5), 1e-2
"""Shares of the way to where chords of the constraints meet 0 that the last calls try, and the least such way."""


class Restarts(NamedTuple):
    """The state of the noise-free arm: its present run, the numbers of its runs, and the best point.

    Attributes
    ----------
    run : SmoothRun
        The present run.
    runs, again, restorations : int
        Runs so far; those that began at the best point; those that only sought feasibility.
    restored_from : float
        The largest h at which the last of these began; +inf before the first.
    best, best_value : Array, shapes (n,) and (1 + m,)
        The feasible point of the lowest f, else the least violated one.
    best_run : int
        The number of the run that met it.
    multipliers : Array, shape (m,)
        Those of that run, in the problem's own units: later runs end elsewhere, and theirs say nothing of this point.
    doubt : str
        "" before a step was refused, which is when roughness is measured; then "line" until its values are there; then
        "smooth" or "rough".
    last : bool
        Whether the calls that are left are fewer than a gradient takes.
    seen : Array, shape (k, 1 + m)
        Values at the last points whose derivatives were taken.
    precise : ndarray of bool, shape (1 + m,)
        Outputs of which values are known that are not rounded.
    quantum : Array, shape (1 + m,)
        The steps of the outputs that are rounded; empty before they are so coarse that differences are wrong.
    """

    run: SmoothRun
    runs: int
    again: int
    restorations: int
    restored_from: float
    best: Array
    best_value: Array
    best_run: int
    multipliers: Array
    doubt: str
    last: bool
    seen: Array = np.empty((0, 0))
    precise: np.ndarray = np.empty(0, dtype=bool)
    quantum: Array = np.empty(0)


def begin(value: Array, situation: Situation) -> Restarts:
    """Return the noise-free arm at a start whose values (1 + m,) are known; +inf where they are not finite."""
    start = situation.space.start
    first_value = value if np.isfinite(value).all() else None
    run = smooth_phase.begin(start, first_value, len(value) - 1, 1.0, situation.settings.penalty)
    if first_value is None:  # the same point would fail again
        run = run._replace(phase="over")
    return Restarts(run, 1, 0, 0, np.inf, start, value, 1, np.zeros(len(value) - 1), "", False)


def request(state: Restarts, situation: Situation) -> tuple[Restarts, Array]:
    """Return the noise-free arm and the points (q, n) that it wants, q at most the calls that are left."""
    if state.doubt == "line":
        return state, derivatives.line_points(state.run.x, situation.space, situation.generator)
    run, points = smooth_phase.request(state.run, situation)
    polishing = run.central and not state.run.central and state.runs > 1
    state = state._replace(run=run)
    if not len(points) or (polishing and _behind(run, state.best_value, situation.space)):
        state = _next(state, situation)
        run, points = smooth_phase.request(state.run, situation)
        state = state._replace(run=run)
    if state.best_run == state.runs and not run.restoring:
        state = state._replace(multipliers=run.step.multipliers * (run.size[0] / run.size[1:]))
    # Differences without a step after them tell nothing, nor does a step that may leave the answer outside.
    more = run.phase in ("gradient", "mirror") or _is_outside(state, situation.space)
    if situation.left < len(points) + more:
        return state._replace(last=True), _remainder(state, situation)
    return state, points


def receive(state: Restarts, points: Array, values: Array, situation: Situation) -> Restarts:
    """Return the noise-free arm after the values (q, 1 + m) at its points (q, n); +inf where a call failed."""
    best, best_value = best_of(state.best, state.best_value, points, values, situation.space.tolerance)
    if not np.array_equal(best_value, state.best_value):
        state = state._replace(best=best, best_value=best_value, best_run=state.runs)
    if state.last:
        return state
    if state.doubt == "line":
        return state._replace(doubt=_judgement(state.run, values))
    if state.run.phase == "gradient" and not state.run.central:
        state = _with_rounding(state, values, situation)
    run = smooth_phase.receive(state.run, values, situation)
    rejection = run.phase == "trial" and state.run.phase in ("trial", "correction")
    if rejection and not state.doubt and situation.left - len(points) >= derivatives.LINE_CALLS:
        state = state._replace(doubt="line")
    return state._replace(run=run)


def _judgement(run: SmoothRun, values: Array) -> str:
    """Return whether a function is "rough" for differences, or all are "smooth", by values (q, 1 + m) on a line."""
    level = derivatives.noise_level(np.concatenate([run.value[None], values]))
    return "rough" if (level > derivatives.LARGEST_ROUGHNESS * run.size).any() else "smooth"


def _with_rounding(state: Restarts, values: Array, situation: Situation) -> Restarts:
    """Return the state, "rough" where values (q, 1 + m) of a gradient hardly change beside their rounding."""
    base, outputs = state.run.next_value, values.shape[1]
    precise = state.precise if len(state.precise) else np.zeros(outputs, dtype=bool)
    if precise.all():
        return state
    seen = np.concatenate([state.seen.reshape(-1, outputs), base[None]])[-_SEEN:]
    quantum = np.where(precise, 0.0, differences.rounding(seen, values, situation.quantum))
    precise = precise | ((quantum == 0.0) & (np.isfinite(values) & (values != base)).any(axis=0))
    state = state._replace(seen=seen, precise=precise)
    if not differences.hidden(base, values, quantum).any():
        return state
    return state._replace(doubt="rough", quantum=quantum)


def _behind(run: SmoothRun, best: Array, space: Space) -> bool:
    """Return whether a run's last part, which gains digits, could not bring its f near that of the best point."""
    if run.restoring or not is_feasible(best[1:], space.tolerance):
        return False
    return bool(run.value[0] - best[0] > _NEAR * abs(best[0]))


def _next(state: Restarts, situation: Situation) -> Restarts:
    """Begin another run: feasibility first where nothing feasible was seen, the best point again, or elsewhere.

    Where no restoration gains any more the best point may be the least violated one around, and feasible ones are
    elsewhere: further restorations then count among the runs that begin at the best point.
    """
    space, settings, generator = situation.space, situation.settings, situation.generator
    m = len(state.best_value) - 1
    radius, penalty = 10.0 ** generator.uniform(_NARROWEST, _WIDEST), 10.0 ** generator.uniform(-1.0, 2.0)
    infeasible = not is_feasible(state.best_value[1:], space.tolerance)
    runs, usable = state.runs, bool(np.isfinite(state.best_value).all())
    if state.run.restoring:  # now the whole problem from where it led
        run = smooth_phase.begin(state.run.x, state.run.value, m, radius, penalty)
        return state._replace(run=run, runs=runs + 1)
    # A restoration is two runs: the whole problem follows it.
    due = state.again + 2 * state.restorations < (1.0 - settings.restart_share) * runs
    violation = float(state.best_value[1:].max(initial=0.0))
    if infeasible and usable and (due or violation < _PROGRESS * state.restored_from):
        run = smooth_phase.begin(state.best, state.best_value, m, radius, 1.0, restoring=True)
        restorations = state.restorations + 1
        return state._replace(run=run, runs=runs + 1, restorations=restorations, restored_from=violation)
    if usable and not infeasible and state.again < (1.0 - settings.restart_share) * runs:
        run = smooth_phase.begin(state.best, state.best_value, m, radius, penalty, central=True)
        return state._replace(run=run, runs=runs + 1, again=state.again + 1)
    place = elsewhere(runs, state.best, situation.in_units(state.run.length).space, generator)
    run = smooth_phase.begin(place, None, m, radius, penalty)
    return state._replace(run=run, runs=runs + 1)


def elsewhere(turn: int, best: Array, space: Space, generator: np.random.Generator) -> Array:
    """Return a point to start from, (n,): by turns near the best point, anywhere in the box, and around the start."""
    n, scale = space.n, space.scale
    normal = generator.standard_normal(n)
    if turn % 3 == 2:
        return moved(space.lower, space.upper, best, scale * 10.0 ** generator.uniform(*NEAR) * normal)
    if turn % 3 == 1:
        return moved(space.lower, space.upper, space.start, scale * 10.0 ** generator.uniform(*FAR) * normal)
    far = moved(space.lower, space.upper, space.start, scale * 10.0 ** generator.uniform(-1.0, 1.3) * normal)
    return space.clip(in_box(space.lower, space.upper, scale, generator.random(n), far))


def _is_outside(state: Restarts, space: Space) -> bool:
    """Return whether a run's present point is lower than the best one, or there is none, but violates constraints."""
    value, best = state.run.next_value, state.best_value
    if not np.isfinite(value).all() or is_feasible(value[1:], space.tolerance):
        return False
    return bool(value[0] < best[0] or not is_feasible(best[1:], space.tolerance))


def _remainder(state: Restarts, situation: Situation) -> Array:
    """Return points for the last calls, too few for a gradient and a step.

    Where the present point is outside the constraints back among them, and then: on from the last step, back along it,
    and around the best point.
    """
    back = np.empty((0, situation.space.n))
    if _is_outside(state, situation.space):
        chord, retreats = _chord(state, situation.space), smooth_phase.retreats(state.run, situation, situation.left)
        turns = [points[i : i + 1] for i in range(max(len(chord), len(retreats))) for points in (chord, retreats)]
        back = np.concatenate([back, *turns])[: situation.left]
    return np.concatenate([back, _around(state, situation, situation.left - len(back))])


def _chord(state: Restarts, space: Space) -> Array:
    """Return points (q, n) on the way from the best point to a present one outside; none where the best is no better.

    The first is where the chords of the violated constraints meet 0, and feasible where these are convex.
    """
    inside, outside = state.best_value[1:], state.run.next_value[1:]
    if not is_feasible(inside, space.tolerance):
        return np.empty((0, space.n))
    violated = outside > space.tolerance
    room = np.maximum(-inside[violated], 0.0)
    share = float((room / (room + outside[violated])).min())
    shares = share * np.array(_CHORD) if share > _NO_ROOM else np.empty(0)
    return space.clip(state.best + shares[:, None] * (state.run.next_x - state.best))


def _around(state: Restarts, situation: Situation, count: int) -> Array:
    """Return so many points (count, n) on from the last step, back along it, and around the best point."""
    run, generator = state.run, situation.generator
    space = situation.in_units(run.length).space
    direction = run.next_x - run.x
    if not direction.any():
        direction = space.scale * run.step.d
    lengths = np.concatenate([[1.0, 0.5, 2.0, 0.25, 0.1], 2.0 * generator.random(count)])[:count]
    along = run.next_x + lengths[:, None] * direction
    reach = run.radius * 10.0 ** -generator.uniform(0.0, 4.0, count)
    around = state.best + space.scale * reach[:, None] * generator.standard_normal((count, space.n))
    turn = (np.arange(count) % 2 == 1) | (not direction.any())
    return space.clip(np.where(turn[:, None], around, along))
