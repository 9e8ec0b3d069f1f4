"""A plot of an online bilevel problem's tracking errors."""

from __future__ import annotations

from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Tracking(PlotView):
    """A plot of the distances of the played y and v from the round's own solutions."""

    title = "Tracking error"
    order = 8
    special = True
    quantity = "‖y − y*‖, ‖v − v*‖"
    measures = (Series(trace_columns.INNER_ERROR, "follower y"), Series(trace_columns.SYSTEM_ERROR, "system v"))
