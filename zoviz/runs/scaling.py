"""Units for a run's solver, measured at its start with charged calls."""

from __future__ import annotations

import numpy as np

from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.problems.scaled import Scaled
from zoviz.streams import Streams
from zoviz.types import Array
from zoviz.units import Units, coordinates

_REACH = 0.25
"""How far towards random points of X the values are compared: far enough to tell a magnitude, near enough to be safe
where functions grow fast or are not defined everywhere."""
_PROBES = 4
_ROUND_OFF = 1e-12


def present(problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Problem:
    r"""The problem as its solver is to see it; the oracle adopts the same units.

    Coordinates are those of ``units.coordinates``. Values are divided by how much they change near the start,

    .. math:: s_i = \max_{j \le 4} |h_i(x^0 + (v_j - x^0) / 4) - h_i(x^0)|, \qquad v_j \in X \text{ random},

    f likewise, once f(x^0) is subtracted; where nothing changes, by the value itself, or by 1 where it is 0. 5 calls
    per replica. The figures of the first start that is defined serve every replica, so that its course does not
    depend on how many others follow.

    Parameters
    ----------
    x0 : Array, shape (R, n)
        In the user's units.

    Notes
    -----
    Benchmarks divide by max(1, |f(x0)|) instead (comparators 0.5). That leaves a problem in small units as it is, and
    it is blind to the part of f that matters where f carries a constant; changes see both.
    """
    fixed = _fixed()
    units = _coordinates(problem, fixed)
    oracle.adopt(units)
    base = units.inverse(x0)[:, None]
    ends = units.domain.sample(fixed.uniform("units", _PROBES, oracle.n)[0])
    value = oracle(np.concatenate([base, base + _REACH * (ends - base)], axis=1))
    values = np.concatenate([value.f[..., None], value.h], axis=-1)
    level, *others = values[int(np.argmax(np.isfinite(value.f[:, 0])))]
    level = np.nan_to_num(level)
    change = np.nan_to_num(np.abs(np.array(others) - level)).max(axis=0)
    size = np.where(np.abs(level) > 0, np.abs(level), 1.0)
    size = np.where(change > _ROUND_OFF * np.abs(level), change, size)
    return present_again(problem, oracle, level[0], size[0], size[1:])


def present_again(problem: Problem, oracle: Oracle, level: float, f: float, h: Array) -> Problem:
    """The same with figures that are known, at no call: level f_0 and sizes s_f and s_i, shape (m,)."""
    units = _coordinates(problem, _fixed()).with_values(level, f, h)
    oracle.adopt(units)
    return Scaled(problem, units)


def _fixed() -> Streams:
    """Fixed seed: what is drawn here tells how the problem draws its starts, and must not differ between runs."""
    return Streams(0, 16)


def _coordinates(problem: Problem, fixed: Streams) -> Units:
    return coordinates(problem.domain, problem.initial(fixed), problem.m)
