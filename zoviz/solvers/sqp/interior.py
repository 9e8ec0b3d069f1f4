"""Rows that hold for every call: how far a step may go so that none is left, by bounds of their curvatures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers import differences
from zoviz.solvers.sqp.derivatives import Offsets
from zoviz.solvers.sqp.situation import Space

_INFLATED = 2.5
"""What the largest curvature and the largest change of slopes that were seen are multiplied by."""
_LEFT, _LEFT_SMOOTH = 0.9, 0.7
"""What is left of them from one point to the next, of the change where the curvature alone explained the last one."""
_CURVATURE, _CHANGE = 1.0, 0.5
"""A row's curvature before any is seen, over its slope per unit length, and the share of its slopes that may change."""
_SOONER = 0.1
"""What each further point leaves of these, if it is farther away than _FAR."""
_FAR = 1e-3
"""Unit lengths."""
_REACH, _FARTHER = 0.05, 10.0
"""How far the first step goes, in unit lengths, and how many times as far as any so far a later one may."""
_ROUND_OFF = 8.0 * 2.0**-52
"""Of a row, relative to the sizes of its terms."""
_LEAST = 1e-3 * differences.FORWARD
"""The shortest differences, in unit lengths: there is room for them on every side of a point, twice."""


class Interior(NamedTuple):
    r"""What is known of the rows that are kept, which are to hold at every point that is called.

    From a point z, where a row's slopes are g, the row is expected to change on the way from x to x + s by at most

    .. math:: g^T s + \kappa \sum_j |g_j s_j| + (e + L |x - z|)\, |s| + \tfrac12 L |s|^2

    Here e is the error of the differences; L bounds how fast slopes change, and kappa how much of themselves they do at
    any distance, as near kinks. Both are 2.5 times the largest that predictions and values have shown so far, or what
    they are taken to be at first, a tenth as much from point to point. What is expected to hold is an intersection of
    balls, as kappa and e go to 0.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
        Their numbers among the outputs, of which f is 0.
    scale : Array, shape (n,)
        What lengths of the variables are measured in; empty before the first slopes.
    point : Array, shape (n,)
        The last point whose slopes are known, z.
    value, slopes : Array, shapes (k,) and (k, n)
        Of the rows there; slopes per unit length.
    curvature_seen, change_seen, error, size : Array, shape (k,)
        The largest L and kappa that were seen, the error e, and the sizes of the terms that rounding is relative to.
    first : float
        How much of what L and kappa are taken to be at first is left.
    least : float
        The shortest differences for which there is room on every side of a point, in unit lengths.
    reach : float
        How far a step may go, in unit lengths: curvatures seen nearby tell nothing of what is far away.
    outside : int
        Calls outside, but for those of the first differences.

    References
    ----------
    Auslender, Shefi and Teboulle (2010), A moving balls approximation method for a class of smooth constrained
    minimization problems, for the balls; Svanberg (2002), A class of globally convergent optimization methods based on
    conservative convex separable approximations, for a curvature that grows where a point turns out to be outside.
    """

    rows: np.ndarray
    scale: Array
    point: Array
    value: Array
    slopes: Array
    curvature_seen: Array
    change_seen: Array
    error: Array
    size: Array
    first: float = 1.0
    least: float = _LEAST
    reach: float = _REACH
    outside: int = 0

    @classmethod
    def of(cls, kept: np.ndarray) -> Interior:
        """Return that of kept rows (k,) of h, which may be none, before any call."""
        rows, nothing = 1 + kept, np.empty(0)
        zero = np.zeros(len(rows))
        return cls(rows, nothing, nothing, zero, np.empty((len(rows), 0)), zero, zero, zero, zero)

    @property
    def any(self) -> bool:
        """Whether any row is kept."""
        return len(self.rows) > 0

    @property
    def known(self) -> bool:
        """Whether the slopes of the constraints are known; never, where none is kept."""
        return len(self.scale) > 0

    @property
    def curvature(self) -> Array:
        """The bound L of how fast the rows' slopes change, (k,)."""
        return np.maximum(_INFLATED * self.curvature_seen, _CURVATURE * self.first * _length(self.slopes))

    @property
    def doubt(self) -> Array:
        """How far slopes may be others than at the last point, at any distance, (k, n)."""
        change = np.maximum(_INFLATED * self.change_seen, _CHANGE * self.first)
        return change[:, None] * np.abs(self.slopes) + self.error[:, None]

    def take_slopes(self, x: Array, value: Array, slopes: Array, steps: Offsets, scale: Array) -> Interior:
        """Return it with the slopes (n, 1 + m) at x (n,), of values (1 + m,), by differences of these steps."""
        if not self.any:
            return self
        known, scale = self.known, self.scale if self.known else scale
        h, present, lengths = value[self.rows], slopes[:, self.rows].T * scale, np.abs(steps.first) / scale
        size = np.maximum(self.size, np.abs(h) + np.abs(present) @ np.abs(x / scale))
        after = self._replace(scale=scale, point=x, value=h, slopes=present, size=size)
        bend = self.curvature if known else after.curvature
        error = np.sqrt(len(x)) * (_ROUND_OFF * size / lengths.min() + 0.5 * bend * lengths.max())
        way = _length((x - self.point) / scale) if known else 0.0
        if not way > 0.0:
            return after._replace(error=error)
        seen, unsure = _length(present - self.slopes) / way, (error + self.error) / way
        # Where rounding hides a curvature such as was seen, that is not forgotten.
        left = np.where(unsure < 0.5 * self.curvature_seen, _LEFT, 1.0)
        return after._replace(
            curvature_seen=np.maximum(left * self.curvature_seen, seen - unsure),
            error=error,
            first=self.first * _SOONER if way > _FAR else self.first,
        )

    def take(self, points: Array, values: Array) -> Interior:
        """Return it after calls at points (q, n) gave values (q, 1 + m)."""
        if not self.known:
            return self
        h, steps = values[:, self.rows], (points - self.point) / self.scale
        way, terms = _length(steps)[:, None], np.abs(steps) @ np.abs(self.slopes.T)
        miss = np.abs(h - self.value - steps @ self.slopes.T) - self.error * way - self._spare
        told = np.isfinite(miss) & (miss > 0.0) & (terms > 0.0)
        with np.errstate(all="ignore"):
            curvature = np.where(told, 2.0 * miss / np.square(way), 0.0).max(axis=0)
            change = np.where(told, np.minimum(1.0, miss / terms), 0.0).max(axis=0)
        explained = (miss <= 0.25 * self.curvature * np.square(way)).all(axis=0)
        left = np.where(explained, _LEFT_SMOOTH, _LEFT) if len(points) == 1 else 1.0
        return self._replace(
            curvature_seen=np.maximum(self.curvature_seen, curvature),
            change_seen=np.maximum(left * self.change_seen, change),
            reach=max(self.reach, _FARTHER * float(way.max(initial=0.0))),
            outside=self.outside + int((h > 0.0).any(axis=1).sum()),
        )

    def refused(self, values: Array) -> Array:
        """Return values (q, 1 + m), not finite outside, or so near to it that there is no room for differences."""
        spare = self._spare if self.known else np.zeros(len(self.rows))
        outside = np.logical_or.reduce(values[:, self.rows] > -spare, axis=1)
        return np.where(outside[:, None], np.inf, values)

    @property
    def room(self) -> Array:
        """How far rows may change from the last point, as negative numbers, (k,); 0 for one that may not."""
        return np.minimum(0.0, self.value + self._spare)

    @property
    def _spare(self) -> Array:
        """What rows are to keep of their distance, (k,), so that the shortest differences have room on every side."""
        return 2.0 * (_ROUND_OFF * self.size + self.least * (np.abs(self.slopes) + self.doubt).max(axis=1))

    def _shares(self, x: Array, h: Array, points: Array, spare: Array) -> Array:
        """Return which shares (q,) of the ways from x (n,), where rows are h (k,), to points (q, n) are inside.

        That is where rows are below -``spare`` (k,), or where they are nearer to 0 at x, no nearer than there.
        """
        steps, bend = (points - x) / self.scale, self.curvature
        way, away = _length(steps)[:, None], _length((x - self.point) / self.scale)
        rest, quadratic = np.minimum(0.0, h + spare), 0.5 * bend * np.square(way)
        linear = steps @ self.slopes.T + np.abs(steps) @ self.doubt.T + bend * away * way
        root = np.sqrt(np.square(linear) - 4.0 * quadratic * rest)
        with np.errstate(all="ignore"):
            share = np.where(linear > 0.0, -2.0 * rest / (linear + root), (root - linear) / (2.0 * quadratic))
        whole = rest + linear + quadratic <= 0.0
        near = np.minimum(1.0, self.reach / np.maximum(way, self.reach))
        return np.asarray(np.minimum(near, np.where(whole, 1.0, share)).min(axis=1))

    def within(self, points: Array) -> Array:
        """Return points (q, n), each as far on the way there from the last point as is expected to be inside."""
        if not self.known:
            return points
        shares = self._shares(self.point, self.value, points, self._spare)
        return self.point + shares[:, None] * (points - self.point)

    def line(self, x: Array, value: Array, points: Array) -> Array:
        """Return points (q, n) on a line from x (n,), of values (1 + m,), all so much nearer that they are inside."""
        if not self.known:
            return points
        return x + self._shares(x, value[self.rows], points, self._spare).min() * (points - x)

    def offsets(self, x: Array, value: Array, steps: Offsets, space: Space) -> Offsets:
        """Return steps of differences at x (n,), of values (1 + m,), to the side that is inside, or shorter ones."""
        if not self.known:
            return steps
        size, central = np.abs(steps.first), len(steps.second) > 0
        ways = ((1.0, -1.0), (1.0, 2.0), (-1.0, 2.0)) if central else ((1.0, 0.0), (-1.0, 0.0))

        def room(multiple: float) -> Array:
            ends = x + np.diag(multiple * size)
            in_box = ((ends >= space.lower) & (ends <= space.upper)).all(axis=1)
            return np.where(in_box, self._shares(x, value[self.rows], ends, _ROUND_OFF * self.size), -1.0)

        rooms = np.array([np.minimum(room(sign), room(sign * second)) for sign, second in ways])
        sign, second = np.array(ways)[np.argmax(rooms, axis=0)].T
        first = sign * np.maximum(size * rooms.max(axis=0), _LEAST * self.scale)
        return Offsets(first, second * first if central else steps.second)


def _length(steps: Array) -> Array:
    """Return the lengths of steps (..., n), (...)."""
    return np.sqrt(np.square(steps).sum(axis=-1))
