"""A plot of the dual variables."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Duals(PlotView):
    """A plot of the first eight dual variables, and of how often a method set them back to 0."""

    title = "Dual variables"
    order = 6
    special = True
    can_log = False
    quantity = "y"

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return a line for each of the first eight dual variables, and one for their resets, if they are counted."""
        if trace_columns.DUAL not in columns:
            return []
        count = columns[trace_columns.DUAL].shape[-1]
        lines = [Series(trace_columns.DUAL, f"y{i + 1}", index=i) for i in range(count)]
        resets = Series(trace_columns.DUAL_RESETS, "resets so far", muted=True)
        return [*lines, resets] if trace_columns.DUAL_RESETS in columns else lines
