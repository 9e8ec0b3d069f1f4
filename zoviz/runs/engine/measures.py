"""The values of one row of a trace: measures of the iterate, at no call, and the solver's own figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import BudgetSpent, TimeSpent
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, ExactValues, Iterate
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.runs.engine import columns
from zoviz.solvers.base import Solver
from zoviz.solvers.theory import Info

SHOWN_DUALS = 8
"""Dual variables that a trace keeps one by one; with more constraints, the first of them and the norm of all."""


class Now(NamedTuple):
    """A run between two steps: its problem in the solver's units, what its last step told, and its counts.

    Of the replicas that are ``hidden``, (R,) or None, a row has no measures.
    """

    problem: Problem
    solver: Solver
    state: Any
    info: Info | None
    oracle: Oracle
    iteration: int
    seconds: float
    hidden: np.ndarray | None = None


class ExactPoints:
    """A cache of exact values at the two points measured last, so that theory need not compute them again.

    Two: a row measures the new iterate before theory asks about the one that the step's estimate was taken at, which
    is the iterate of the row before. Points are known by their values: a copy will do.
    """

    def __init__(self) -> None:
        self._last: tuple[ExactValues, ...] = ()

    def find(self, x: Array) -> ExactValues | None:
        """Return the exact values at x (R, n), if they are in the cache."""
        for one in self._last:  # theory asks for the very array that was measured
            if one.x is x:
                return one
        # The first numbers tell most points apart: comparing whole arrays took a tenth of a small step.
        first = x.item(0)
        for one in self._last:
            if one.x.item(0) == first and np.array_equal(one.x, x):
                return one
        return None

    def take(self, problem: Problem, x: Array) -> ExactValues | None:
        """Return the problem's exact values at x (R, n), computed if need be; None where it has none."""
        exact = self.find(x)
        if exact is None:
            exact = problem.exact_values(x)
            self._last = self._last if exact is None else (*self._last[-1:], exact)
        return exact


class Points(NamedTuple):
    """The points of R replicas among which the best design is, in the user's units; NaN where nothing is known.

    Attributes
    ----------
    best_x, best_fun, best_h : Array, shapes (R, n), (R,), (R, m)
        The best feasible points that were queried.
    x, fun, h : Array, shapes (R, n), (R,), (R, m)
        The last iterates.
    """

    best_x: Array
    best_fun: Array
    best_h: Array
    x: Array
    fun: Array
    h: Array


def points_so_far(solver: Solver, state: Any, oracle: Oracle) -> Points:
    """Return the points so far among which the best design is; a function of the user's is not called for them."""
    units, unknown = oracle.units, Evaluation(np.full_like(oracle.best.f, np.nan), np.full_like(oracle.best.h, np.nan))
    if state is None:  # the budget was spent before the method began
        first = oracle.first_best
        x, value = (oracle.best.x, unknown) if first is None else (first.x, first.value)
    else:
        iterate = solver.iterate(state)
        value = iterate.value or unknown  # of a method that does not show its values none are known
        x, value = oracle.place(iterate.x), value if units is None else units.user_value(value)
    best = oracle.best.x.copy(), np.where(np.isfinite(oracle.best.f), oracle.best.f, np.nan), oracle.best.h.copy()
    return Points(*best, x, *value)


def metrics(now: Now, points: ExactPoints | None = None) -> dict[str, Array]:
    """Return the problem's measures (R,) of the reported iterate; of the last one where others would cost calls."""
    problem, iterate, sample = now.problem, now.solver.iterate(now.state), now.oracle.sample
    if not problem.analytic:
        return problem.measures(iterate, sample)
    x = now.solver.output(now.state)
    exact = (points or ExactPoints()).take(problem, x)
    return problem.measures(iterate if iterate.x is x else iterate._replace(x=x), sample, exact)


def points(now: Now, most: int) -> dict[str, Array]:
    """Return what a path keeps of the first replica: its iterate (n,), and a follower's, up to ``most`` variables."""
    places = {"x": now.solver.output(now.state), "inner": now.solver.iterate(now.state).inner}
    return {name: place[0] for name, place in places.items() if place is not None and place.shape[1] <= most}


def row(now: Now, measured: dict[str, Array], points: ExactPoints) -> dict[str, Array]:
    """Return a trace's row: every column with a replica axis, (R,) or (R, k); NaN for hidden replicas.

    In the user's units, but for the variance of the solver's estimate and what theory says of it. A replica that the
    guard stopped is shown as it was then: a mean that left it out would be that of the others.
    """
    problem, solver, state, oracle, hidden = now.problem, now.solver, now.state, now.oracle, now.hidden
    units = oracle.units
    best = np.where(np.isfinite(oracle.best.f), oracle.best.f, np.nan)
    kinds = {f"{columns.CALLS_OF}{kind}": count.astype(float) for kind, count in oracle.account.kinds.items()}
    purposes = oracle.account.ledger.row(columns.CALLS_FOR)
    counts = {**counted(oracle), **kinds, **purposes}
    out = {**counts, **measured}
    if not problem.stochastic:  # else no best point can be read off values
        out[columns.BEST_OBJECTIVE] = best
    optimum = problem.known_optimum
    if optimum is not None:
        out[columns.BEST_GAP] = best - (optimum.value if units is None else units.level + units.f * optimum.value)
    y = solver.iterate(state).dual
    if y is not None and y.shape[1] and not np.isnan(y).all():
        y = y if units is None else units.dual(y)
        out[columns.DUAL] = y[:, :SHOWN_DUALS]
        out[columns.DUAL_NORM] = np.sqrt(np.square(y).sum(axis=1))
    out.update(solver.figures(state))
    if units is not None and columns.VALUE_NOISE in out:
        out[columns.VALUE_NOISE] = units.f * out[columns.VALUE_NOISE]
    stage = solver.stage(state)
    if stage is not None:
        out[columns.STAGE] = np.full(len(best), float(stage))
    if now.info is not None:
        if solver.estimator is not None:
            out[columns.VARIANCE] = now.info.variance
        out.update(solver.theory(problem, now.info, points.find(now.info.point)))
    if hidden is not None:
        for name in out.keys() - {columns.BEST_OBJECTIVE, columns.BEST_GAP} - counts.keys():
            out[name] = np.array(out[name], dtype=float)
            out[name][hidden] = np.nan
    return out


def first_row(oracle: Oracle) -> dict[str, Array]:
    """Return the row of a run whose budget was spent before its method began: counts and the best values by then."""
    best = np.where(np.isfinite(oracle.best.f), oracle.best.f, np.nan)
    out = counted(oracle) | oracle.account.ledger.row(columns.CALLS_FOR)
    if oracle.first_best is not None:
        value = oracle.first_best.value
        out[columns.OBJECTIVE] = value.f
        out[columns.VIOLATION] = np.sqrt(np.square(np.maximum(value.h, 0.0)).sum(axis=-1))
    return out if oracle.problem.stochastic else out | {columns.BEST_OBJECTIVE: best}


def counted(oracle: Oracle) -> dict[str, Array]:
    """Return the columns of what the oracle counts, (R,): of samples of xi and of zeta those that there are."""
    if not oracle.sampled:
        return {columns.CALLS: oracle.calls.astype(float)}
    zeta = oracle.problem.sampled_rows or oracle.problem.online
    return {
        name: count.astype(float)
        for name, count in oracle.account.counted.items()
        if zeta or name != columns.ZETA_SAMPLES
    }


def polished(solver: Solver, state: Any, oracle: Oracle, streams: Streams) -> Iterate | None:
    """Return the solver's polished answer; None where it has none or the budget left does not cover it."""
    try:
        with oracle.purpose(Purpose.POLISH):
            return solver.polish(state, oracle, streams)
    except (BudgetSpent, TimeSpent):
        return None


def of_polished(now: Now, answer: Iterate) -> dict[str, Array]:
    """Return objective, violation and ||v|| (R,) of a polished answer, where they are measured."""
    measured = now.problem.measures(answer, now.oracle.sample)
    names = (columns.OBJECTIVE, columns.VIOLATION, columns.NORMAL_RESIDUAL)
    return {name: measured[name] for name in names if name in measured}


def polished_columns(now: Now, answer: Iterate | None) -> dict[str, Array]:
    """Return what the last row has of a polished answer, and the counts by then; nothing where there is none."""
    own = {} if answer is None else of_polished(now, answer) | counted(now.oracle)
    return {f"{columns.POLISHED}{name}": value for name, value in own.items()}
