"""Simple convex sets and their Euclidean projections, vectorised over leading axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array

_ROUNDING = 64.0 * float(np.finfo(float).eps)
"""Error of a few sums and products, relative to the size of their numbers."""


class Set(ABC):
    """A closed convex set X in R^n with an easy projection.

    Attributes
    ----------
    n : int
        Dimension.
    separable : bool
        True where X is a product of intervals, so that coordinates project one by one.
    """

    n: int
    separable: bool = False

    @abstractmethod
    def project(self, x: Array) -> Array:
        """Return the nearest points of X, (..., n) to (..., n)."""

    @abstractmethod
    def sample(self, unit: Array) -> Array:
        """Return a point of X from numbers uniform on [0, 1), shape (..., n) to (..., n)."""

    def distance(self, x: Array) -> Array:
        """Return the Euclidean distances to X, (..., n) to (...)."""
        out: Array = np.linalg.norm(x - self.project(x), axis=-1)
        return out

    def contains(self, x: Array, tolerance: float) -> np.ndarray:
        """Whether each point lies in X up to ``tolerance``, shape (..., n) to (...)."""
        return self.distance(x) <= tolerance


class Box(Set):
    """The box {x : lower <= x <= upper}; infinite ends are allowed.

    Parameters
    ----------
    lower, upper : array_like, shape (n,)

    Raises
    ------
    ValueError
        Where a lower bound exceeds its upper bound, or a bound is NaN.
    """

    separable = True

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        self.lower, self.upper = np.broadcast_arrays(
            np.atleast_1d(np.asarray(lower, float)), np.atleast_1d(np.asarray(upper, float))
        )
        self.n = self.lower.size
        bad = np.flatnonzero(~(self.lower <= self.upper))
        if bad.size:
            i = bad[0]
            raise ValueError(
                f"Expected lower <= upper for each variable, got lower[{i}] = {self.lower[i]:g} and upper[{i}] = "
                f"{self.upper[i]:g}: did you swap the lower and upper bounds?"
            )

    @classmethod
    def free(cls, n: int) -> Box:
        """Return the whole space R^n."""
        return cls(np.full(n, -np.inf), np.full(n, np.inf))

    @classmethod
    def of(cls, domain: Set) -> Box:
        """Return the domain itself, for those who need a box.

        Raises
        ------
        ZovizError
            Where it is none.
        """
        if not isinstance(domain, Box):
            raise ZovizError(f"Expected a box as domain, got a {type(domain).__name__}: choose another solver.")
        return domain

    @property
    def rounding(self) -> Array:
        """How far outside arithmetic alone may leave a point of the box, (n,); an open side counts as of order 1."""
        ends = np.stack([self.lower, self.upper])
        return np.asarray(_ROUNDING * np.abs(np.where(np.isfinite(ends), ends, 1.0)).max(axis=0))

    @property
    def variable(self) -> np.ndarray:
        """The coordinates that equal bounds do not fix, (n,) of bool."""
        return np.asarray(self.lower < self.upper)

    def embed(self, points: Array) -> Array:
        """Return points (q, n) from their ``variable`` coordinates alone, (q, k); the others are at their bounds."""
        whole = np.repeat(self.lower[None], len(points), axis=0)
        whole[:, self.variable] = points
        return whole

    def project(self, x: Array) -> Array:
        out: Array = np.minimum(np.maximum(x, self.lower), self.upper)
        return out

    def contains(self, x: Array, tolerance: float) -> np.ndarray:
        """Whether each point lies between the bounds up to ``tolerance`` in every coordinate, (..., n) to (...)."""
        out: np.ndarray = np.logical_and.reduce((x >= self.lower - tolerance) & (x <= self.upper + tolerance), axis=-1)
        return out

    def sample(self, unit: Array) -> Array:
        lower = np.where(np.isfinite(self.lower), self.lower, np.where(np.isfinite(self.upper), self.upper - 2.0, -1.0))
        upper = np.where(np.isfinite(self.upper), self.upper, lower + 2.0)
        out: Array = lower + unit * (upper - lower)
        return out


class Ball(Set):
    """The ball {x : ||x - centre|| <= radius}.

    Parameters
    ----------
    centre : array_like, shape (n,)
    radius : float
        Non-negative.
    """

    def __init__(self, centre: ArrayLike, radius: float) -> None:
        self.centre = np.atleast_1d(np.asarray(centre, float))
        self.n = self.centre.size
        if not radius >= 0:
            raise ValueError(f"Expected a ball's radius >= 0, got {radius!r}.")
        self.radius = float(radius)

    def project(self, x: Array) -> Array:
        offset = x - self.centre
        norm = np.linalg.norm(offset, axis=-1, keepdims=True)
        out: Array = self.centre + offset * (self.radius / np.maximum(norm, self.radius) if self.radius else 0.0)
        return out

    def sample(self, unit: Array) -> Array:
        return self.project(self.centre + self.radius * (2.0 * unit - 1.0))


class Simplex(Set):
    """The simplex {x >= 0 : sum x = total}.

    References
    ----------
    Held, Wolfe, Crowder (1974), projection by sorting.
    """

    def __init__(self, n: int, total: float = 1.0) -> None:
        if not total > 0:
            raise ValueError(f"Expected a simplex's total > 0, got {total!r}.")
        self.n, self.total = int(n), float(total)

    def project(self, x: Array) -> Array:
        descending = -np.sort(-x, axis=-1)
        excess = (np.cumsum(descending, axis=-1) - self.total) / np.arange(1, self.n + 1)
        support = np.sum(descending > excess, axis=-1, keepdims=True)
        threshold = np.take_along_axis(excess, np.maximum(support, 1) - 1, axis=-1)
        return np.where(np.isnan(x), np.nan, np.maximum(x - threshold, 0.0))

    def sample(self, unit: Array) -> Array:
        weights = -np.log1p(-unit) + np.finfo(float).tiny
        out: Array = self.total * weights / weights.sum(axis=-1, keepdims=True)
        return out


class Halfspace(Set):
    """The half-space {x : <normal, x> <= offset}."""

    def __init__(self, normal: ArrayLike, offset: float) -> None:
        self.normal = np.atleast_1d(np.asarray(normal, float))
        self.n = self.normal.size
        self.square = float(self.normal @ self.normal)
        if not self.square > 0:
            raise ValueError("Expected a halfspace's normal to be non-zero, got all zeros.")
        self.offset = float(offset)

    def project(self, x: Array) -> Array:
        excess = np.maximum(x @ self.normal - self.offset, 0.0)
        out: Array = x - (excess / self.square)[..., None] * self.normal
        return out

    def sample(self, unit: Array) -> Array:
        return self.project(2.0 * unit - 1.0)


class Product(Set):
    """The product of sets, their coordinates laid end to end."""

    def __init__(self, factors: Sequence[Set]) -> None:
        self.factors = tuple(factors)
        self.n = sum(factor.n for factor in self.factors)
        self.separable = all(factor.separable for factor in self.factors)
        self._cuts = np.cumsum([factor.n for factor in self.factors])[:-1]

    def project(self, x: Array) -> Array:
        parts = zip(self.factors, np.split(x, self._cuts, axis=-1), strict=True)
        return np.concatenate([factor.project(part) for factor, part in parts], axis=-1)

    def sample(self, unit: Array) -> Array:
        parts = zip(self.factors, np.split(unit, self._cuts, axis=-1), strict=True)
        return np.concatenate([factor.sample(part) for factor, part in parts], axis=-1)
