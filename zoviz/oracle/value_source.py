"""What lies between an oracle and who answers it: the protocol of a source of values, and the values found so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from zoviz.core.seeds import seeds_of_points
from zoviz.core.types import Array, Evaluation


class Question(NamedTuple):
    """The points whose values an oracle asks for at once.

    Attributes
    ----------
    ordinal : int
        Calls, over all replicas, that the run had paid for before: it follows from what the run asks for, not from
        when an evaluation ends.
    kind : str
        Empty for joint values (f, h); else what is asked for, as ``Oracle.counts`` names it.
    places : tuple of Array, shapes (..., n), (..., d), ...
        The points, in the user's units: x alone, or x with a follower's y and a direction v.
    sample : object
        The problem's sample under which they are to be evaluated; None where it draws none.
    rows : ndarray of int, shape (r,)
        Replicas that ask, in their order: k / r points each, or one point each where a replica stands here for each
        of its points.
    kept : bool
        Whether a log is to keep the values: not where a run that goes on with larger budgets would not ask.
    ahead : sequence of Array, shape (n,)
        Points of later questions that were not announced before: who has nothing else to do may begin with them.
    """

    ordinal: int
    kind: str
    places: tuple[Array, ...]
    sample: Any
    rows: np.ndarray
    kept: bool = True
    ahead: Sequence[Array] = ()

    @property
    def points(self) -> Array:
        """All points one under the other, those of several arguments side by side, (k, n + d + ...)."""
        shape = self.places[0].shape[:-1]
        columns = [
            np.broadcast_to(place, (*shape, place.shape[-1])).reshape(-1, place.shape[-1]) for place in self.places
        ]
        return np.concatenate(columns, axis=-1)

    @property
    def seeds(self) -> np.ndarray:
        """The seed of each of ``points``, (k,), where the sample is of seeds; empty where none is drawn."""
        if self.sample is None:
            return np.zeros(0, dtype=np.int64)
        return seeds_of_points(self.sample, math.prod(self.places[0].shape[:-1]))

    @property
    def replicas(self) -> np.ndarray:
        """The replica that asks for each of ``points``, shape (k,)."""
        return np.repeat(self.rows, math.prod(self.places[0].shape[:-1]) // max(len(self.rows), 1))


class ValueSource(Protocol):
    """An oracle's source of values beside its problem."""

    def values(
        self,
        question: Question,
        width: int,
        compute: Callable[[], Array],
        found: Callable[[int, Evaluation], object] | None = None,
    ) -> Array:
        """Return the values (k, width) at a question's k points.

        Parameters
        ----------
        question : Question
        width : int
            Numbers a point: 1 + m for joint values, f first.
        compute : callable
            Has the problem evaluate them all, shape (k, width).
        found : callable, optional
            To be called with the number of a point and its joint value as soon as that is there, of a problem that is
            evaluated point by point; what it raises breaks the request off.
        """


class FoundValues:
    """The values found so far at the points of one request: what remains of it where it is broken off.

    Parameters
    ----------
    count, m : int
        Points that are asked for, and constraints.
    proceed : callable, optional
        Called after every value but the last; it raises where there is to be no other.
    """

    def __init__(self, count: int, m: int, proceed: Callable[[], object] | None) -> None:
        self._f, self._h = np.full(count, np.nan), np.full((count, m), np.nan)
        self._found, self._left, self._proceed = np.zeros(count, dtype=bool), count, proceed

    def __bool__(self) -> bool:
        return bool(self._found.any())

    def enter(self, i: int, value: Evaluation) -> None:
        """Take the value at a point, by its number."""
        self._f[i], self._h[i] = value
        self._found[i] = True
        self._left -= 1
        if self._left and self._proceed is not None:
            self._proceed()

    def placed(self, due: np.ndarray) -> tuple[Evaluation, np.ndarray]:
        """Return f (R[, q]) and h (R[, q], m), NaN where none was found, and where one was, of points ``due`` (R[, q]).

        The points that were asked for are those that are due, in their order.
        """
        where = np.flatnonzero(due)[self._found]
        f, h = np.full(due.size, np.nan), np.full((due.size, self._h.shape[1]), np.nan)
        f[where], h[where] = self._f[self._found], self._h[self._found]
        found = np.zeros(due.size, dtype=bool)
        found[where] = True
        return Evaluation(f.reshape(due.shape), h.reshape(*due.shape, h.shape[1])), found.reshape(due.shape)
