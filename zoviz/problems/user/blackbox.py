"""A user's own functions as a problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import param
from numpy.typing import ArrayLike

from zoviz.core.seeds import seeds_of_points
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.evaluators import Evaluator, check_workers
from zoviz.evaluation.function_call import Failure, FunctionCall, zero
from zoviz.evaluation.scipy_constraints import Bounds, Stacked, functions
from zoviz.problems.user.base import Simulation


def hs22_objective(x: Array) -> Array:
    """Return (x1 - 2)^2 + (x2 - 1)^2 at x (2,): problem 22 of Hock and Schittkowski (1981)."""
    return (x[..., 0] - 2.0) ** 2 + (x[..., 1] - 1.0) ** 2


def hs22_constraints(x: Array) -> Array:
    """Return x1 + x2 - 2 and x1^2 - x2, both to be <= 0; optimum f = 1 at (1, 1)."""
    return np.stack([x[..., 0] + x[..., 1] - 2.0, x[..., 0] ** 2 - x[..., 1]], axis=-1)


Functions: TypeAlias = Callable[..., Any] | Sequence[Callable[..., Any]]
"""One function or several, x of shape (n,) to a number or to numbers."""


class BlackBox(Simulation):
    """A problem of your own functions, under your own constraints, known by their values alone.

    Parameters
    ----------
    objective : callable
        x of shape (n,) to a number; with ``joint=True`` to ``(f, h)``, one simulation for both. With
        ``vectorised=True`` x comes as (..., n), f goes as (...,) and h as (..., m).
    constraints : callable or sequence of callables, optional
        x to a number or m numbers, feasible where all are <= 0; or SciPy's forms of constraints, as ``minimize`` takes
        them.
    bounds : sequence of n pairs, or an object with ``lb`` and ``ub``, optional
        Box for x, which no call leaves unless ``keeps_bounds`` is False; None in a pair means unbounded on that side.
    x0 : array_like, shape (n,), optional
        Start of every replica; without it the start is uniform in the (finite) box.
    m : int, optional
        Number of constraints, needed for ``joint=True``; otherwise found by a run's first call.
    keeps_bounds : bool
        Whether the bounds hold for every call (default). False lets differences and other libraries' steps look
        outside, as the methods are published.
    keep : str or sequence of str
        ``"while searching"``: no call is outside of the constraints, by a method that can see to that, from a start
        inside on; or the names of those of which it holds (h1, h2 ... where they have none). SciPy's forms say the same
        by ``keep_feasible=True``.
    workers : int, executor or map-like callable, optional
        Who evaluates the points of a batch in parallel: a number of processes (-1: one per core), anything with
        ``submit`` (``concurrent.futures``; Dask's ``client.get_executor()``), or anything called as ``map`` is.
    timeout : float, optional
        Seconds after which a call is given up, its process ended, and the point counted as failed.
    seeds : bool
        Whether the functions take a seed: ``objective(x, seed)``, and constraints likewise, a whole number below 2^31
        (with ``vectorised`` an array (...)) from which all their randomness follows. Points of a batch then share it,
        so that their differences are precise (common random numbers), unless ``noise`` is "independent"; the run's
        ``seed`` tells them all.
    on_error : str
        "raise": what the function raises, or a useless value (None, text, a wrong shape), ends the run. "fail": the
        point counts as failed, like one with NaN (with ``vectorised``, the batch).
    noise : str
        Contract of the function's own randomness: declare "independent" if two calls at one point may differ, and
        "deterministic" if they never do. "unknown": a run finds out, by calling its best points again now and then.
        ``noise_scale`` adds artificial noise on top and is 0 here by default.

    Raises
    ------
    ValueError
        For bounds that are reversed, an x0 of the wrong length or outside the bounds, no way to tell n, or workers
        that cannot do what is asked of them.

    Notes
    -----
    Without arguments it is problem 22 of Hock and Schittkowski, with f* = 1 at (1, 1). Measures come from values
    that the run paid for, never from extra calls. How processes are started: ``zoviz.evaluation.worker_processes``.
    A function finds what it finds outside a run: ``np.errstate``, folder, environment, processes of its own, and the
    threads of linear algebra, which ``workers`` share; where several runs are at work in a process there is one.
    A Dask worker needs zoviz and the modules that the functions are defined in or import; functions of the script or
    notebook itself travel whole. When one dies, Dask makes its calls again on another.
    """

    title = "Black box"
    order = 99

    objective = param.Callable(default=hs22_objective, label="Objective", doc="Function of x: f, or (f, h) if joint.")
    constraints: param.Parameter[Functions | None] = param.Parameter(
        default=hs22_constraints, label="Constraints", doc="Function of x that returns h, or several such."
    )
    bounds: param.Parameter[Bounds | None] = param.Parameter(default=((-4.0, 4.0), (-4.0, 4.0)))
    joint = param.Boolean(default=False, label="Joint", doc="Whether the objective returns (f, h) in one call.")
    vectorised = param.Boolean(default=False, label="Vectorised", doc="Functions take (..., n) at once.")

    def __init__(
        self,
        objective: Callable[..., Any] | None = None,
        constraints: Functions | None = None,
        bounds: Bounds | None = None,
        x0: ArrayLike | None = None,
        m: int | None = None,
        **params: Any,
    ) -> None:
        if objective is None:
            params = {"vectorised": True, "optimal_value": 1.0, "noise": "deterministic"} | params
        else:
            rows = functions(constraints)
            if isinstance(rows, Stacked) and rows is not constraints and params.get("vectorised"):
                raise ValueError(
                    "Expected constraints as functions of points (..., n) with vectorised=True, got "
                    f"{constraints!r:.80}: SciPy's forms are about one point."
                )
            params = {"objective": objective, "constraints": rows, "bounds": bounds} | params
        super().__init__(**({"x0": x0, "m_constraints": m} | params))

    def _make_evaluator(self) -> Evaluator:
        check_workers(self.workers, self.timeout, self.vectorised)
        return super()._make_evaluator()

    def call(self, m: int | None) -> FunctionCall:
        """Return what evaluates all functions at one point (n,) in one joint call."""
        return FunctionCall(self.objective, self.constraints, self.joint, m)

    def _count_constraints(self) -> int:
        if self.joint:
            raise ValueError("Expected m with joint=True, got none: BlackBox(fun, joint=True, m=<constraints>).")
        if self.constraints is None:
            return 0
        if isinstance(self.constraints, Sequence):
            return len(self.constraints)
        return self._counted_at(self.start)

    def count_constraints(self, place: Array, xi: np.ndarray | None = None) -> bool:
        """Determine the number of constraints by a call at a point (n,), where only a call can.

        The value is kept, and is the answer when a run asks for it: no call is made that is not charged.

        Returns
        -------
        bool
            Whether it is known now; False where the call failed and failures are values.
        """
        if self._m is not None or self.joint or not callable(self.constraints):
            return True
        outcomes = [one.outcome for one in tuple(self._early_values.values())]
        early = next((one for one in outcomes if isinstance(one, Evaluation)), None)
        if early is not None:
            self._m = len(early.h)
            return True
        try:
            self._m = self._counted_at(place, xi)
        except Exception:  # a user's function may raise anything
            if self.on_error == "raise":
                raise
        return self._m is not None

    def _counted_at(self, place: Array, xi: np.ndarray | None = None) -> int:
        """Return the number of constraints by the value at a place (n,), which is kept."""
        (task,) = self._tasks(place[None], xi)
        value = self._evaluator.once(self.call(None), task)
        if isinstance(value, Evaluation):
            self._m = len(value.h)
            self.keep_value(place, value, xi)
            return self._m
        # The objective may fail where the constraints do not; a run that meets the same error says so itself.
        if self.on_error == "fail":
            self.keep_value(place, value, xi)
        alone = self._evaluator.once(FunctionCall(zero, self.constraints, False, None), task)
        if isinstance(alone, Failure):
            alone.error.add_note("The call was to count the constraints: with m given it is not needed.")
            raise alone.error
        return len(alone.h)

    def probe(self, place: Array, xi: np.ndarray | None = None) -> Evaluation | Failure:
        """Evaluate at a place (n,) by one call, with a seed xi (1,), after which m is known unless it failed."""
        value = self._evaluator.once(self.call(self._m), *self._tasks(place[None], xi))
        if isinstance(value, Evaluation):
            self._m = len(value.h)
        return value

    @property
    def keeps_rows(self) -> bool:
        return super().keeps_rows or (isinstance(self.constraints, Stacked) and self.constraints.keeps)

    @property
    def kept_rows(self) -> np.ndarray:
        own = super().kept_rows
        return own | self.constraints.kept(self.m) if isinstance(self.constraints, Stacked) else own

    @property
    def _functions(self) -> tuple[Any, ...]:
        return self.objective, self.constraints

    @property
    def pointwise(self) -> bool:
        """Whether points are evaluated one by one; False where the functions take several at once."""
        return not self.vectorised

    def evaluate(self, x: Array, xi: np.ndarray | None = None) -> Evaluation:
        """Return values f (...) and h (..., m) of the user's functions at points (..., n), at once or one by one.

        Raises
        ------
        OracleError
            Where they return something of the wrong shape. What they raise themselves goes through, with the point
            noted.
        """
        if not self.vectorised:
            return super().evaluate(x, xi)
        points = x.reshape(-1, self.n)
        seeds = seeds_of_points(xi, len(points))
        early = self._take_early_values(points, seeds)
        if not early:
            return self._together(x, seeds)
        value = self._completed(early, len(points), lambda rest: self._together(points[rest], seeds[rest]))
        return Evaluation(value.f.reshape(x.shape[:-1]), value.h.reshape(*x.shape[:-1], self.m))

    def _together(self, x: Array, seeds: np.ndarray) -> Evaluation:
        """Return the values at points (..., n) of functions that take several at once, with seeds (k,) of theirs."""
        call, task = self.call(self.m), (x, seeds.reshape(x.shape[:-1])) if self.seeds else x
        with SingleBlasThread.released():
            value = call(task) if self.on_error == "fail" else call.value(task)
        return self._failed(value, x) if isinstance(value, Failure) else value
