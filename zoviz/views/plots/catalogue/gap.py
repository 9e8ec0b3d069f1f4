"""Objective against the optimum, or by itself where no optimum is known."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Gap(PlotView):
    """f - f* of the current iterate and of the best feasible point queried so far."""

    title = "Objective gap"
    order = 0

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Gap where it is known, else the objective."""
        if trace_columns.GAP in columns:
            return [Series(trace_columns.GAP, "current"), Series(trace_columns.BEST_GAP, "best feasible", "dashed")]
        lines = [
            Series(trace_columns.OBJECTIVE, "current"),
            Series(trace_columns.BEST_OBJECTIVE, "best feasible", "dashed"),
        ]
        return [line for line in lines if line.column in columns]

    def heading(self, columns: Mapping[str, Array]) -> str:
        """Says which of both it is."""
        return self.title if trace_columns.GAP in columns else "Value of the objective (optimum unknown)"

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """The magnitude of what is drawn."""
        return "|f − f*|" if trace_columns.GAP in columns else "|f|"
