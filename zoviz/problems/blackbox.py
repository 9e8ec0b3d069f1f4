"""A user's own function, or functions, as a problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import param
from numpy.typing import ArrayLike

from zoviz.problems.base import Problem
from zoviz.problems.crew import Crew, check_workers
from zoviz.problems.evaluation import Call, Failure, at, zero
from zoviz.problems.forms import box
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
    workers : int, executor or map-like callable, optional
        Who evaluates the points of a batch in parallel: so many processes (-1: one per core), anything with
        ``submit`` (``concurrent.futures``), or anything that is called as ``map`` is.
    timeout : float, optional
        Seconds after which a call is given up, its process ended, and the point counted as failed.
    on_error : str
        "raise": what the function raises, or a useless value (None, text, a wrong shape), ends the run. "fail": the
        point counts as failed, like one with NaN (with ``vectorised``, the batch).
    noise : str
        Contract of the function's own randomness: declare "independent" if two calls at one point may differ.
        ``noise_scale`` adds artificial noise on top and is 0 here by default.

    Raises
    ------
    ValueError
        For bounds that are reversed, an x0 of the wrong length or outside the bounds, no way to tell n, or workers
        that cannot do what is asked of them.

    Notes
    -----
    Without arguments it is problem 22 of Hock and Schittkowski, with f* = 1 at (1, 1). Measures come from values
    that the run paid for, never from extra calls. How processes are started: ``zoviz.problems.processes``.
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
    workers = param.Parameter(
        default=None, constant=True, label="Workers", doc="Processes, or an executor; None: one by one, here."
    )
    timeout = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        constant=True,
        precedence=-1,
        label="Timeout in s",
        doc="Longest time of one call; a longer one is ended and counts as failed.",
    )
    on_error = param.Selector(
        default="raise",
        objects=["raise", "fail"],
        precedence=-1,
        label="On an error",
        doc="raise: what the function raises ends the run. fail: the point counts as failed.",
    )
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
        self.domain = box(self.bounds, self.x0)
        self._start = None if self.x0 is None else self._checked_start()
        self._crew = Crew(self.workers, self.timeout)
        self._mishap = ""
        check_workers(self.workers, self.timeout, self.vectorised)

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
        value = self._crew.once(Call(zero, self.constraints, False, None), self.start)
        if isinstance(value, Failure):
            value.error.add_note("The call was to count the constraints: with m given it is not needed.")
            raise value.error
        return len(value.h)

    @property
    def start(self) -> Array:
        """x0, or a point amid the box where starts are drawn, shape (n,)."""
        return self._start if self._start is not None else self.domain.sample(np.full(self.n, 0.5))

    def probe(self) -> Evaluation | Failure:
        """The value at ``start`` by one call; m is known afterwards."""
        value = self._crew.once(Call(self.objective, self.constraints, self.joint, self._m), self.start)
        if isinstance(value, Evaluation):
            self._m = len(value.h)
        return value

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

    @property
    def mishap(self) -> str:
        """Why the first evaluation that failed did so, as a sentence."""
        return self._mishap

    def release(self) -> None:
        """End the processes that evaluate; the next evaluation starts new ones."""
        self._crew.close()

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Call the user's functions, all at once or point by point.

        Raises
        ------
        OracleError
            Where they return something of the wrong shape. What they raise themselves goes through, with the point
            noted.
        """
        call = Call(self.objective, self.constraints, self.joint, self.m)
        if self.vectorised:
            value = call(x) if self.on_error == "fail" else call.value(x)
            return self._failed(value, x) if isinstance(value, Failure) else value
        points = list(x.reshape(-1, self.n))
        f, h = np.empty(len(points)), np.empty((len(points), self.m))
        with closing(self._crew.outcomes(call, points)) as outcomes:
            for i, value in enumerate(outcomes):
                f[i], h[i] = self._failed(value, points[i]) if isinstance(value, Failure) else value
        return Evaluation(f.reshape(x.shape[:-1]), h.reshape(*x.shape[:-1], self.m))

    def _failed(self, failure: Failure, x: Array) -> Evaluation:
        """NaN for a failure that counts; another is raised."""
        if not failure.counted and self.on_error == "raise":
            raise failure.error
        kind = "" if isinstance(failure.error, (OracleError, TimeoutError)) else f"{type(failure.error).__name__}: "
        self._mishap = self._mishap or f"The first failure, at {at(x)}: {kind}{failure.error}"
        return Evaluation(np.full(x.shape[:-1], np.nan), np.full((*x.shape[:-1], self.m), np.nan))
