"""Regret of an online problem."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Regret(PlotView):
    """Mean over the rounds of the squared projected hypergradients at what was played, and their sum."""

    title = "Bilevel local regret"
    order = 5
    special = True

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """The mean and the sum, where the hypergradient is known."""
        lines = [
            Series(trace_columns.AVERAGE_REGRET, "mean over rounds"),
            Series(trace_columns.REGRET, "sum", "dashed"),
        ]
        return [line for line in lines if line.column in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """The common name of the regret that is drawn."""
        return "BL-Reg"
