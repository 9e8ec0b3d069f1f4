"""Log of finished evaluations, which answers an oracle so that what was paid for once is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Question
from zoviz.problems.base import Problem


class Entry(NamedTuple):
    """A logged evaluation: points that were evaluated together, and their values.

    Attributes
    ----------
    x : Array, shape (k, n)
        The points, as ``Question.points``; k is 1 where a problem evaluates point by point.
    values : Array, shape (k, w)
        Joint values have w = 1 + m numbers, f first.
    note : str
        Why one failed, as a sentence.
    kind : str
        What was asked for, as ``Question.kind``.
    seed : int
        With what the point was called, where the problem takes a seed and evaluates point by point; else 0.
    """

    x: Array
    values: Array
    note: str = ""
    kind: str = ""
    seed: int = 0

    @property
    def whole(self) -> bool:
        """Whether all values are finite."""
        return bool(np.isfinite(self.values).all())

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> tuple[int, Self]:
        """Make an ordinal and an entry from their stored form."""
        return stored["ordinal"], cls(**{name: stored[name] for name in cls._fields})

    def stored(self, ordinal: int) -> dict[str, Any]:
        """Return the stored form of an entry and its ordinal."""
        return {"ordinal": ordinal, **self._asdict()}


class Log:
    """The finished evaluations of one run by ordinal: the number of calls that the run had paid for before.

    The ordinal of a point follows from what the run asks, not from when an evaluation ends, so that a batch may be
    evaluated in parallel.

    Parameters
    ----------
    entries : mapping of int to Entry
        What an earlier part of the run has paid for.
    write : callable, optional
        Called with (ordinal, entry) as soon as an evaluation has ended, before the next begins; in the worker's
        thread. Without it, entries are kept in memory.
    forked : bool
        Whether the entries are another run's, which this one repeats for a while: where it has left that, other points
        are evaluated.
    """

    def __init__(
        self,
        entries: Mapping[int, Entry] | None = None,
        write: Callable[[int, Entry], object] | None = None,
        forked: bool = False,
    ) -> None:
        self._entries = dict(entries or {})
        self._write, self._forked = write, forked

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, ordinal: int, entry: Entry) -> None:
        """Add an evaluation to the log."""
        if self._write is None:
            self._entries[ordinal] = entry
        else:
            self._write(ordinal, entry)

    def get(self, ordinal: int, x: Array, kind: str = "", seed: int = 0) -> Entry | None:
        """Return the evaluation of points (k, n) with this ordinal; None where it was not made.

        Raises
        ------
        ZovizError
            Where another point has this ordinal, or another seed: by a single bit is enough.
        """
        entry = self._entries.get(ordinal)
        if entry is None:
            return None
        same = entry.kind == kind and entry.seed == seed and entry.x.shape == x.shape
        same = same and entry.x.tobytes() == x.tobytes()
        if same and self._forked:
            self.append(ordinal, entry)  # its own from now on
        if not same and self._forked:
            return None
        if not same:
            raise ZovizError(
                f"Expected the same points as before, got others at evaluation {ordinal}: going on needs a "
                "step that depends on its state and streams alone, the same problem and the same library versions. "
                "Start a new run."
            )
        return entry

    def forget(self) -> None:
        """Drop all entries, once a checkpoint has made them superfluous."""
        self._entries.clear()


class LoggedValues:
    """A source of values that evaluates only what a log does not have, and logs it as it comes.

    Parameters
    ----------
    problem : Problem
        The one that the oracle evaluates.
    log : Log
    """

    def __init__(self, problem: Problem, log: Log) -> None:
        self._problem, self._log = problem, log

    def values(
        self,
        question: Question,
        width: int,
        compute: Callable[[], Array],
        found: Callable[[int, Evaluation], object] | None = None,
    ) -> Array:
        """Return the logged values (k, width) at a question's points, else those that ``compute`` gives now."""
        if not question.kept:
            return compute()
        points, kind = question.points, question.kind
        if not kind and self._problem.pointwise:
            return self._point_by_point(question, points, width, found or _nothing)
        entry = self._logged(question.ordinal, points, kind)
        return (entry or self._enter(question.ordinal, points, compute(), kind)).values

    def _point_by_point(
        self, question: Question, points: Array, width: int, found: Callable[[int, Evaluation], object]
    ) -> Array:
        values, missing, first, drawn = np.empty((len(points), width)), [], question.ordinal, question.seeds
        seeds = drawn.tolist() if len(drawn) else [0] * len(points)
        for i in range(len(points)):
            entry = self._logged(first + i, points[i : i + 1], "", seeds[i])
            if entry is None:
                missing.append(i)
            else:
                values[i] = entry.values[0]
                found(i, Evaluation(values[i, 0], values[i, 1:]))

        def enter(j: int, value: Evaluation) -> None:
            i = missing[j]
            values[i] = np.concatenate([value.f.reshape(1), value.h.reshape(-1)])
            self._enter(first + i, points[i : i + 1], values[i : i + 1].copy(), "", seeds[i])
            found(i, value)

        if missing:
            self._problem.collect(points[missing], enter, drawn[missing] if len(drawn) else None, question.ahead)
        return values

    def _logged(self, ordinal: int, points: Array, kind: str, seed: int = 0) -> Entry | None:
        entry = self._log.get(ordinal, points, kind, seed)
        if entry is not None and entry.note:
            self._problem.restore({"failure_message": entry.note})
        return entry

    def _enter(self, ordinal: int, points: Array, values: Array, kind: str, seed: int = 0) -> Entry:
        # A copy: the solver may go on with its array before the log is written.
        entry = Entry(points.copy(), values, "", kind, seed)
        entry = entry if entry.whole else entry._replace(note=self._problem.failure_message)
        self._log.append(ordinal, entry)
        return entry


def _nothing(i: int, value: Evaluation) -> None:
    """Do nothing with a value that was found."""
