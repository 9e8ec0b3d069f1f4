"""Problems' data built in threads, so that the page goes on while a data set is read or a network trained."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import panel as pn

from zoviz.problems.base import Problem

PATIENCE = 0.15
"""Seconds that a page waits by itself: most problems are made sooner."""


class _Work(NamedTuple):
    """A clone whose data a thread builds, and the parameters of the clone."""

    clone: Problem
    values: dict[str, Any]
    thread: threading.Thread


def _make(problem: Problem) -> None:
    try:
        problem.data  # noqa: B018 - making them is what it is asked for
    except Exception:  # whatever a user's problem raises: who asks it for its data is told, with the sentence
        return


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
        if work.thread.is_alive():
            return False
        problem.take_data(work.clone)  # the thread has ended: nobody writes to the clone any more
        return True

    @staticmethod
    def _begin(problem: Problem, values: dict[str, Any]) -> _Work:
        # On a clone: the problem's own parameters may be edited before the thread is done.
        clone = problem.clone()
        work = _Work(clone, values, threading.Thread(target=_make, args=(clone,), daemon=True))
        work.thread.start()
        work.thread.join(PATIENCE)
        return work
