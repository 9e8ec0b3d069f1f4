"""A user's own function, or functions, as a problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import param
from numpy.typing import ArrayLike

from zoviz.problems.base import Problem
from zoviz.sets import Box
from zoviz.streams import Streams
from zoviz.types import Array, Evaluation, Optimum, OracleError


def hs22_objective(x: Array) -> Array:
    """(x1 - 2)^2 + (x2 - 1)^2: problem 22 of Hock and Schittkowski (1981)."""
    return (x[..., 0] - 2.0) ** 2 + (x[..., 1] - 1.0) ** 2


def hs22_constraints(x: Array) -> Array:
    """x1 + x2 - 2 and x1^2 - x2, both <= 0; optimum f = 1 at (1, 1)."""
    return np.stack([x[..., 0] + x[..., 1] - 2.0, x[..., 0] ** 2 - x[..., 1]], axis=-1)


class BlackBox(Problem):
    """Minimise your own function under your own constraints, from values alone.

    Parameters
    ----------
    objective : callable
        x of shape (n,) to a number; with ``joint=True`` to ``(f, h)``, one simulation for both. With
        ``vectorised=True`` x comes as (..., n), f goes as (...,) and h as (..., m).
    constraints : callable or sequence of callables, optional
        x to a number or m numbers, feasible where all are <= 0.
    bounds : sequence of n pairs, or an object with ``lb`` and ``ub``, optional
        Box for x; None in a pair means unbounded on that side.
    x0 : array_like, shape (n,), optional
        Start of every replica; without it the start is uniform in the (finite) box.
    m : int, optional
        Number of constraints, needed for ``joint=True``; otherwise found by one call at the start.
    noise : str
        Contract of the function's own randomness: declare "independent" if two calls at one point may differ.
        ``noise_scale`` adds artificial noise on top and is 0 here by default.

    Raises
    ------
    ValueError
        For bounds that are reversed, an x0 of the wrong length or outside the bounds, or no way to tell n.

    Notes
    -----
    Without arguments it is problem 22 of Hock and Schittkowski, with f* = 1 at (1, 1). Measures come from values
    that the run paid for, never from extra calls.
    """

    title = "Black box"
    order = 99
    analytic = False

    objective = param.Callable(default=hs22_objective, label="Objective", doc="x to f, or to (f, h) if joint.")
    constraints = param.Parameter(default=hs22_constraints, label="Constraints", doc="x to h, or several such.")
    bounds = param.Parameter(default=((-4.0, 4.0), (-4.0, 4.0)), label="Bounds", doc="n pairs (lower, upper).")
    x0 = param.Parameter(default=None, label="Start x0", doc="n numbers; None: uniform in the bounds.")
    m_constraints = param.Integer(
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Constraints m",
        doc="Number of constraints; None: found by a call.",
    )
    joint = param.Boolean(default=False, label="Joint", doc="The objective returns (f, h) in one call.")
    vectorised = param.Boolean(default=False, label="Vectorised", doc="Functions take (..., n) at once.")
    optimal_value = param.Number(default=None, allow_None=True, label="Known optimum f*", doc="For the gap, if known.")
    scaled = param.Boolean(default=True)
    noise_scale = param.Number(
        default=0.0, bounds=(0, 1e9), label="Added noise scale σ", doc="Artificial noise on top of the function's own."
    )

    def __init__(
        self,
        objective: Callable[..., Any] | None = None,
        constraints: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
        bounds: Any = None,
        x0: ArrayLike | None = None,
        m: int | None = None,
        **params: Any,
    ) -> None:
        if objective is None:
            params = {"vectorised": True, "optimal_value": 1.0} | params
        else:
            params = {"objective": objective, "constraints": constraints, "bounds": bounds} | params
        params = {"x0": x0, "m_constraints": m} | params
        super().__init__(**params)
        self._m = self.m_constraints
        self.domain = _box(self.bounds, self.x0)
        self._start = None if self.x0 is None else self._checked_start()

    def clone(self) -> BlackBox:
        """A twin around the same functions."""
        values = {k: v for k, v in self.param.values().items() if k not in ("name", "objective", "constraints")}
        twin = type(self)(self.objective, self.constraints, **values)
        twin._m = self._m
        return twin

    def _checked_start(self) -> Array:
        start = np.asarray(self.x0, dtype=float)
        if start.shape != (self.domain.n,):
            raise ValueError(f"Expected x0 of shape ({self.domain.n},), got {start.shape}: one number per variable.")
        outside = np.flatnonzero(~((start >= self.domain.lower) & (start <= self.domain.upper)))
        if outside.size:
            i = outside[0]
            raise ValueError(
                f"Expected x0 inside the bounds, got x0[{i}] = {start[i]:g} outside [{self.domain.lower[i]:g}, "
                f"{self.domain.upper[i]:g}]: move it inside, or widen the bounds."
            )
        return start

    @property
    def n(self) -> int:
        """Number of variables, from the bounds or x0."""
        return self.domain.n

    @property
    def m(self) -> int:
        """Number of constraints; where it was not given, from one call of the constraints at the start."""
        if self._m is None:
            self._m = self._count_constraints()
        return self._m

    def _count_constraints(self) -> int:
        if self.joint:
            raise ValueError("Expected m with joint=True, got none: BlackBox(fun, joint=True, m=<constraints>).")
        if self.constraints is None:
            return 0
        if isinstance(self.constraints, Sequence):
            return len(self.constraints)
        start = self._start if self._start is not None else self.domain.sample(np.full(self.n, 0.5))
        return int(np.atleast_1d(np.asarray(self.constraints(start), dtype=float)).shape[-1])

    @property
    def known_optimum(self) -> Optimum | None:
        """The value that was given as known."""
        if self.optimal_value is None:
            return None
        nothing = np.full(self.n, np.nan)
        return Optimum(self.optimal_value, nothing, np.full(self.m, np.nan), "given with the problem")

    def initial(self, streams: Streams) -> Array:
        """x0 for every replica, or uniform in the box."""
        if self._start is None:
            return super().initial(streams)
        return np.repeat(self._start[None], streams.replicas, axis=0)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Call the user's functions, all at once or point by point.

        Raises
        ------
        OracleError
            Where they return something of the wrong shape. What they raise themselves goes through, with the point
            noted.
        """
        if self.vectorised:
            return self._call(x, x.shape[:-1])
        points = x.reshape(-1, self.n)
        values = [self._call(point, ()) for point in points]
        f = np.array([value.f for value in values], dtype=float).reshape(x.shape[:-1])
        return Evaluation(f, np.array([value.h for value in values], dtype=float).reshape(*x.shape[:-1], self.m))

    def _call(self, x: Array, shape: tuple[int, ...]) -> Evaluation:
        try:
            value = self.objective(x)
            if self.joint and not (hasattr(value, "__len__") and len(value) == 2):
                raise OracleError(f"Expected (f, h) from a joint function, got {type(value).__name__}: return a pair.")
            f, h = value if self.joint else (value, self._constrain(x, shape))
        except Exception as error:
            where = f"x = {np.array2string(x, threshold=8)}" if x.ndim == 1 else f"points of shape {x.shape}"
            error.add_note(f"Raised by the black box at {where}.")
            raise
        f, h = np.asarray(f, dtype=float), np.asarray(h, dtype=float)
        if f.shape != shape and f.size == 1 and not shape:
            f = f.reshape(())
        if h.shape == shape and self.m == 1:
            h = h[..., None]
        if f.shape != shape:
            raise OracleError(f"Expected f of shape {shape}, got {f.shape}: return one number per point.")
        if h.shape != (*shape, self.m):
            raise OracleError(
                f"Expected h of shape {(*shape, self.m)}, got {h.shape}: return one column per constraint."
            )
        return Evaluation(f, h)

    def _constrain(self, x: Array, shape: tuple[int, ...]) -> Any:
        if self.constraints is None:
            return np.empty((*shape, 0))
        if isinstance(self.constraints, Sequence):
            columns = [np.asarray(one(x), dtype=float) for one in self.constraints]
            for i, column in enumerate(columns):
                if column.size != math.prod(shape):
                    raise OracleError(f"Expected one number per point from constraint {i + 1}, got {column.shape}.")
            return np.stack([column.reshape(shape) for column in columns], axis=-1)
        return self.constraints(x)


def _box(bounds: Any, x0: ArrayLike | None) -> Box:
    if bounds is None:
        if x0 is None:
            raise ValueError("Expected bounds or x0 to tell the number of variables, got neither.")
        return Box.free(np.atleast_1d(np.asarray(x0, dtype=float)).size)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return Box(bounds.lb, bounds.ub)
    try:
        pairs = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds]
    except (TypeError, ValueError) as error:
        raise ValueError(f"Expected bounds as n pairs (lower, upper), got {bounds!r}.") from error
    return Box([low for low, _ in pairs], [high for _, high in pairs])
