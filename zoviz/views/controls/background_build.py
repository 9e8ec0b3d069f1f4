"""Problems' data built in threads, so that the page goes on while a data set is read or a network trained."""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import Any, NamedTuple

import panel as pn

from zoviz.core.threads.background_work import in_background
from zoviz.problems.base import Problem

PATIENCE = 0.15
"""Seconds that a page waits by itself: most problems are made sooner."""


class _Work(NamedTuple):
    """A clone whose data a thread builds, its parameters, and the data, or why there are none: nobody asks here."""

    clone: Problem
    values: dict[str, Any]
    data: Future[Any]


class BackgroundBuild:
    """A builder of problems' data for one page, in threads of its own."""

    def __init__(self) -> None:
        self._works: dict[Problem, _Work] = {}

    def ready(self, problem: Problem) -> bool:
        """Return whether a problem need not be waited for: its data are there, or cannot be built.

        Without a page nobody else waits meanwhile: what needs the data then makes them.
        """
        if problem.prepared or pn.state.curdoc is None:
            self._works.pop(problem, None)
            return True
        values = problem.param.values()
        work = self._works.get(problem)
        if work is None or any(work.values[name] is not value for name, value in values.items()):
            work = self._works[problem] = self._begin(problem, values)
        if not work.data.done():
            return False
        problem.take_data(work.clone)  # the thread has ended: nobody writes to the clone any more
        return True

    @staticmethod
    def _begin(problem: Problem, values: dict[str, Any]) -> _Work:
        # On a clone: the problem's own parameters may be edited before the thread is done.
        clone = problem.clone()
        work = _Work(clone, values, in_background(lambda: clone.data))
        wait([work.data], PATIENCE)
        return work
