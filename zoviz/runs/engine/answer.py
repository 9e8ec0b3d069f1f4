"""The answer of a run: one point with its values, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from zoviz.certainty.certainty import Certainty, Direction
from zoviz.certainty.stationarity import Activity, Interval
from zoviz.core.encoding.binary import pack, unpack
from zoviz.core.types import Array

_CLASSES: Mapping[str, type[Any]] = {one.__name__: one for one in (Certainty, Direction, Interval)}


class Facts(NamedTuple):
    """The findings of the first calls.

    Attributes
    ----------
    noisy : bool
        Whether values are noisy.
    calls : int
        Calls that revealed it.
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
    kind : str
        What the point is, in a sentence's words.
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
    kind: str = "best feasible point"
    certainty: Certainty | None = None

    def packed(self) -> bytes:
        """Return the bytes from which ``read`` makes it again."""
        return pack(self._asdict())

    @classmethod
    def read(cls, data: bytes) -> Answer:
        """Return the answer that was packed.

        Raises
        ------
        ZovizError
            For bytes that are damaged.
        """
        answer = cls(**unpack(data, _CLASSES))
        if answer.certainty is None:
            return answer
        words = tuple(Activity(word) for word in answer.certainty.activity)
        return answer._replace(certainty=replace(answer.certainty, activity=words))
