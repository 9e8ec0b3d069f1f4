"""Affine maps between the user's units and those in which a solver sees a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zoviz.core.sets import Box, Product, Set
from zoviz.core.types import Array, Evaluation, Sketch

ENDLESS = 1e19
"""From here on an end of an interval counts as infinite, as in IPOPT (nlp_upper_bound_inf)."""
_LEAST_SIZE = 1e-7
"""A start nearer to 0, or to its bound, tells no length: at 1e-8, differences would lie at distances of 1e-16."""


class Similar(Set):
    """A set seen in other units: {u : offset + width u in X}, with one width for all coordinates.

    Parameters
    ----------
    inner : Set
        X.
    width : float
        Positive; one for all, so that the nearest point stays the nearest.
    """

    def __init__(self, inner: Set, width: float) -> None:
        self.inner, self.width = inner, float(width)
        self.n, self.separable = inner.n, inner.separable

    def project(self, x: Array) -> Array:
        return self.inner.project(x * self.width) / self.width

    def sample(self, unit: Array) -> Array:
        return self.inner.sample(unit) / self.width


@dataclass(frozen=True)
class Units:
    r"""The map between the user's units and a solver's.

    .. math:: x = o + W u, \qquad \tilde f(u) = (f(x) - f_0) / s_f, \qquad \tilde h_i(u) = h_i(x) / s_i

    so that the multipliers are y_i = (s_f / s_i) y~_i.

    Attributes
    ----------
    outer, domain : Set
        X in the user's units, and in the solver's.
    offset, width : Array, shape (n,)
        o and the diagonal of W.
    level, f : float
        f_0 and s_f.
    h : Array, shape (m,)
        s_i.
    """

    outer: Set
    domain: Set
    offset: Array
    width: Array
    level: float
    f: float
    h: Array

    def point(self, u: Array) -> Array:
        """Map a solver's points to the user's units, shape (..., n); round-off never takes one out of a box."""
        x = self.offset + self.width * u
        if isinstance(self.domain, Box) and isinstance(self.outer, Box):
            inside = (u >= self.domain.lower) & (u <= self.domain.upper)
            x = np.where(inside, self.outer.project(x), x)
        return x

    def inverse(self, x: Array) -> Array:
        """Map a user's points to the solver's units, shape (..., n); round-off never takes one out of a box."""
        u = (x - self.offset) / self.width
        if isinstance(self.domain, Box) and isinstance(self.outer, Box):
            inside = (x >= self.outer.lower) & (x <= self.outer.upper)
            u = np.where(inside, self.domain.project(u), u)
        return u

    def value(self, value: Evaluation) -> Evaluation:
        """Map a user's values to the solver's units."""
        return Evaluation((value.f - self.level) / self.f, value.h / self.h)

    def user_value(self, value: Evaluation) -> Evaluation:
        """Map a solver's values to the user's units."""
        return Evaluation(self.level + self.f * value.f, self.h * value.h)

    def dual(self, y: Array) -> Array:
        """Map a solver's multipliers to the user's units, shape (..., m)."""
        return y * (self.f / self.h)

    @property
    def sizes(self) -> dict[str, Any]:
        """The level and size of f, those of h (m,), and the coordinates' widths (n,), as plain numbers and lists."""
        return {"level": self.level, "f": self.f, "h": self.h.tolist(), "width": self.width.tolist()}

    def sketch(self, sketch: Sketch) -> Sketch:
        """Map a solver's region and points to the user's units."""
        centre, points = self.point(sketch.centre), self.point(sketch.points)
        return Sketch(centre, self.width * sketch.reach, points, sketch.purpose)

    def gradients(self, gradients: tuple[Array, Array]) -> tuple[Array, Array]:
        """Map a user's gradients, (..., n) and (..., m, n), to the solver's units."""
        of_f, of_h = gradients
        return of_f * (self.width / self.f), of_h * (self.width / self.h[:, None])

    def with_values(self, level: float, f: float, h: Array) -> Units:
        """Return units of the same coordinates with other magnitudes of f, a number, and of h, (m,)."""
        return Units(self.outer, self.domain, self.offset, self.width, float(level), float(f), h)

    def with_width(self, width: Array) -> Units:
        """Return the same units with other widths of the coordinates, shape (n,); all equal where X is no box."""
        outer = self.outer
        if not isinstance(outer, Box):
            return replace(self, domain=Similar(outer, width[0]), width=width)
        inner = Box((outer.lower - self.offset) / width, (outer.upper - self.offset) / width)
        return replace(self, domain=inner, width=width)


def coordinates(domain: Set, starts: Array, m: int) -> Units:
    """Return units in which X is of about unit width and values are as they are.

    Parameters
    ----------
    domain : Set
        X. An interval of a box with two ends becomes [0, 1]. A variable without an end, or with one, is measured from
        0, or from that end, in units of its start: of the root mean square over ``starts``, so of |x0_i - end| where
        the start is given; where that is 0 or next to it, below 1e-7, of the median of the other such variables, and of
        1 where there is none.
        Any other set is divided by one number, the root mean square of all starts, so that projections stay what
        they are.
    starts : Array, shape (k, n)
        Starting points, as the problem gives or draws them.
    m : int
        Number of constraints.
    """
    box, one = as_box(domain), np.ones(m)
    if box is None:
        size = float(np.sqrt(np.square(starts).mean()))
        size = size if np.isfinite(size) and size > 0 else 1.0
        return Units(domain, Similar(domain, size), np.zeros(domain.n), np.full(domain.n, size), 0.0, 1.0, one)
    low, high = np.abs(box.lower) < ENDLESS, np.abs(box.upper) < ENDLESS
    offset = np.where(low, box.lower, np.where(high, box.upper, 0.0))
    sizes = np.sqrt(np.square(starts - offset).mean(axis=0))
    known = np.isfinite(sizes) & (sizes >= _LEAST_SIZE)
    others = sizes[~(low & high) & known]
    sizes = np.where(known, sizes, np.median(others) if others.size else 1.0)
    length = np.where(low & high, box.upper, 1.0) - np.where(low & high, box.lower, 0.0)
    width = np.where(low & high, np.where(length > 0, length, 1.0), sizes)
    inner = Box((box.lower - offset) / width, (box.upper - offset) / width)
    return Units(box, inner, offset, width, 0.0, 1.0, one)


def of_sizes(domain: Set, level: float, f: float, h: Sequence[float], width: Sequence[float]) -> Units:
    """Return the units of points and values in X with these ``sizes``."""
    rows = np.array(h, dtype=float)
    units = coordinates(domain, np.ones((1, domain.n)), len(rows)).with_values(level, f, rows)
    return units.with_width(np.array(width, dtype=float))


def as_box(domain: Set) -> Box | None:
    """Return the domain as one box, where it is a box or a product of boxes."""
    if isinstance(domain, Product):
        factors = [as_box(factor) for factor in domain.factors]
        boxes = [box for box in factors if box is not None]
        if len(boxes) < len(factors):
            return None
        return Box(np.concatenate([box.lower for box in boxes]), np.concatenate([box.upper for box in boxes]))
    return domain if isinstance(domain, Box) else None
