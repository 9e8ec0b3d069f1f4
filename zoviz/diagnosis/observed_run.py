"""What a look at a run needs of it, and values that a look may be called off from between two calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Question
from zoviz.problems.base import Problem
from zoviz.runs.engine.result import Result

FORM = "constrained"
"""The kind of task that can be looked at."""


def refuse_other_forms(problem: Problem, tool: str) -> None:
    """Raise a ZovizError for a problem whose values are not one f and one h at a point."""
    if problem.form != FORM:
        raise ZovizError(
            f"Expected a problem of the form {FORM!r} for a {tool}, got {problem.form!r}: it knows f and h at a point "
            "alone."
        )


class ObservedRun(Protocol):
    """The members of a live or stored run that a look at its point needs."""

    @property
    def problem(self) -> Problem:
        """The problem."""

    @property
    def result(self) -> Result:
        """The outcome so far."""

    @property
    def seed(self) -> int:
        """The seed of the run's random numbers."""


class InterruptibleValues:
    """A source of a problem's values that may be left before every batch, and after every call of a black box.

    Parameters
    ----------
    problem : Problem
        The one that the oracle evaluates.
    proceed : callable
        What it raises ends the evaluation; launches under way are ended too.
    """

    def __init__(self, problem: Problem, proceed: Callable[[], object]) -> None:
        self._problem, self._proceed = problem, proceed

    def values(self, question: Question, width: int, compute: Callable[[], Array]) -> Array:
        """Return the values (k, width) at a question's points."""
        self._proceed()
        if question.kind or not self._problem.pointwise:
            return compute()
        points = question.points
        values = np.empty((len(points), width))

        def enter(i: int, value: Evaluation) -> None:
            values[i] = np.concatenate([value.f.reshape(1), value.h.reshape(-1)])
            self._proceed()

        self._problem.collect(points, enter)
        return values
