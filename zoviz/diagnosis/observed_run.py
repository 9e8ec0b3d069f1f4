"""What a measurement at the point of a run needs of the run."""

from __future__ import annotations

from typing import Protocol

from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.engine.result import Result

FORM = "constrained"
"""The kind of task that can be measured."""


def refuse_other_forms(problem: Problem, tool: str) -> None:
    """Raise a ZovizError for a problem whose values are not one f and one h at a point."""
    if problem.form != FORM:
        raise ZovizError(
            f"Expected a problem of the form {FORM!r} for a {tool}, got {problem.form!r}: it needs f and h at a point."
        )


class ObservedRun(Protocol):
    """The members of a live or stored run that a measurement at its point needs."""

    @property
    def problem(self) -> Problem:
        """The problem."""

    @property
    def result(self) -> Result:
        """The outcome so far."""

    @property
    def seed(self) -> int:
        """The seed of the run's random numbers."""
