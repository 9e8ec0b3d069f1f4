"""The noise-free arm: one run of sequential quadratic programming with differences, request by request."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers import differences
from zoviz.solvers.equilibration import equilibrate
from zoviz.solvers.restart_rules import longest_run
from zoviz.solvers.sqp import derivatives, elastic_qp
from zoviz.solvers.sqp.elastic_qp import Linearisation, Step
from zoviz.solvers.sqp.situation import Situation, Space

_LARGEST_PENALTY, _LEAST_VIOLATION = 1e6, 1e-9
"""Limits of the steering without noise."""
_FLAT = 1e-11
"""A predicted decrease relative to max(1, |phi|) below which a run has come to its end."""
_SMALL_RADIUS, _LARGEST_RADIUS = 1e-9, 1e4
_POLISHING_RADIUS = 1e-2
_STALLED, _TINY_DECREASE = 6, 1e-8
"""So many accepted steps in a row of so small a relative decrease end a run too."""
_ACCEPTED, _POOR, _FAIR, _CORRECTED, _GOOD = 1e-4, 0.1, 0.3, 0.25, 0.7
"""Ratios of the actual to the predicted decrease: the least that is accepted, those at which the region shrinks, below
which a second-order correction is tried, and above which the region grows."""
_GROWTH = 2.5
_RESTORED = 1e-9
"""The violation at which a restoration ends."""
_SPARE = (1.0, 4.0, 16.0, 64.0)
"""Multiples of a violation by which the last calls keep away from a constraint."""
_APART = 100.0
"""Ratio of the longest to the shortest of the lengths that slopes suggest, from which on variables take them."""
_LINEAR_REACH = 1e3
"""How much farther than the others a step may go along variables that enter linearly (30 did as well)."""
_NOTICEABLE = 1e-2
"""A move in unit lengths over which a variable's curvature would show in the slopes."""
_FLATTEST = 1e-4
"""Least curvature along a variable, relative to the largest, in a Hessian that begins as a diagonal."""


class SmoothRun(NamedTuple):
    """The state of one run of the noise-free arm, from one start.

    Attributes
    ----------
    phase : str
        What the next calls are: "start", "gradient", "mirror", "trial" or "correction"; "over" once it has ended.
    x, gradient, jacobian : Array, shapes (n,), (n,), (m, n)
        The last point whose derivatives are known, and these, of functions in units of ``size``.
    value : Array, shape (1 + m,)
        The values at ``x``, f first.
    next_x, next_value : Array, shapes (n,) and (1 + m,)
        The last accepted point, whose derivatives are being taken.
    quotients : Array, shape (n, 1 + m)
        Quotients so far, while some are ``missing`` (n,).
    hessian : Array, shape (n, n)
        Of the Lagrangian in scaled variables; (0, 0) before there is one.
    first : bool
        Whether the Hessian has not been updated yet.
    known : bool
        Whether derivatives at ``x`` are known.
    scaled : bool
        Whether the run has set its units, by the first slopes that it saw.
    length, size : Array, shapes (n,) and (1 + m,)
        These: of the variables relative to ``Space.scale``, and of f and h.
    radius, penalty : float
    central, polished, restoring : bool
        Whether differences are central; whether this is the second, finer part; whether f counts as 0.
    stall, spent : int
        Accepted steps without progress, and calls of this run.
    step : Step
        The last step, in scaled variables.
    trial, trial_value : Array, shapes (n,) and (1 + m,)
        The point of the last step and the values there, while a correction of it is being tried.
    predicted : float
        The decrease of the merit function that the step promised.
    curved, moved : Array, shape (n,)
        Whether slopes along a variable have changed from one point to the next, and whether it has moved noticeably.
    """

    phase: str
    x: Array
    value: Array
    gradient: Array
    jacobian: Array
    next_x: Array
    next_value: Array
    quotients: Array
    missing: np.ndarray
    hessian: Array
    first: bool
    known: bool
    scaled: bool
    length: Array
    size: Array
    radius: float
    penalty: float
    central: bool
    polished: bool
    restoring: bool
    stall: int
    spent: int
    step: Step
    trial: Array
    trial_value: Array
    predicted: float
    curved: np.ndarray
    moved: np.ndarray

    @property
    def linear(self) -> np.ndarray:
        """The variables (n,) that enter linearly as far as is known: of an epigraph max h_i(z) <= t for one, t.

        Where no slope has changed nothing was learned.
        """
        return self.moved & ~self.curved & bool(self.curved.any())

    @property
    def reach(self) -> Array:
        """How far the region reaches along every variable (n,), in radii: models are exact along linear ones."""
        return np.where(self.linear, _LINEAR_REACH, 1.0)


def begin(
    x: Array,
    value: Array | None,
    m: int,
    radius: float,
    penalty: float,
    central: bool = False,
    restoring: bool = False,
) -> SmoothRun:
    """Return a run at its start x (n,), where the values are known (1 + m,) or None."""
    n = len(x)
    no_value = np.full(1 + m, np.inf)
    return SmoothRun(
        phase="start" if value is None else "gradient",
        x=x,
        value=no_value if value is None else value,
        gradient=np.zeros(n),
        jacobian=np.zeros((m, n)),
        next_x=x,
        next_value=no_value if value is None else value,
        quotients=np.zeros((n, 1 + m)),
        missing=np.zeros(n, dtype=bool),
        hessian=np.empty((0, 0)),
        first=True,
        known=False,
        scaled=False,
        length=np.ones(n),
        size=np.ones(1 + m),
        radius=radius,
        penalty=penalty,
        central=central,
        polished=central,
        restoring=restoring,
        stall=0,
        spent=0,
        step=Step(np.zeros(n), np.zeros(m), 0.0, penalty),
        trial=x,
        trial_value=no_value,
        predicted=0.0,
        curved=np.zeros(n, dtype=bool),
        moved=np.zeros(n, dtype=bool),
    )


def request(run: SmoothRun, situation: Situation) -> tuple[SmoothRun, Array]:
    """Return the run, with its next step made, and the points that it wants, (q, n); none where it is over."""
    situation = situation.in_units(run.length)
    space = situation.space
    no_points = np.empty((0, space.n))
    if run.phase == "trial" and run.spent >= longest_run(space.n):
        run = run._replace(phase="over")
    if run.phase == "trial":
        run = _with_step(run, situation)
        if not run.predicted > _FLAT * max(1.0, abs(_merit(run, run.value))):
            run = _polish_or_end(run)
    if run.phase == "over":
        return run, no_points
    if run.phase == "start":
        return run, run.next_x[None]
    if run.phase == "gradient":
        return run, derivatives.points(run.next_x, _offsets(run, space), space)
    if run.phase == "mirror":
        return run, derivatives.mirror_points(run.next_x, _offsets(run, space), run.missing, space)
    if run.phase == "correction":
        model = _model(run, situation, (run.trial_value / run.size)[1:] - (run.jacobian * space.scale) @ run.step.d)
        correction = elastic_qp.solve(model, run.penalty)
        run = run._replace(step=run.step._replace(d=correction.d))
    return run, _point(run, space)[None]


def retreats(run: SmoothRun, situation: Situation, count: int) -> Array:
    """Return up to ``count`` points (q, n) for the last calls of a run that is outside the constraints, (0, n) if none.

    Steps of the programme from the present point, with the last derivatives, at which constraints that it violates are
    to be met with 1, 4, 16 and 64 times their violation to spare: what a step leaves of them is of second order.
    """
    space = situation.in_units(run.length).space
    if not (run.known and run.hessian.size):
        return np.empty((0, space.n))
    present = run._replace(x=run.next_x, value=run.next_value)
    h = (run.next_value / run.size)[1:]
    points = []
    for spare in _SPARE[:count]:
        model = _model(present, situation.in_units(run.length), h + spare * np.maximum(h, 0.0))
        step = elastic_qp.steered(model, run.penalty, _LARGEST_PENALTY, _LEAST_VIOLATION)
        points.append(_point(present._replace(step=step), space))
    return np.array(points)


def receive(run: SmoothRun, values: Array, situation: Situation) -> SmoothRun:
    """Return the run after the values (q, 1 + m) at the points that it wanted; +inf where a call failed."""
    situation = situation.in_units(run.length)
    run = run._replace(spent=run.spent + len(values))
    if run.phase == "start":
        usable = bool(np.isfinite(values[0]).all())
        return run._replace(value=values[0], next_value=values[0], phase="gradient" if usable else "over")
    if run.phase == "trial":
        return _after_trial(run, values[0], situation)
    if run.phase == "correction":
        return _after_correction(run, values[0], situation)
    steps, curvatures = _offsets(run, situation.space), None
    if run.phase == "gradient":
        slopes = derivatives.quotients(run.next_value, values, steps)
        missing = np.asarray(~np.isfinite(slopes).all(axis=1))
        run = run._replace(quotients=slopes, missing=missing)
        if missing.any():
            return run._replace(phase="mirror")
        if run.central and not run.hessian.size:
            curvatures = derivatives.curvatures(run.next_value, values, steps)
    else:
        slopes = derivatives.complete(run.quotients, run.missing, run.next_value, values, steps)
    return _with_derivatives(run, slopes, curvatures, situation.space)


def _with_units(run: SmoothRun, slopes: Array, space: Space) -> SmoothRun:
    """Return the run with units from its first slopes (n, 1 + m): every function's steepest slope is 1.

    Variables keep theirs where the slopes do not tell them far apart: a slope of one point is no good measure of a
    length, only better than none. A constraint whose slope happens to vanish there is in units of its value, up to
    those of the others.
    """
    length = equilibrate((slopes * space.scale[:, None]).T).length
    length /= np.exp(np.median(np.log(length)))
    if length.max() < _APART * length.min():
        length = np.ones(space.n)
    steepest = np.abs(slopes * (space.scale * length)[:, None]).max(axis=0)
    size = np.append(steepest[0], np.maximum(steepest[1:], np.minimum(np.abs(run.next_value[1:]), np.median(steepest))))
    return run._replace(length=length, size=np.where(np.isfinite(size) & (size > 0.0), size, 1.0), scaled=True)


def _diagonal(run: SmoothRun, curvatures: Array, space: Space) -> Array:
    """Return the diagonal (n, n) of the Lagrangian's Hessian, from second derivatives (n, 1 + m); (0, 0) for none."""
    weights = np.append(0.0 if run.restoring else 1.0, run.step.multipliers) / run.size
    diagonal = np.abs(curvatures @ weights) * space.scale**2
    largest = diagonal.max()
    if not (np.isfinite(largest) and largest > 0.0):
        return np.empty((0, 0))
    return np.diag(np.maximum(diagonal, _FLATTEST * largest))


def _without(hessian: Array, linear: np.ndarray) -> Array:
    """Return the Hessian (n, n), or none yet (0, 0), without the curvature that it was given along linear variables."""
    return np.where(linear | linear[:, None], 0.0, hessian) if hessian.size else hessian


def _offsets(run: SmoothRun, space: Space) -> derivatives.Offsets:
    relative = np.full(space.n, differences.CENTRAL if run.central else differences.FORWARD)
    return derivatives.offsets(run.next_x, space, relative, run.central)


def _merit(run: SmoothRun, value: Array) -> float:
    """Return f + rho sum [h]_+, +inf where a value is not finite; without f in a restoration."""
    scaled = value / run.size
    merit = (0.0 if run.restoring else scaled[0]) + run.penalty * np.maximum(scaled[1:], 0.0).sum()
    return float(merit) if np.isfinite(value).all() else np.inf


def _model(run: SmoothRun, situation: Situation, value: Array) -> Linearisation:
    """Return the programme of a step in scaled variables with these values of the constraints."""
    space, radius = situation.space, run.radius * situation.settings.trust_scale * run.reach
    gradient = np.zeros(space.n) if run.restoring else run.gradient * space.scale
    lower = np.maximum(-radius, (space.lower - run.x) / space.scale)
    upper = np.minimum(radius, (space.upper - run.x) / space.scale)
    return Linearisation(run.hessian, gradient, run.jacobian * space.scale, value, lower, upper)


def _point(run: SmoothRun, space: Space) -> Array:
    return space.clip(run.x + space.scale * run.step.d)


def _with_step(run: SmoothRun, situation: Situation) -> SmoothRun:
    """Solve the quadratic programme at x and set the penalty for the merit function."""
    space, h = situation.space, (run.value / run.size)[1:]
    if not run.hessian.size:
        size = np.abs(run.gradient * space.scale).max()
        identity = np.eye(space.n) * (1e-3 if run.restoring else np.clip(size, 1e-3, 1.0))
        run = run._replace(hessian=_without(identity, run.linear), first=True)
    model = _model(run, situation, h)
    step = elastic_qp.steered(model, run.penalty, _LARGEST_PENALTY, _LEAST_VIOLATION)
    largest, penalty, violation = step.largest_multiplier, step.penalty, float(np.maximum(h, 0.0).sum())
    if penalty < 1.1 * largest:
        penalty = 1.5 * largest
    elif penalty > 20.0 * max(largest, 1e-2) and violation < 1e-8:
        penalty = max(2.0 * largest, 1e-2, penalty / 2.0)
    decrease = model.gradient @ step.d + 0.5 * step.d @ run.hessian @ step.d
    promise = float(-decrease + penalty * (violation - step.violation))
    return run._replace(step=step, penalty=penalty, predicted=promise)


def _polish_or_end(run: SmoothRun) -> SmoothRun:
    """Go on once more from the same point with central differences and a fresh Hessian; then the run is over."""
    if run.polished:
        return run._replace(phase="over")
    return run._replace(
        phase="gradient",
        next_x=run.x,
        next_value=run.value,
        polished=True,
        central=True,
        known=False,
        hessian=np.empty((0, 0)),
        radius=max(run.radius, _POLISHING_RADIUS),
        stall=0,
    )


def _after_trial(run: SmoothRun, value: Array, situation: Situation) -> SmoothRun:
    """Try a second-order correction where the step was poor because of the constraints, else judge the step."""
    decrease = _merit(run, run.value) - _merit(run, value)
    poor = not decrease > _CORRECTED * run.predicted
    curved = np.isfinite(value[1:]).all() and np.maximum(value[1:], 0.0).sum() > 0.0
    point = _point(run, situation.space)
    if poor and curved and np.abs(run.step.d).max() > 1e-8:
        return run._replace(phase="correction", trial=point, trial_value=value)
    return _accept_or_refuse(run, point, value)


def _after_correction(run: SmoothRun, value: Array, situation: Situation) -> SmoothRun:
    """Judge the correction where it serves, and is better than the step; else the step.

    A correction that leads back to x would tell nothing about the region: refused, it would shrink it to nothing.
    """
    present, first, second = _merit(run, run.value), _merit(run, run.trial_value), _merit(run, value)
    if second < first and present - second > _ACCEPTED * run.predicted:
        return _accept_or_refuse(run, _point(run, situation.space), value)
    step = (run.trial - run.x) / situation.space.scale
    return _accept_or_refuse(run._replace(step=run.step._replace(d=step)), run.trial, run.trial_value)


def _accept_or_refuse(run: SmoothRun, point: Array, value: Array) -> SmoothRun:
    """Accept or refuse a step, and set the radius."""
    present = _merit(run, run.value)
    decrease = present - _merit(run, value)
    ratio = decrease / run.predicted if np.isfinite(decrease) else -1.0
    length, radius = float((np.abs(run.step.d) / run.reach).max()), run.radius
    if ratio > _GOOD and length > _GOOD * radius:
        radius = min(_GROWTH * radius, _LARGEST_RADIUS)
    elif ratio < _POOR:
        radius = min(0.5 * radius, 0.5 * length) if np.isfinite(value).all() else 0.2 * min(radius, length)
    elif ratio < _FAIR:
        radius = max(0.5 * length, 0.5 * radius)
    if ratio > _ACCEPTED:
        stall = run.stall + 1 if decrease < _TINY_DECREASE * max(1.0, abs(present)) else 0
        return run._replace(phase="gradient", next_x=point, next_value=value, radius=radius, stall=stall)
    return _end_if_stalled(run._replace(phase="trial", radius=radius))


def _end_if_stalled(run: SmoothRun) -> SmoothRun:
    """End a run whose region has become too small or that has stalled."""
    feasible = run.restoring and np.maximum(run.value[1:], 0.0).max(initial=0.0) < _RESTORED
    if feasible:
        return run._replace(phase="over")
    return _polish_or_end(run) if run.radius < _SMALL_RADIUS or run.stall >= _STALLED else run


def _with_derivatives(run: SmoothRun, slopes: Array, curvatures: Array | None, space: Space) -> SmoothRun:
    """Go to the accepted point, with the Hessian updated by what the derivatives changed on the way.

    Where there is no Hessian yet it begins with the ``curvatures`` (n, 1 + m), if they were taken.
    """
    if not run.scaled:
        run = _with_units(run, slopes, space)
        space = space._replace(scale=space.scale * run.length)
    slopes = slopes / run.size
    gradient, jacobian = slopes[:, 0], slopes[:, 1:].T
    if run.known:
        before, scale = np.column_stack([run.gradient, run.jacobian.T]), space.scale[:, None]
        same = derivatives.alike(before * scale, slopes * scale)
        moved = np.abs(run.next_x - run.x) > _NOTICEABLE * space.scale
        run = run._replace(curved=run.curved | ~same, moved=run.moved | moved)
    hessian, first = run.hessian, run.first
    if curvatures is not None:
        hessian, first = _diagonal(run, curvatures, space), False
    if run.known and hessian.size:
        objective = 0.0 if run.restoring else gradient - run.gradient
        change = (objective + (jacobian - run.jacobian).T @ run.step.multipliers) * space.scale
        change = np.where(run.linear, 0.0, change)
        hessian = derivatives.update_hessian(
            hessian, (run.next_x - run.x) / space.scale, change, first and not run.restoring
        )
        first = False
    run = run._replace(
        phase="trial",
        x=run.next_x,
        value=run.next_value,
        gradient=gradient,
        jacobian=jacobian,
        hessian=_without(hessian, run.linear),
        first=first,
        known=True,
    )
    return _end_if_stalled(run)
