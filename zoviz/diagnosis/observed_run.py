"""The kind of task that can be measured at the point of a run."""

from __future__ import annotations

from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem

FORM = "constrained"
"""The kind of task that can be measured."""


def refuse_other_forms(problem: Problem, tool: str) -> None:
    """Raise a ZovizError for a problem whose values are not one f and one h at a point."""
    if problem.form != FORM:
        raise ZovizError(
            f"Expected a problem of the form {FORM!r} for a {tool}, got {problem.form!r}: it needs f and h at a point."
        )
