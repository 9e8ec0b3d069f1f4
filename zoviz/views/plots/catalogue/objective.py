"""A plot of the objective where its optimum is unknown."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Objective(PlotView):
    """A plot of f at the current iterate and at the best feasible point so far, where no optimum is known.

    Always on a linear axis: a magnitude would show a fall below 0 as a rise.
    """

    title = "Objective (optimum unknown)"
    order = 1
    first = True
    special = True
    can_log = False
    comparison = "one problem"
    quantity = "f"
    measures = (
        Series(trace_columns.OBJECTIVE, "current"),
        Series(trace_columns.BEST_OBJECTIVE, "best feasible", best=True),
    )

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        return [] if trace_columns.GAP in columns else super().series(columns)
