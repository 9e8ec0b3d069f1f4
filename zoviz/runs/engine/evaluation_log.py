"""Finished evaluations between an oracle and its problem: what was paid for once is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem


class Entry(NamedTuple):
    """Points (k, n) that were evaluated together and their values (k,) and (k, m); why one failed, as a sentence.

    k is 1 where a problem evaluates point by point.
    """

    x: Array
    f: Array
    h: Array
    note: str = ""

    @property
    def whole(self) -> bool:
        """Whether all values are finite."""
        return bool(np.isfinite(self.f).all() and np.isfinite(self.h).all())


class Log:
    """Finished evaluations of one run by ordinal: the number of points that the run had asked for before.

    The ordinal of a point follows from what the run asks, not from when an evaluation ends, so that a batch may be
    evaluated in parallel.

    Parameters
    ----------
    entries : mapping of int to Entry
        What an earlier part of the run has paid for.
    write : callable, optional
        Called with (ordinal, entry) as soon as an evaluation has ended, before the next begins; in the worker's
        thread. Without it, entries are kept in memory.
    """

    def __init__(
        self, entries: Mapping[int, Entry] | None = None, write: Callable[[int, Entry], object] | None = None
    ) -> None:
        self._entries = dict(entries or {})
        self._write = write

    def append(self, ordinal: int, entry: Entry) -> None:
        """Add an evaluation."""
        if self._write is None:
            self._entries[ordinal] = entry
        else:
            self._write(ordinal, entry)

    def get(self, ordinal: int, x: Array) -> Entry | None:
        """The evaluation of points (k, n) with this ordinal; None where it was not made.

        Raises
        ------
        ZovizError
            Where another point has this ordinal: by a single bit is enough.
        """
        entry = self._entries.get(ordinal)
        if entry is not None and (entry.x.shape != x.shape or entry.x.tobytes() != x.tobytes()):
            raise ZovizError(
                f"Expected the points that were asked for before, got others at evaluation {ordinal}: going on needs a "
                "step that depends on its state and streams alone, the same problem and the same library versions. "
                "Start a new run."
            )
        return entry

    def forget(self) -> None:
        """Drop all entries: they are behind."""
        self._entries.clear()


class Answered:
    """A problem whose values come from a log as far as it goes; all else (noise, samples, domain) is its own.

    Attributes
    ----------
    log : Log
    ordinal : int
        Points asked for so far.
    """

    def __init__(self, problem: Problem, log: Log) -> None:
        self._problem, self.log, self.ordinal = problem, log, 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_problem":  # looked up while a pickle is being read
            raise AttributeError(name)
        return getattr(self._problem, name)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        """The logged values at points (..., n), else those that the problem finds now."""
        points = np.ascontiguousarray(x).reshape(-1, x.shape[-1])
        first, self.ordinal = self.ordinal, self.ordinal + len(points)
        f, h = self._values(first, points, x, xi)
        return Evaluation(f.reshape(x.shape[:-1]).copy(), h.reshape(*x.shape[:-1], h.shape[-1]).copy())

    def _values(self, first: int, points: Array, x: Array, xi: Any) -> tuple[Array, Array]:
        entry = self._known(first, points)
        if entry is None:
            entry = self._missing(first, points, x, xi)
        return entry.f, entry.h

    def _known(self, ordinal: int, points: Array) -> Entry | None:
        entry = self.log.get(ordinal, points)
        if entry is not None and entry.note:
            self._problem.recall({"mishap": entry.note})
        return entry

    def _missing(self, first: int, points: Array, x: Array, xi: Any) -> Entry:
        raise NotImplementedError(f"{type(self).__name__} must define _missing.")


class Logged(Answered):
    """A problem that is asked only where the log has no value, and whose new values are logged as they come."""

    def _values(self, first: int, points: Array, x: Array, xi: Any) -> tuple[Array, Array]:
        if not self._problem.pointwise:
            return super()._values(first, points, x, xi)
        f, h = np.empty(len(points)), np.empty((len(points), self._problem.m))
        missing = []
        for i in range(len(points)):
            entry = self._known(first + i, points[i : i + 1])
            if entry is None:
                missing.append(i)
            else:
                f[i], h[i] = entry.f[0], entry.h[0]

        def enter(j: int, value: Evaluation) -> None:
            i = missing[j]
            self._enter(first + i, points[i : i + 1], value.f.reshape(1), value.h.reshape(1, -1))

        if missing:
            f[missing], h[missing] = self._problem.collect(points[missing], enter)
        return f, h

    def _missing(self, first: int, points: Array, x: Array, xi: Any) -> Entry:
        f, h = self._problem.evaluate(x, xi)
        return self._enter(first, points, f.reshape(len(points)), h.reshape(len(points), self._problem.m))

    def _enter(self, ordinal: int, points: Array, f: Array, h: Array) -> Entry:
        # A copy: the solver may go on with its array before the log is written.
        entry = Entry(points.copy(), f, h)
        entry = entry if entry.whole else entry._replace(note=self._problem.mishap)
        self.log.append(ordinal, entry)
        return entry
