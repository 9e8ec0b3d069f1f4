"""A plot of an online problem's regret."""

from __future__ import annotations

from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Regret(PlotView):
    """A plot of the bilevel local regret: squared projected hypergradients, their sum, their mean and the last one."""

    title = "Local regret"
    order = 7
    special = True
    quantity = "‖projected hypergradient‖²"
    measures = (
        Series(trace_columns.AVERAGE_REGRET, "mean over rounds"),
        Series(trace_columns.REGRET, "sum"),
        Series(trace_columns.AVERAGE_WINDOWED_REGRET, "windowed, mean"),
        Series(trace_columns.HYPERGRADIENT, "‖hypergradient‖ of the round"),
    )
