"""The values of a problem, by itself or by a source that answers in its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.real_numbers import checked
from zoviz.oracle.account import Account
from zoviz.oracle.value_source import FoundValues, Question, ValueSource
from zoviz.problems.base import Problem


class Answers:
    """The values of a problem, by itself or by a source that answers in its place.

    Parameters
    ----------
    problem : Problem
    account : Account
        Which tell a source how many calls were paid for before.
    source : ValueSource, optional
    proceed : callable, optional
        Called between the points of a request that is evaluated point by point: what it raises breaks it off.

    Attributes
    ----------
    ahead : list of Array, shape (n,)
        Points of later requests, which workers may begin with; given on once.
    kept : bool
        Whether a log is to keep the values.
    """

    def __init__(
        self, problem: Problem, account: Account, source: ValueSource | None, proceed: Callable[[], object] | None
    ) -> None:
        self._problem, self._account, self._source, self._proceed = problem, account, source, proceed
        self._pointwise = problem.pointwise
        self.ahead: list[Array] = []
        self.kept = True

    def joint(
        self, x: Array, due: np.ndarray, sample: Any, everywhere: bool, own: bool
    ) -> tuple[Evaluation, np.ndarray, BaseException | None]:
        """Return the joint values at points, which points have theirs, and what broke a request off.

        Parameters
        ----------
        x : Array, shape (R, n) or (R, q, n)
            In the user's units.
        due : ndarray of bool, shape (R,) or (R, q)
            The points to be evaluated; the values of the others are NaN.
        sample : object
            None where there is none.
        everywhere : bool
            Whether all points are due.
        own : bool
            Whether the sample is one for each point, rather than for each replica.
        """
        if not self._pointwise:
            value = self._joint(x, sample, due) if everywhere else self._at(x, due, sample, own)
            return value, due, None
        points = np.broadcast_to(due if due.ndim == x.ndim - 1 else due[:, None], x.shape[:-1])
        found = FoundValues(int(points.sum()), self._problem.m, self._proceed)
        try:
            value = self._joint(x, sample, due, found) if everywhere else self._at(x, due, sample, own, found)
            return value, due, None
        except BaseException as error:  # also Ctrl-C
            if not found:
                raise
            return *found.placed(points), error

    def _at(self, x: Array, due: np.ndarray, sample: Any, own: bool, found: FoundValues | None = None) -> Evaluation:
        """Values at those points that are due, NaN elsewhere."""
        value = Evaluation(np.full(x.shape[:-1], np.nan), np.full((*x.shape[:-1], self._problem.m), np.nan))
        if due.any():
            if sample is not None:
                sample = sample[due if own else np.nonzero(due)[0]]
            value.f[due], value.h[due] = self._joint(x[due], sample, due, found)
        return value

    def _joint(self, x: Array, sample: Any, due: np.ndarray, found: FoundValues | None = None) -> Evaluation:
        """Values at points (..., n), those of ``due``."""
        problem, n, m = self._problem, x.shape[-1], self._problem.m
        ahead, self.ahead = self.ahead if sample is None else [], []
        if self._source is None and found is not None:
            f, h = problem.collect(x.reshape(-1, n), found.enter, sample, ahead)
            return checked(Evaluation(f.reshape(x.shape[:-1]), h.reshape(*x.shape[:-1], m)), x, m)
        if self._source is None:
            return checked(problem.evaluate(x, sample), x, m)

        def compute() -> Array:
            value = checked(problem.evaluate(x, sample), x, m)
            return np.concatenate([value.f.reshape(-1, 1), value.h.reshape(value.f.size, m)], axis=1)

        question = Question(int(self._account.calls.sum()), "", (x,), sample, np.nonzero(due)[0], self.kept, ahead)
        values = self._source.values(question, 1 + m, compute, None if found is None else found.enter)
        return Evaluation(values[:, 0].reshape(x.shape[:-1]).copy(), values[:, 1:].reshape(*x.shape[:-1], m).copy())

    def others(
        self,
        ordinal: int,
        kind: str,
        method: Callable[..., Array | tuple[Array, ...]],
        shapes: tuple[tuple[int, ...], ...],
        places: tuple[Array, ...],
        sample: Any,
        rows: np.ndarray,
    ) -> tuple[Array, ...]:
        """Return what a method of the problem's gives at points, such as gradients, as arrays of these shapes.

        Parameters
        ----------
        ordinal : int
            Calls that were paid for before these.
        kind : str
        method : callable
            Maps the places and the sample to one array, or to a tuple of arrays.
        shapes : tuple of tuple of int
        places : tuple of Array, shapes (r, ..., n), (r, ..., d), ...
            The points first.
        sample : object
        rows : ndarray of int, shape (r,)
            Replicas that ask.
        """

        def evaluate() -> tuple[Array, ...]:
            result = method(*places, sample)
            return result if isinstance(result, tuple) else (result,)

        if self._source is None:
            return evaluate()
        lead, count = places[0].ndim - 1, math.prod(places[0].shape[:-1])
        widths = [math.prod(shape[lead:]) for shape in shapes]

        def compute() -> Array:
            return np.concatenate([array.reshape(count, -1) for array in evaluate()], axis=1)

        question = Question(ordinal, kind, places, sample, rows)
        columns = np.split(self._source.values(question, sum(widths), compute), np.cumsum(widths)[:-1], axis=1)
        return tuple(column.reshape(shape).copy() for column, shape in zip(columns, shapes, strict=True))
