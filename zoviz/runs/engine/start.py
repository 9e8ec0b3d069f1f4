"""The first points of a run: the starts, and where these have no value, others that have one, by charged calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np

from zoviz.core.errors import BudgetSpent, OracleError, described
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.function_call import Failure
from zoviz.oracle import Oracle
from zoviz.oracle.past import PastPoints
from zoviz.problems.base import Problem

_SHARE, _FEWEST, _MOST = 4, 20, 100
"""A replica looks for a start with a value by so much of its budget as a quarter, at least 20 and at most 100 calls."""
_ATTEMPTS = 10 * _MOST
"""Starts that are made for that: in a small box, or one whose middle is the start, many are the same."""


def tries(problem: Problem, calls: int | None) -> int:
    """Return how many other starts are tried at most, by the budget of calls of a replica; 0 where rows are kept."""
    if problem.keeps_rows:
        return 0
    return _MOST if calls is None else min(_MOST, max(_FEWEST, calls // _SHARE))


def candidates(problem: Problem, streams: Streams, first: Array | None = None) -> Iterator[tuple[Array, np.ndarray]]:
    """Yield the problem's starts (R, n), then others in their place, and where they differ from earlier ones, (R,).

    Before all of them the ``first``, (n,), if there is one: a past point.
    """
    x0 = np.array(problem.initial(streams), dtype=float)
    if first is not None:
        yield np.tile(first, (len(x0), 1)), np.ones(len(x0), dtype=bool)
    earlier = [x0]
    yield x0, np.ones(len(x0), dtype=bool)
    for attempt in range(1, _ATTEMPTS):
        x = problem.other_start(x0, attempt, streams)
        new = ~np.any([(x == one).all(axis=1) for one in earlier], axis=0)
        if new.any():
            yield x, new
            earlier.append(x)


def count_constraints(problem: Problem, seed: int, replicas: int, calls: int | None) -> None:
    """Find out the number of constraints where only a call tells it, at the first of the starts that does.

    Raises
    ------
    OracleError
        Where none does.
    """
    if not problem.partial:
        return
    tried, xi = 0, problem.draw(0, Streams(seed, 1))
    for x, new in islice(candidates(problem, Streams(seed, replicas)), 1 + tries(problem, calls)):
        if new[0]:
            tried += 1
            if problem.count_constraints(x[0], xi):
                return
    raise no_value(problem, tried)


def no_value(problem: Problem, tried: int, last: Evaluation | Failure | None = None) -> OracleError:
    """Return the error of a black box without a value at the start, nor at the others of the points that were tried.

    Parameters
    ----------
    problem : Problem
    tried : int
    last : Evaluation or Failure, optional
        What came instead of a value, where the problem's own message does not tell it.
    """
    others = f"at {tried - 1} other points in its place"
    if isinstance(last, Failure):
        sentence = f"Expected a value at the start, got none: {described(last.error).rstrip('.')}."
        sentence += f" Nor was there one {others}." if tried > 1 else ""
        sentence += " Begin where the functions are defined, or mend what stands in the reason."
    else:
        sought, came = ("a value", "none") if last is None else ("finite values", f"f = {last.f:g} and h = {last.h}")
        nor = f", nor {others}" if tried > 1 else ""
        sentence = f"Expected {sought} at the start, got {came}{nor}: begin where the functions are defined."
    error = OracleError(f"{sentence} {problem.failure_message}".rstrip())
    error.__cause__ = last.error if isinstance(last, Failure) else None
    return error


def refuse_outside(problem: Problem, h: Array) -> None:
    """Refuse a start whose rows h (..., m) are outside of constraints that are kept while searching.

    Raises
    ------
    ValueError
        With the first such row.
    """
    if not problem.keeps_rows:
        return
    largest = np.fmax.reduce(np.atleast_2d(h), axis=0)
    outside = np.flatnonzero(problem.kept_rows & (largest > 0.0))
    if outside.size:
        name = problem.labels[1][outside[0]]
        raise ValueError(
            f"Expected a start inside the constraints that are kept while searching, got {name} = "
            f"{largest[outside[0]]:.6g}: begin where it is at most 0, or leave it out of those that are kept."
        )


def defined(
    problem: Problem, oracle: Oracle, streams: Streams, calls: int | None, early: Callable[[Array], Array]
) -> tuple[Array, str]:
    """Return starts (R, n) in the user's units, with values where any are found, and a sentence on those replaced.

    With the first of them its ``early`` points (k, n) are announced; they are called in vain where it has no value.

    Raises
    ------
    OracleError
        Where no replica has a start with a value.
    ValueError
        For a start outside of constraints that are kept while searching.
    """
    starts = candidates(problem, streams)
    x0, everyone = next(starts)
    if oracle.past is not None and oracle.past.best is not None:
        x0, found = _best_known(oracle, oracle.past, np.tile(oracle.past.best, (len(x0), 1)), x0)
        if found.all():
            return x0, ""
    if not problem.partial:
        return x0, ""
    begun = early(x0)
    if len(begun):
        oracle.announce(begun)
    missing, tried = np.ones(len(x0), dtype=bool), np.zeros(len(x0), dtype=np.int64)
    try:
        for x, new in chain([(x0, everyone)], islice(starts, tries(problem, calls))):
            due = missing & new
            value = oracle.probe(x, due)
            refuse_outside(problem, value.h)
            tried += due
            found = due & value.finite
            x0, missing = np.where(found[:, None], x, x0), missing & ~found
            if not missing.any():
                break
            if len(begun):
                begun, _ = begun[:0], oracle(begun[None])
    except BudgetSpent:
        if missing.all():
            raise no_value(problem, int(tried.max())) from None
        raise
    if missing.all():
        raise no_value(problem, int(tried.max()))
    return x0, _sentence(problem, tried, missing)


def _best_known(oracle: Oracle, past: PastPoints, first: Array, x0: Array) -> tuple[Array, np.ndarray]:
    """Return starts (R, n), and whether they have values: the problem's own, or the best past point where it is better.

    And where a search has ended there.
    """
    everyone = np.ones(len(x0), dtype=bool)
    values = [oracle.probe(x, everyone).stacked for x in (first, x0)]
    oracle.judge_past(values[0][0])
    of_first, of_x0 = (past.merit(value) for value in values)
    better = (of_first <= of_x0) & np.isfinite(of_first) & (past.gathered | ~np.isfinite(of_x0))
    if better.all():
        past.own = x0
    return np.where(better[:, None], first, x0), np.isfinite(np.where(better, of_first, of_x0))


def _sentence(problem: Problem, tried: np.ndarray, missing: np.ndarray) -> str:
    """Return what is to be said of starts without a value; empty where there were none."""
    moved = (tried > 1) & ~missing
    if not moved.any():
        return ""
    whom = "" if len(tried) == 1 else f" of {int(moved.sum())} of {len(tried)} replicas"
    most = int((tried[moved] - 1).max())
    calls = f"{most} call{'s' * (most > 1)}"
    return f"The starting point{whom} had no value; another one was found after {calls} without a value."


def usage_of_past(past: Mapping[str, Any], problem: Problem) -> str:
    """Return the sentence on how many of a run's past points it uses, and why not all, at no call.

    Raises
    ------
    ValueError
        Where none has all values.
    """
    points = PastPoints.of(past, problem.domain, getattr(problem, "m_constraints", None))
    count, inside = len(past["x"]), 0 if points is None else len(points.x)
    whole = 0 if points is None else int(points.whole.sum())
    failed = 0 if points is None else int((~np.isfinite(points.values[:, 0])).sum())
    reasons = {
        "outside the bounds": count - inside,
        "without f: the call failed": failed,
        "without the value of a constraint": inside - whole - failed,
    }
    others = "; ".join(f"{number:,} {words}" for words, number in reasons.items() if number)
    others = f": {others}" if others else ""
    if not whole:
        raise ValueError(f"Expected a row inside the bounds with f and every constraint, got none{others}.")
    return f"{whole:,} of {count:,} past points are used{others}."
