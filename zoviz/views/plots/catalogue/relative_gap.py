"""A plot of the relative gap, which runs of different problems can share."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
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

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the line of the relative gap, where f* is known and not 0; none otherwise."""
        present = trace_columns.RELATIVE_GAP in columns
        return [Series(trace_columns.RELATIVE_GAP, "current", zeros=True)] if present else []

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the formula of the relative gap."""
        return "|f − f*| / |f*|"
