"""Constraint violation."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Violation(PlotView):
    """||[h(x)]_+|| of the current iterate; nothing is drawn on a logarithmic axis where it is 0."""

    title = "Constraint violation"
    order = 1

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """One line, where the kind of task has constraints."""
        return [Series(trace_columns.VIOLATION, "current")] if trace_columns.VIOLATION in columns else []

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """The norm of the positive part of h."""
        return "‖[h(x)]₊‖"
