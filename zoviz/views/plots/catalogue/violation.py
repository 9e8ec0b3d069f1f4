"""A plot of the constraint violation."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Violation(PlotView):
    """A plot of ||[h(x)]_+|| at the current iterate; at the bottom of a logarithmic axis where it is 0."""

    title = "Constraint violation"
    order = 3
    zero_words = "feasible"

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the line of the constraint violation, where the kind of task has constraints; none otherwise."""
        present = trace_columns.VIOLATION in columns
        return [Series(trace_columns.VIOLATION, "current", zeros=True)] if present else []

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the norm of the positive part of h."""
        return "‖[h(x)]₊‖"
