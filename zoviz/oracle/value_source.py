"""The protocol between an oracle and what answers in the place of its problem: a log, or a person who tells values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from zoviz.core.types import Array


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
    """

    ordinal: int
    kind: str
    places: tuple[Array, ...]
    sample: Any
    rows: np.ndarray
    kept: bool = True

    @property
    def points(self) -> Array:
        """All points one under the other, those of several arguments side by side, (k, n + d + ...)."""
        shape = self.places[0].shape[:-1]
        columns = [
            np.broadcast_to(place, (*shape, place.shape[-1])).reshape(-1, place.shape[-1]) for place in self.places
        ]
        return np.concatenate(columns, axis=-1)

    @property
    def replicas(self) -> np.ndarray:
        """The replica that asks for each of ``points``, shape (k,)."""
        return np.repeat(self.rows, math.prod(self.places[0].shape[:-1]) // max(len(self.rows), 1))


class ValueSource(Protocol):
    """An oracle's source of values beside its problem."""

    def values(self, question: Question, width: int, compute: Callable[[], Array]) -> Array:
        """Return the values (k, width) at a question's k points.

        Parameters
        ----------
        question : Question
        width : int
            Numbers a point: 1 + m for joint values, f first.
        compute : callable
            Has the problem evaluate them all, shape (k, width).
        """
