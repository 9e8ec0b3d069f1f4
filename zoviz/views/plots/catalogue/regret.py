"""A plot of an online problem's regret."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Regret(PlotView):
    """A plot of the bilevel local regret: squared projected hypergradients, their sum, their mean and the last one."""

    title = "Local regret"
    order = 7
    special = True

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the lines of the regret and of its mean over rounds, where the hypergradient is known."""
        lines = [
            Series(trace_columns.AVERAGE_REGRET, "mean over rounds"),
            Series(trace_columns.REGRET, "sum"),
            Series(trace_columns.AVERAGE_WINDOWED_REGRET, "windowed, mean"),
            Series(trace_columns.HYPERGRADIENT, "‖hypergradient‖ of the round"),
        ]
        return [line for line in lines if line.column in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: what it sums up."""
        return "‖projected hypergradient‖²"
