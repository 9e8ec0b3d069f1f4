"""What a session of ``minimize`` finds out at its start, and the answer that it gives in the end."""

from __future__ import annotations

from typing import NamedTuple

from zoviz.certainty.certainty import Certainty
from zoviz.core.types import Array


class Facts(NamedTuple):
    """The findings of the first calls.

    Attributes
    ----------
    noisy : bool
        Whether values are noisy.
    calls : int
        Calls that told it.
    starts : int
        Calls at starts, whose values are kept for the run, which counts them.
    """

    noisy: bool
    calls: int
    starts: int


class Answer(NamedTuple):
    """The point to be returned, with its values.

    Attributes
    ----------
    x : Array, shape (n,)
    fun : float
    h : Array, shape (m,)
    note : str
        Why it is this point; may be empty.
    calls, failures : int
        Calls that finding it took after the run, and those of them without finite values.
    feasible : bool
        Whether h is within the tolerance; of means of noisy values, within the tolerance and twice their standard
        error. At an optimum on its constraints, half of all means are positive, however exact the point.
    certainty : Certainty or None
        None where no call was left for it.
    """

    x: Array
    fun: float
    h: Array
    note: str
    calls: int
    failures: int
    feasible: bool
    certainty: Certainty | None = None
