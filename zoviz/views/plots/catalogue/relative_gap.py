"""A plot of the relative gap, which runs of different problems can share."""

from __future__ import annotations

from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class RelativeGap(PlotView):
    """A plot of |f - f*| / |f*| at the current iterate, on the page where runs of several problems are compared."""

    title = "Relative gap"
    order = 2
    first = True
    special = True
    comparison = "several problems"
    zero_words = "at f*"
    quantity = "|f − f*| / |f*|"
    measures = (Series(trace_columns.RELATIVE_GAP, "current", zeros=True),)
