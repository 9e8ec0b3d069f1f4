"""A black box that is defined inside its bounds alone, by exact comparison, and the methods that take one."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.every_solver import BAYESIAN
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import Solver


class OutsideError(Exception):
    """Raised at a point outside the bounds."""


class GuardedBox:
    """A convex function under linear constraints on a box, whose least value is at a place of unit coordinates.

    Parameters
    ----------
    lower, upper : sequence of n floats
        Infinite ends count as a unit away.
    optimum : sequence of n floats
        Where f is least, as a share of every width: outside [0, 1] a bound is active there.
    m : int
        Rows h = mean of the shares - 0.9 + i / 10.
    sigma : float
        Noise of every value.
    """

    def __init__(self, lower: Any, upper: Any, optimum: Any, m: int = 0, sigma: float = 0.0) -> None:
        self.lower, self.upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
        self.optimum, self.m, self.calls, self._sigma = np.array(optimum, dtype=float), m, 0, sigma
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        self._base = np.where(low, self.lower, np.where(high, self.upper - 1.0, 0.0))
        self.width = np.where(low & high, self.upper - self.lower, 1.0)
        self.width[self.width == 0.0] = 1.0
        self._rng = np.random.default_rng(0)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The pairs."""
        return list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))

    def at(self, share: Any) -> Array:
        """The point at a share of every width, inside by exact comparison."""
        return np.minimum(np.maximum(self._base + self.width * np.array(share), self.lower), self.upper)

    def values(self, x: Array) -> tuple[float, Array]:
        """f and h without noise, where x is inside."""
        if not ((x >= self.lower) & (x <= self.upper)).all():
            i = int(np.argmax((x < self.lower) | (x > self.upper)))
            raise OutsideError(f"x[{i}] = {float(x[i])!r} outside [{self.lower[i]!r}, {self.upper[i]!r}]")
        share = (x - self._base) / self.width
        return float(np.square(share - self.optimum).sum()), share.mean() - 0.9 + 0.1 * np.arange(self.m)

    def joint(self, x: Array) -> tuple[float, Array]:
        """One call."""
        self.calls += 1
        f, h = self.values(x)
        return f + self._sigma * self._rng.normal(), h + self._sigma * self._rng.normal(size=self.m)

    def problem(self, start: Any, **params: Any) -> BlackBox:
        """The box as a problem that begins at a share of every width."""
        return BlackBox(self.joint, bounds=self.bounds, x0=self.at(start), m=self.m, joint=True, **params)


def methods() -> list[str]:
    """Every method that takes a black box in bounds."""
    problem = GuardedBox([-1.0] * 2, [1.0] * 2, [0.5] * 2, m=1).problem([0.5] * 2)
    return [name for name, cls in discover("zoviz.solvers", Solver).items() if cls().accepts(problem) is None]


def affordable(method: str, calls: int) -> int:
    """So many calls, or a few for a method that fits models between any two."""
    return min(calls, 7) if method in BAYESIAN else calls
