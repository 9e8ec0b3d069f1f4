"""A plot of an online bilevel problem's tracking errors."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Tracking(PlotView):
    """A plot of the distances of the played y and v from the round's own solutions."""

    title = "Tracking error"
    order = 8
    special = True

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return a line for the tracking error of y and one for that of v, as far as the method has them."""
        lines = [
            Series(trace_columns.INNER_ERROR, "follower y"),
            Series(trace_columns.SYSTEM_ERROR, "system v"),
        ]
        return [line for line in lines if line.column in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the norms of both tracking errors."""
        return "‖y − y*‖, ‖v − v*‖"
