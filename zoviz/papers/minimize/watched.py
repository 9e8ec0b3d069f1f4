"""Problems of a collection as users' functions, watched by their values without noise, and methods on them."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.problems.base import Problem


class Worth(NamedTuple):
    """What a point is worth without noise: its gap and its largest violation, both scaled; infinite outside."""

    gap: float
    violation: float


NOTHING = Worth(np.inf, np.inf)


class Watched:
    """A problem as a user's function, which records the best point at which it was evaluated.

    Parameters
    ----------
    problem : Problem
    box : Box
    x0 : Array, shape (n,)
    optimum : float
        f*.
    sizes : Array, shape (m + 1,)
        What a gap and the rows are scaled by.
    feasible : float
        The largest scaled violation of a point that counts as feasible.
    noise : Array, shape (m + 1,)
        Standard deviations of f and the rows.
    seed : int
        Of the noise.

    Attributes
    ----------
    gap : float
        The least gap of a feasible point so far.
    outside : list of bool
        Of every call so far whether some h was above 0.
    """

    def __init__(
        self,
        problem: Problem,
        box: Box,
        x0: Array,
        optimum: float,
        sizes: Array,
        feasible: float,
        noise: Array,
        seed: int,
    ) -> None:
        self.problem, self._box, self.x0, self._optimum = problem, box, x0, optimum
        self._sizes, self._feasible, self._noise, self._rng = sizes, feasible, noise, np.random.default_rng(seed)
        self.gap = np.inf
        self.outside: list[bool] = []

    def worth(self, x: Array) -> Worth:
        """Return what x (n,) is worth."""
        return self._worth(x, _values(self.problem, x))

    def _worth(self, x: Array, values: Array) -> Worth:
        if not (np.isfinite(values).all() and self._box.contains(x, 1e-9).all()):
            return NOTHING
        violation = float((values[1:] / self._sizes[1:]).max(initial=0.0))
        return Worth(float((values[0] - self._optimum) / self._sizes[0]), violation)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return noisy f and h (m,) at x (n,), and record the true ones."""
        values = _values(self.problem, x)
        own = self._worth(x, values)
        self.outside.append(own.violation > 0.0)
        if own.violation <= self._feasible:
            self.gap = min(self.gap, own.gap)
        if self._noise.any():
            values = values + self._noise * self._rng.standard_normal(len(values))
        return float(values[0]), values[1:]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds (lower, upper) of every variable."""
        return list(zip(self._box.lower, self._box.upper, strict=True))


class Ending(NamedTuple):
    """How a method ended: the worth of the point that it gave back, calls, seconds, and the words of the result.

    A method that raises has given no point back, and its words are those of the error.
    """

    answer: Worth
    calls: int
    seconds: float
    words: str


def ended(
    watched: Watched,
    method: str,
    calls: int,
    seed: int,
    seconds: float | None,
    tolerance: float | None = None,
    keep: str = "",
) -> Ending:
    """Minimise a watched problem by a method with a budget of calls, all of which it may use."""
    start = time.perf_counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = minimize(
                watched,
                watched.x0,
                bounds=watched.bounds,
                joint=True,
                method=method,
                max_calls=calls,
                stop="budget",
                seed=seed,
                seconds=seconds,
                tolerance=tolerance,
                keep=keep,
            )
        except (ZovizError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            words = f"{method}: {type(error).__name__}: {error}"[:200]
            return Ending(NOTHING, 0, time.perf_counter() - start, words)
    words = f"{result.method} {result.message}"[:120]
    return Ending(watched.worth(result.x), int(result.calls), time.perf_counter() - start, words)


def six_digits(number: float) -> float:
    """Return a figure as records hold it."""
    return float(f"{number:.6g}")


def _values(problem: Problem, x: Array) -> Array:
    """Return f and h (m + 1,) at x (n,) without noise."""
    with np.errstate(all="ignore"):
        value = problem.evaluate(x)
    return np.concatenate([[float(value.f)], value.h])
