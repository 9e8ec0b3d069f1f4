"""The iteration of AL-SPG for one replica: the points that it asks for next, and its new state from their values."""

from __future__ import annotations

import numpy as np

from zoviz.core.ranking import is_feasible
from zoviz.core.types import Array
from zoviz.solvers.augmented_lagrangian.course_state import Course, Setting
from zoviz.solvers.augmented_lagrangian.noise_rules import difference_lengths, larger_batch, widened
from zoviz.solvers.augmented_lagrangian.spectral_direction import spectral_direction
from zoviz.solvers.augmented_lagrangian.starts import next_start
from zoviz.solvers.differences import CENTRAL, FORWARD, hidden, rounding
from zoviz.solvers.equilibration import equilibrate
from zoviz.solvers.restart_rules import longest_run

REPEATS, START, SWEEP, TRIAL, NOTHING = "repeats", "start", "sweep", "trial", "nothing"
"""What a course is waiting for: calls at the start that tell the noise, the value at a new start, differences, a trial
of the line search; nothing, where it has ended."""

_DECREASE = 1e-4
"""Share of the slope that a step must gain (Armijo)."""
_SHORTEST = 1e-12
"""Fraction of a direction below which the line search has failed."""
_FIRST_MOVE = 0.1
"""Length of the first step, relative to max(1, |x|)."""
_WIDER = 10.0
"""How much longer than the one before a step may be."""
_PENALTY_SHARE = 10.0
"""The first penalty: so many times the objective's slope at the violation, or the slack, of the start."""
_LARGEST_PENALTY, _LARGEST_MULTIPLIER = 1e12, 1e8
"""The safeguards of Andreani, Birgin, Martínez and Schuverdt, in equilibrated units."""
_FIRST_TOLERANCE, _LAST_TOLERANCE, _TIGHTER = 1e-2, 1e-14, 0.1
"""Newton decrement at which an inner problem counts as solved, in units of the first length: first, last, ratio."""
_INNER = 50
"""Steps after which the multipliers move although the inner problem is not solved."""
_UNBOUNDED = 1e10
"""An augmented Lagrangian below minus so many first lengths has no minimum."""


def begin(x: Array, value: Array, setting: Setting, seed: int, again: int) -> Course:
    """Return a replica's state at its start x (n,) with values (m + 1,), and with the points that it asks for first.

    Under independent noise these are ``again`` repeats of the start, else a sweep of differences.
    """
    n, m = len(x), len(value) - 1
    empty = np.empty((0, n))
    course = Course(
        waiting=SWEEP, queue=empty, answers=np.empty((0, m + 1)), x=x, value=value, repeats=1.0, y=np.zeros(m),
        penalty=1.0, weight=1.0, length=np.ones(n), size=np.ones(m + 1), unit=1.0, points=empty,
        values=np.empty((0, m + 1)), slopes=np.empty((0, m + 1, n)), move=np.zeros(n), slope=0.0, fraction=1.0,
        reach=0.0, tolerance=_FIRST_TOLERANCE, progress=np.inf, inner=0, outer=0, used=0, central=False,
        noise=np.zeros(m + 1), batch=1, radius=np.zeros(n), best_x=x, best=value, start=x, seed=seed, restart=0,
        probes=x[None], purpose=START,
    )  # fmt: skip
    if setting.contract == "independent":
        return course._replace(waiting=REPEATS, queue=np.repeat(x[None], again, axis=0))
    return _sweep(course, setting)


def take_values(course: Course, answers: Array, setting: Setting) -> Course:
    """Return a replica's state after the values (k, m + 1) at the next k points of its queue."""
    answers = np.concatenate([course.answers, answers])
    course = course._replace(answers=answers, used=course.used + len(answers) - len(course.answers))
    if len(answers) < len(course.queue):
        return course
    react = {REPEATS: _learn_noise, START: _begin_again, SWEEP: _learn_slopes, TRIAL: _judge}[course.waiting]
    return react(course._replace(queue=course.queue[:0], answers=answers[:0]), course.queue, answers, setting)


def multipliers(course: Course) -> Array:
    """Return a replica's multipliers y (m,) in the units of f and h, not in equilibrated ones."""
    return course.y * (course.size[0] / course.size[1:])


def _learn_noise(course: Course, queue: Array, answers: Array, setting: Setting) -> Course:
    """Estimate the noise from the repeats of the start, and ask for the first sweep."""
    values = np.concatenate([course.value[None], answers])
    values = values[np.isfinite(values).all(axis=1)]
    noise = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(course.value)
    noisy = bool(noise.any())
    course = course._replace(value=values.mean(axis=0), repeats=float(len(values)), noise=noise, central=noisy)
    return _sweep(course._replace(radius=difference_lengths(course.x, noise)), setting)


def _sweep(course: Course, setting: Setting) -> Course:
    """Ask for differences: forward ones, or central ones where they are to be accurate or values are noisy."""
    x, noisy = course.x, course.noise.any()
    free = np.flatnonzero(setting.lower < setting.upper)
    lengths = course.radius if noisy else np.maximum(1.0, np.abs(x)) * (CENTRAL if course.central else FORWARD)
    ahead = np.minimum(x + lengths, setting.upper)
    behind = np.maximum(x - lengths, setting.lower)
    if not course.central:
        ahead = np.where(setting.upper - x >= x - setting.lower, ahead, np.where(ahead - x < lengths, behind, ahead))
    probes = np.repeat(x[None], len(free), axis=0)
    probes[np.arange(len(free)), free] = ahead[free]
    if course.central:
        others = np.repeat(x[None], len(free), axis=0)
        others[np.arange(len(free)), free] = behind[free]
        probes = np.tile(np.concatenate([probes, others]), (course.batch, 1))
    return _ask(course, SWEEP, probes, setting)


def _ask(course: Course, what: str, points: Array, setting: Setting) -> Course:
    """Wait for these points; under common noise the iterate comes first, as values compare within one batch alone."""
    if setting.contract == "common" and what in (SWEEP, TRIAL) and len(points):
        points = np.concatenate([course.x[None], points])
    return course._replace(waiting=what, queue=points)


def _own(course: Course, queue: Array, answers: Array, setting: Setting) -> tuple[Course, Array, Array]:
    """Take the iterate's own value out of a batch under common noise."""
    if setting.contract != "common":
        return course, queue, answers
    value = answers[0] if np.isfinite(answers[0]).all() else course.value
    values = course.values.copy()
    values[-1:] = value
    return course._replace(value=value, values=values), queue[1:], answers[1:]


def _learn_slopes(course: Course, queue: Array, answers: Array, setting: Setting) -> Course:
    """Compute slopes from the values of a sweep; at a new start, set the scales by them."""
    course, queue, answers = _own(course, queue, answers, setting)
    n, free = len(course.x), np.flatnonzero(setting.lower < setting.upper)
    slopes, bends = np.zeros((len(course.value), n)), np.zeros((len(course.value), n))
    if course.central:
        half = len(free)
        sides = _mean(answers.reshape(course.batch, 2, half, -1))
        ends = queue[: 2 * half].reshape(2, half, n)[:, np.arange(half), free]
        slopes[:, free] = ((sides[0] - sides[1]) / (ends[0] - ends[1])[:, None]).T
        bends[:, free] = (sides[0] + sides[1] - 2.0 * course.value).T
    else:
        rise = queue[np.arange(len(free)), free] - course.x[free]
        slopes[:, free] = ((answers - course.value) / rise[:, None]).T
        if not course.restart:
            steps = rounding(np.concatenate([course.values, course.value[None]]), answers, setting.quantum)
            course = course._replace(blind=bool(hidden(course.value, answers, steps).any()))
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)  # a failed probe leaves its variable alone
    fresh = not len(course.points)
    if fresh:
        course = _with_scales(course, slopes, setting)
    elif np.array_equal(course.points[-1], course.x):  # seen again, by better differences
        course = _with_memory(course, -1)
    course = course._replace(
        points=np.concatenate([course.points, course.x[None]]),
        values=np.concatenate([course.values, course.value[None]]),
        slopes=np.concatenate([course.slopes, slopes[None]]),
    )
    course = _with_memory(course, None, max(setting.memory, 1) + 1)
    if course.noise.any():
        weights = np.append(course.weight, _weights(course, course.value)) / course.size
        noise = float(np.sqrt(np.square(weights * course.noise).sum()))
        course = course._replace(radius=widened(course.radius, weights @ np.nan_to_num(bends), noise, setting))
        gradient = _gradients(course)[-1]
        batch = larger_batch(course.batch, gradient, course.length, course.radius, noise * course.size[0], setting)
        course = course._replace(batch=batch)
    return _advance(course, setting)


def _mean(values: Array) -> Array:
    """Return the mean over the first axis of what is finite; NaN where nothing is."""
    good = np.isfinite(values)
    number = good.sum(axis=0)
    return np.where(number, np.where(good, values, 0.0).sum(axis=0) / np.maximum(number, 1), np.nan)


def _with_memory(course: Course, stop: int | None, most: int = 10**9) -> Course:
    """Return the course with its memory cut: the entries up to ``stop``, and of these the newest ``most``."""
    part = slice(max(len(course.points) - most, 0), stop)
    return course._replace(points=course.points[part], values=course.values[part], slopes=course.slopes[part])


def _with_scales(course: Course, slopes: Array, setting: Setting) -> Course:
    """Set scales, first length, penalty and reach by the slopes (m + 1, n) at a start."""
    length, size = equilibrate(slopes)
    h = course.value[1:] / size[1:]
    first = _FIRST_MOVE * float(np.min(np.maximum(1.0, np.abs(course.x)) / length, initial=np.inf))
    unit = float(np.max(h, initial=0.0)) or (float(np.median(np.abs(h))) if h.size else 0.0) or first / _FIRST_MOVE
    return course._replace(
        length=length, size=size, unit=unit, penalty=_PENALTY_SHARE / unit, y=np.zeros_like(h),
        reach=min(max(first, 0.1 * unit), 10.0 * unit), tolerance=_FIRST_TOLERANCE, progress=np.inf, inner=0, outer=0,
    )  # fmt: skip


def _weights(course: Course, value: Array) -> Array:
    """Return [y + beta h]_+ (..., m) at values (..., m + 1), in equilibrated units."""
    return np.maximum(course.y + course.penalty * (value[..., 1:] / course.size[1:]), 0.0)


def _lagrangian(course: Course, value: Array) -> Array:
    """Return the augmented Lagrangian (...) of values (..., m + 1), in equilibrated units."""
    squares = np.square(_weights(course, value)) - np.square(course.y)
    return course.weight * value[..., 0] / course.size[0] + squares.sum(axis=-1) / (2.0 * course.penalty)


def _gradients(course: Course) -> Array:
    """Return the augmented Lagrangian's gradients (k, n) at the points of the memory, for the present y and penalty.

    From the Jacobians, so that a pair of points tells the curvature also where the multipliers moved between them.
    """
    weights = np.concatenate([np.full((len(course.values), 1), course.weight), _weights(course, course.values)], axis=1)
    return np.einsum("kj,kji->ki", weights / course.size, course.slopes) * course.length


def _advance(course: Course, setting: Setting) -> Course:
    """Begin a line search; where none is worth it move the multipliers, and in the end begin again elsewhere."""
    noisy = bool(course.noise.any())
    while True:
        gradients = _gradients(course)
        move = spectral_direction(
            course.points / course.length,
            gradients,
            setting.lower / course.length,
            setting.upper / course.length,
            course.reach / max(np.abs(gradients[-1]).max(initial=0.0), 1e-300),
            course.reach,
            0 if noisy else setting.memory,
        )
        decrement = -float(gradients[-1] @ move)
        solved = not decrement > course.tolerance * course.unit
        if not solved and course.inner < _INNER:
            course = course._replace(move=move * course.length, slope=-decrement, fraction=1.0)
            return _try(course, setting)
        course, over = _outer(course, solved, decrement, setting)
        if over:
            return _restart(course, setting)
        if noisy:  # the same values again would move nothing
            return _sweep(course, setting)


def _outer(course: Course, solved: bool, decrement: float, setting: Setting) -> tuple[Course, bool]:
    """Move the multipliers, raise the penalty where they do not help, and say whether the run is over."""
    h = course.value[1:] / course.size[1:]
    gap = float(np.abs(np.maximum(h, -course.y / course.penalty)).max(initial=0.0)) if h.size else 0.0
    feasible = bool(is_feasible(course.value[1:], setting.tolerance))
    y = np.minimum(np.maximum(course.y + course.penalty * h, 0.0), _LARGEST_MULTIPLIER)
    y = y if course.weight else np.zeros_like(y)
    grows = gap > 0.5 * course.progress and solved and not feasible
    at_end = course.tolerance <= _LAST_TOLERANCE
    over = (at_end and (gap <= 1e-12 * course.unit or course.outer > 40)) or course.penalty > _LARGEST_PENALTY
    over |= not h.size and at_end
    over |= course.used > longest_run(len(course.x))
    over |= course.weight == 0.0 and feasible
    course = course._replace(
        y=y, penalty=course.penalty * (setting.growth if grows else 1.0), progress=gap, inner=0,
        outer=course.outer + 1, tolerance=max(course.tolerance * _TIGHTER, _LAST_TOLERANCE),
    )  # fmt: skip
    return course, over and not course.noise.any()


def _try(course: Course, setting: Setting) -> Course:
    """Ask for the value at the present fraction of the direction."""
    point = np.minimum(np.maximum(course.x + course.fraction * course.move, setting.lower), setting.upper)
    calls = max(1, course.batch * len(point) // 2) if course.noise.any() else 1
    return _ask(course, TRIAL, np.repeat(point[None], calls, axis=0), setting)


def _judge(course: Course, queue: Array, answers: Array, setting: Setting) -> Course:
    """Accept a trial that lowers the augmented Lagrangian enough, else try a shorter step."""
    course, queue, answers = _own(course, queue, answers, setting)
    good = np.isfinite(answers).all(axis=1)
    value = answers[good].mean(axis=0) if good.any() else np.full_like(course.value, np.nan)
    now, ahead = float(_lagrangian(course, course.value)), float(_lagrangian(course, value))
    recent = 1 if setting.contract != "deterministic" else 1 + min(course.inner, setting.window)
    reference = float(_lagrangian(course, course.values[-recent:]).max())
    weights = np.append(course.weight, _weights(course, course.value)) / course.size
    noise = np.sqrt(np.square(weights * course.noise).sum() * (1.0 / course.repeats + 1.0 / max(good.sum(), 1)))
    t, slope = course.fraction, course.slope
    if ahead <= reference + _DECREASE * t * slope + 2.0 * noise:  # NaN is not
        size = float(np.abs(t * course.move / course.length).max())
        reach = max(course.reach, _WIDER * size) if t == 1.0 else max(_WIDER * size, 0.1 * course.reach)
        course = course._replace(x=queue[0], value=value, repeats=float(max(good.sum(), 1)), inner=course.inner + 1)
        course = course._replace(reach=reach)
        if ahead < -_UNBOUNDED * course.unit:
            return _restart(course._replace(penalty=course.penalty * setting.growth), setting)
        return _sweep(course, setting)
    best = -slope * t * t / (2.0 * (ahead - now - t * slope)) if np.isfinite(ahead) else 0.0
    course = course._replace(fraction=min(max(best, 0.1 * t), 0.5 * t))
    if course.fraction > _SHORTEST and (-slope * course.fraction > 1e-16 * abs(now) or course.noise.any()):
        return _try(course, setting)
    if not course.central:  # the slopes are too crude: once more, with better ones
        return _finer(course, setting)
    course, over = _outer(course, True, 0.0, setting)
    return _restart(course, setting) if over else _advance(course, setting)


def _finer(course: Course, setting: Setting) -> Course:
    """Go on with central differences; curvatures from the crude ones are forgotten."""
    return _sweep(_with_memory(course, None, 1)._replace(central=True), setting)


def _restart(course: Course, setting: Setting) -> Course:
    """Begin another run, at the point that the present one led to or elsewhere."""
    after_restoration = course.weight == 0.0 and bool(is_feasible(course.value[1:], setting.tolerance))
    infeasible = not is_feasible(course.best[1:], setting.tolerance)
    x, weight = course.x, 1.0
    if not after_restoration:
        alone = infeasible and course.restart % 2 == 0
        weight = 0.0 if alone else 1.0
        if course.restart and not setting.restarts:
            return course._replace(waiting=NOTHING)
        x = next_start(course, setting, at_best=alone)
        course = course._replace(restart=course.restart + 1)
    course = _with_memory(course, 0)._replace(weight=weight, used=0, central=after_restoration or course.central)
    return _ask(course._replace(move=x - course.x), START, x[None], setting)


def _begin_again(course: Course, queue: Array, answers: Array, setting: Setting) -> Course:
    """Take the value at a new start; where there is none, look for another."""
    if not np.isfinite(answers).all():
        return _restart(course, setting)
    return _sweep(course._replace(x=queue[0], value=answers[0], repeats=1.0), setting)
