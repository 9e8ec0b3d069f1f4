"""A plot of the objective's distance from the optimum, or of the objective where no optimum is known."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Gap(PlotView):
    """A plot of f - f* at the current iterate and at the best feasible point so far; of f where f* is unknown."""

    title = "Objective gap"
    order = 0

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the lines of the gap where it is known, else of the objective."""
        if trace_columns.GAP in columns:
            return [Series(trace_columns.GAP, "current"), Series(trace_columns.BEST_GAP, "best feasible", "dashed")]
        lines = [
            Series(trace_columns.OBJECTIVE, "current"),
            Series(trace_columns.BEST_OBJECTIVE, "best feasible", "dashed"),
        ]
        return [line for line in lines if line.column in columns]

    def heading(self, columns: Mapping[str, Array]) -> str:
        """Return the title that says whether gap or objective is drawn."""
        return self.title if trace_columns.GAP in columns else "Value of the objective (optimum unknown)"

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the gap's or the objective's symbol."""
        return "|f − f*|" if trace_columns.GAP in columns else "|f|"
