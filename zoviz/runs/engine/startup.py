"""The start of a run: resolves open parameters, and measures units for the solver with charged calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.core.units import Units, coordinates
from zoviz.estimators import Coordinate, GradientEstimator
from zoviz.estimators.base import chunks
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.problems.scaled import Scaled
from zoviz.runs.engine.spec import ALWAYS, UNDER_NOISE
from zoviz.solvers.base import Solver
from zoviz.solvers.published_form import FAR


class Resolution(NamedTuple):
    """The parameters that a rule chose at the start of a run.

    Attributes
    ----------
    values : dict
        By (dotted) name.
    note : str
        A sentence where constants were measured for it; else empty.
    constants : Any
        What it chose by; None where nothing was asked of it.
    """

    values: dict[str, Any]
    note: str = ""
    constants: Any = None


def resolve(
    solver: Solver,
    problem: Problem,
    oracle: Oracle,
    x0: Array,
    streams: Streams,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> Resolution:
    """Set every parameter of a solver that is None and that its rule has a value for, within its bounds.

    Without a step, radius or penalty that is open nothing is asked of the rule, which may take charged calls. Nor is it
    where a cap on multipliers alone is open and constants would have to be measured: such a cap is there to stay out of
    reach, and is put as far as it can be. Where other values than such caps are ``given`` it is asked all the same: a
    run that repeats another one is charged as that was.

    Parameters
    ----------
    solver : Solver
    problem : Problem
        As the solver sees it.
    oracle : Oracle
    x0 : Array, shape (R, n)
    streams : Streams
    given : mapping
        Values by (dotted) name that count in place of the rule's.

    Returns
    -------
    Resolution

    Raises
    ------
    ZovizError
        Where the functions are so large or so small that the rules' powers of their slopes leave the floating-point
        range.
    """
    open_scales = solver.open_scales()
    if not open_scales:
        return Resolution({})
    constants_known = solver.known_constants(problem) is not None and oracle.units is None
    caps_alone = all(name.rpartition(".")[2] in solver.caps for name in open_scales)
    only_far = all(name in open_scales and value == FAR for name, value in given.items())
    if not constants_known and caps_alone and only_far:
        for name in open_scales:
            solver.set(name, FAR)
        return Resolution(dict.fromkeys(open_scales, FAR))
    with oracle.purpose(Purpose.CONSTANTS):
        constants, values = solver.measure_constants(problem, oracle, x0, streams), {}
    try:
        suggestions = solver.from_constants(problem, constants)
    except (OverflowError, ZeroDivisionError) as error:
        raise ZovizError(
            f"Expected slopes and curvatures whose powers are finite, so that steps can be chosen, got "
            f"{constants!r:.300}: divide the functions by their size, let them be scaled (scaled=True), or set the "
            "steps yourself."
        ) from error
    others = [name for name in {**suggestions, **given} if name not in open_scales and _is_open(solver, name)]
    for name in [*open_scales, *others]:
        holder, own = solver.owner(name)
        bounds = getattr(holder.param[own], "bounds", None)  # a switch has none
        value = given[name] if name in given else suggestions[name]
        values[name] = value if bounds is None else _within(value, *bounds)
        solver.set(name, values[name])
    note = f"Steps chosen from constants {constants.source}." if constants.measured else ""
    return Resolution(values, note, constants)


def _within(value: float, low: float, high: float | None) -> float:
    """Return the value, or the nearest that a parameter may have."""
    return min(max(value, low), np.inf if high is None else high)


def _is_open(solver: Solver, name: str) -> bool:
    """Whether a (dotted) parameter is one that the solver has, and None."""
    prefix, dot, own = name.rpartition(".")
    part = solver.parts().get(prefix + dot)
    return part is not None and own in part.param and getattr(part, own) is None


_REACH = 0.25
"""How far towards random points of X the values are compared: far enough to tell a magnitude, near enough to be safe
where functions grow fast or are not defined everywhere."""
_PROBES = 4
_STEEP = 1e-2
"""A row is steep where the second smallest of its values is so small a share of the largest."""
_ROUND_OFF = 1e-12
_TINY, _ROUND_OFF_BITS = 1e-8, 10
"""Values below 1e-8 that are all multiples of a 2^10th of the largest are round-off: others have more digits."""
_FAR, _REPEATS = 0.5, 8
"""Half of a second difference's span, which is all of an interval, and calls at its middle."""
_NEARER, _ALIKE = 0.1, 2.0
"""Share of that span that a second measurement without noise has, and the factor to which its curvatures must agree."""
_CURVED = 0.01
"""A function whose second differences are smaller, beside its first ones, counts as linear."""
_SHORTEST, _LONGEST = 0.5, 10.0
"""Lengths of an interval, in units of the middle one's, beyond which none is stretched or shrunk."""
_BUDGET = 10
"""A budget that covers this number of measurements along every coordinate pays for one."""


def present(
    problem: Problem,
    oracle: Oracle,
    x0: Array,
    streams: Streams,
    estimator: GradientEstimator | None = None,
    curvature_scaling: str = ALWAYS,
) -> Problem:
    r"""Return the problem in units measured for its solver; the oracle adopts the same units.

    Coordinates are those of ``units.coordinates``, which ``_evened`` changes for a method that estimates gradients.
    Values are divided by how much they change near the start,

    .. math:: s_i = \max\Big\{\max_{j \le 4} |h_i(x^0 + (v_j - x^0) / 4) - h_i(x^0)|,\ |h_i(x^0)| / 4\Big\}, \qquad
              v_j \in X \text{ random},

    f likewise, once f(x^0) is subtracted, and without the second part; where nothing changes, by the value itself, or
    by 1 where it is 0, and where a row is all round-off. A constraint matters where it is 0, and on the way there it
    changes by |h_i(x^0)|, so by a quarter of that over a quarter of the way, if evenly: one that is flat around the
    start would otherwise count a thousandfold where it is not. 5 calls per replica; where the budget does not cover
    them, or constraints are to hold for every call, values stay as they are. The figures of the first start that is
    defined serve every replica, so that its course does not depend on how many others follow.

    The oracle gets the sizes that tolerances are relative to, too: ``_row_sizes``.

    Parameters
    ----------
    x0 : Array, shape (R, n)
        In the user's units.
    estimator : GradientEstimator, optional
        The solver's.
    curvature_scaling : {"always", "under noise", "never"}
        As the run has it.

    Notes
    -----
    Benchmarks usually divide by max(1, |f(x0)|) instead. That leaves a problem in small units as it is, and
    it is blind to the part of f that matters where f carries a constant; changes see both.
    """
    few = not oracle.affords(np.full(oracle.calls.shape, 2 + _PROBES)).all()  # a call is left for the method
    if few or problem.keeps_rows:
        oracle.best.judge_by(np.ones(oracle.m))
        return present_again(problem, oracle, 0.0, 1.0, np.ones(oracle.m))
    units = _coordinates(problem, _fixed())
    oracle.set_units(units)
    values, change = _probed(oracle, units, x0)
    level = values[0]
    size = np.where(np.abs(level) > 0, np.abs(level), 1.0)
    moves = change > _ROUND_OFF * np.abs(level)
    size = np.where(moves, change, size)
    rows = values[:, 1:]
    size[1:] = np.where(_is_round_off(rows), 1.0, np.maximum(size[1:], _REACH * np.abs(level[1:])))
    sizes = level[0], size[0], size[1:]
    oracle.set_units(units.with_values(*sizes), np.where(moves[1:], _row_sizes(rows, size[1:]), 0.0))
    scaled = present_again(problem, oracle, *sizes)
    measures = _pays(estimator, oracle, curvature_scaling)
    width = _evened(oracle, units.with_values(*sizes), x0) if measures else None
    return scaled if width is None else present_again(problem, oracle, *sizes, width)


def early(problem: Problem, solver: Solver, oracle: Oracle, x0: Array) -> Array:
    """Return the points (k, n) that a lone replica is sure to call after its start x0 (1, n), all in the user's units.

    The probes of ``present`` come first, then the solver's. There are none where it makes one call at a time.
    """
    units = _coordinates(problem, _fixed()) if problem.scaled else None
    inner, domain = (x0, problem.domain) if units is None else (units.inverse(x0), units.domain)
    points = solver.first_points(inner[0], domain, oracle)
    if points is None or len(x0) > 1 or oracle.past is not None:
        return x0[:0]
    if units is not None:
        points = np.concatenate([_probes(units, x0)[0], points])
        points = np.where((points == inner).all(axis=1, keepdims=True), x0, units.point(points))
    return points if oracle.affords(np.array([2 + len(points)])).all() else x0[:0]


def _probes(units: Units, x0: Array) -> Array:
    """Return the places (R, 4, n) around starts x0 (R, n) at which values are compared, in the solver's units."""
    base = units.inverse(x0)[:, None]
    ends = units.domain.sample(_fixed().uniform("units", _PROBES, x0.shape[1])[0])
    return np.asarray(base + _REACH * (ends - base))


def _probed(oracle: Oracle, units: Units, x0: Array) -> tuple[Array, Array]:
    """Return values (5, 1 + m) at the start and at probes around, and by how much they differ at most, (1 + m,)."""
    values = oracle(np.concatenate([units.inverse(x0)[:, None], _probes(units, x0)], axis=1)).stacked
    level, *others = values[int(np.argmax(np.isfinite(values[:, 0, 0])))]
    level = np.nan_to_num(level)
    return np.stack([level, *others]), np.nan_to_num(np.abs(np.array(others) - level)).max(axis=0)


def _row_sizes(rows: Array, size: Array) -> Array:
    """Return what a row's tolerance is relative to, (m,), of rows (k, m) at the start and around, and their s_i (m,).

    That is s_i; but where it is more than 1, no more than |h_i| at the start and the second smallest around. Between
    bounds that only say that there are some a row is huge everywhere but where it matters, and so it is in a wall.
    A row that is steep, as an exponential, changes by four times as many orders over the whole way as over a quarter.
    """
    first, second = np.sort(np.where(np.isfinite(rows), np.abs(rows), np.inf), axis=0)[:2]
    usual = np.minimum(np.abs(rows[0]), np.where(np.isfinite(second), second, first))
    out: Array = np.minimum(size, np.maximum(usual * _fall(rows), 1.0))
    return out


def _fall(rows: Array) -> Array:
    """Return by what factor (m,) rows (k, m) may fall over the whole way that are violated at the start and steep."""
    violated = np.sort(np.where(np.isfinite(rows) & (rows > 0.0), rows, np.inf), axis=0)
    known = (rows[0] > 0.0) & np.isfinite(violated[2])
    largest = np.where(np.isfinite(violated), violated, 0.0).max(axis=0)
    share = np.where(known, violated[1], 1.0) / np.where(known, largest, 1.0)
    out: Array = np.where(share < _STEEP, share ** (1.0 / _REACH), 1.0)
    return out


def _is_round_off(rows: Array) -> np.ndarray:
    """Return which rows (k, m) to (m,) are what sums that cancel leave: tiny, of few digits, with no size to tell."""
    largest = np.nan_to_num(np.abs(rows)).max(axis=0)
    grain = np.exp2(np.floor(np.log2(np.where(largest > 0.0, largest, 1.0))) - _ROUND_OFF_BITS)
    return np.asarray((largest < _TINY) & (np.nan_to_num(rows / grain) % 1.0 == 0.0).all(axis=0))


def present_again(
    problem: Problem,
    oracle: Oracle,
    level: float,
    f: float,
    h: Array | Sequence[float],
    width: Array | Sequence[float] | None = None,
) -> Problem:
    """Return the problem in known units, at no call: level f_0, sizes s_f and s_i, shape (m,), and widths, (n,)."""
    units = _coordinates(problem, _fixed()).with_values(level, f, np.array(h, dtype=float))
    units = units if width is None else units.with_width(np.array(width, dtype=float))
    oracle.set_units(units)
    return Scaled(problem, units)


def _pays(estimator: GradientEstimator | None, oracle: Oracle, curvature_scaling: str) -> bool:
    """Return whether to measure along every coordinate: in a box, for a gradient method, for a tenth of the budget.

    And where the run's ``curvature_scaling`` has it so. Under independent noise for coordinate differences only: random
    directions see a noise that hides more than unequal curvatures cost.

    A fork of a larger budget may measure where the run that it repeats did not: then it takes a course of its own.
    """
    noisy = oracle.contract == "independent"
    suits = isinstance(estimator, Coordinate if noisy else GradientEstimator)
    wanted = curvature_scaling == ALWAYS or (curvature_scaling == UNDER_NOISE and noisy)
    if not (wanted and suits and isinstance(oracle.domain, Box) and oracle.n > 1):
        return False
    calls = 2 * oracle.n + _REPEATS if noisy else 2 * (2 * oracle.n + 1)
    return bool(oracle.affords(np.full(oracle.calls.shape, _BUDGET * calls)).all())


def _evened(oracle: Oracle, units: Units, x0: Array) -> Array | None:
    r"""Return widths of a box's coordinates along which the functions bend alike; None where nothing is known of that.

    The coordinates' curvatures L_i, as ``_measured`` finds them half of the interval to both sides, give the widths,

    .. math:: w_i \leftarrow w_i \sqrt{\bar L / L_i}

    with the median for the mean. In the new units one step serves all coordinates: the same as steps of their own,
    1 / L_i each, in the old ones (and radii of their own, as (sigma / L_i)^(1/2)), for every method whose steps follow
    a gradient. Intervals become 0.5 to 10 units long.

    Without noise a second measurement a tenth as far must find the same curvatures, to a factor of 2: where they vary
    over X, as those of the spring and of the welded beam do, the start's mislead. 2n + 8 calls per replica, or 4n + 2.

    References
    ----------
    Nesterov (2012), Efficiency of coordinate descent methods on huge-scale optimization problems, §2, for steps
    1 / L_i; van der Sluis (1969) for equal diagonals; More and Wild (2012) for the radius. The limits are ours.
    """
    box, noisy = Box.of(units.domain), oracle.contract == "independent"
    half = np.minimum(_FAR, 0.5 * (box.upper - box.lower))
    centre = np.minimum(np.maximum(units.inverse(x0), box.lower + half), box.upper - half)
    far = _measured(oracle, units, centre, half, half, _REPEATS if noisy else 1)
    if far is None or not far.bends.any():
        return None
    if not noisy:
        near = _measured(oracle, units, centre, _NEARER * half, half, 1)
        if near is None or not _agree(near, far):
            return None
    return _stretched(units.width, far.measurable, far.bends[far.measurable])


class _Curvatures(NamedTuple):
    """Curvatures along the coordinates (n,), 0 where none is to be seen, and where they could be measured (n,)."""

    bends: Array
    measurable: np.ndarray


def _agree(near: _Curvatures, far: _Curvatures) -> bool:
    """Return whether two measurements find the same curvatures, to a factor, wherever one of them counts."""
    low, high = np.minimum(near.bends, far.bends), np.maximum(near.bends, far.bends)
    counts = high > _CURVED * high.max()
    return bool((near.measurable == far.measurable).all() and (high <= _ALIKE * low)[counts].all())


def _measured(
    oracle: Oracle, units: Units, centre: Array, reach: Array, half: Array, repeats: int
) -> _Curvatures | None:
    r"""Return curvatures by second differences along every coordinate; None where no value is defined.

    Of every function F_j, f or h_j in the sizes of ``units``, those of the oracle, from c and s_i to both sides,

    .. math:: L_i^2 = \sum_j \big([F_j(c + s_i e_i) - 2 F_j(c) + F_j(c - s_i e_i)] / s_i^2\big)^2,

    F_j(c) the mean of some calls. No function counts whose curvatures noise hides, or are a hundredth of its slopes
    over half of an interval, and of the others at least 2 standard deviations of their noise. One replica's figures
    serve all, as in ``present``.

    Parameters
    ----------
    centre : Array, shape (R, n)
        c, half of an interval inside X.
    reach, half : Array, shape (n,)
        s, and half of the intervals.
    repeats : int
        Calls at c.
    """
    values = oracle(np.repeat(centre[:, None], repeats, axis=1)).stacked
    one = int(np.argmax(np.isfinite(values).all(axis=(1, 2))))
    ahead, behind = _sides(oracle, centre, reach, one)
    level, bend = values[one].mean(axis=0), ahead + behind - 2.0 * values[one].mean(axis=0)
    measurable = np.isfinite(bend).all(axis=1) & (reach > 0)
    if not measurable.any():
        return None
    size = np.abs(level) + np.append(np.abs(units.level / units.f), np.zeros(oracle.m))
    spread = np.square(values[one] - level).sum(axis=0) / max(repeats - 1, 1)
    noise = spread * (2.0 + 4.0 / repeats) + np.square(_ROUND_OFF * size)
    square = np.square(bend[measurable])
    # A slope grows with the reach, a bend with its square: both as they were over half of the interval.
    share = (reach / np.where(half > 0, half, 1.0))[:, None]
    slope = np.square((ahead - behind) * share)[measurable].mean(axis=0)
    hidden = noise * (
        2.0 + 3.0 * np.sqrt(2.0 / measurable.sum())
    )  # 2: the repeats' own error is common to all coordinates
    curved = square.mean(axis=0) > np.maximum(hidden, _CURVED**2 * slope)
    bends = np.zeros(oracle.n)
    bends[measurable] = np.sqrt((np.maximum(square, 4.0 * noise) * curved).sum(axis=1)) / np.square(reach[measurable])
    return _Curvatures(bends, measurable)


def _stretched(width: Array, measurable: Array, bends: Array) -> Array | None:
    """Widths (n,), evened for the coordinates that are ``measurable``, of curvatures ``bends``; None where these are 0.

    Where most coordinates are straight, these count as equal, and the others as far from them as may be.
    """
    middle, width = max(np.median(bends), bends.max() / _LONGEST**4), width.copy()
    if not middle > 0:
        return None
    width[measurable] /= np.sqrt(np.minimum(np.maximum(bends / middle, _SHORTEST**2), _LONGEST**2))
    return width


def _sides(oracle: Oracle, centre: Array, reach: Array, one: int) -> tuple[Array, Array]:
    """Values of all functions at c + s_i e_i and c - s_i e_i, (n, m + 1) each, of one replica of those that pay."""
    values, start = [], 0
    for count in chunks(oracle.n, 2 * centre.nbytes):
        at = start + np.arange(count)
        probes = np.repeat(centre[:, None], 2 * count, axis=1)
        probes[:, np.arange(count), at] += reach[at]
        probes[:, count + np.arange(count), at] -= reach[at]
        values.append(oracle(probes).stacked[one].reshape(2, count, -1))
        start += count
    ahead, behind = np.concatenate(values, axis=1)
    return ahead, behind


def _fixed() -> Streams:
    """Return random streams of a fixed seed: measured units must not differ between runs."""
    return Streams(0, 16)


def _coordinates(problem: Problem, fixed: Streams) -> Units:
    return coordinates(problem.domain, problem.initial(fixed), problem.m)
