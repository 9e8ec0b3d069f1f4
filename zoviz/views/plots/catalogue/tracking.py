"""Tracking errors of an online bilevel problem."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Tracking(PlotView):
    """How far what was played is from the round's own solution: the follower's, and the linear system's."""

    title = "Tracking error"
    order = 6
    special = True

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """One line for each of y and v that the method has."""
        lines = [
            Series(trace_columns.INNER_ERROR, "follower y"),
            Series(trace_columns.SYSTEM_ERROR, "system v", "dashed"),
        ]
        return [line for line in lines if line.column in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """The norms of both tracking errors."""
        return "‖y − y*‖, ‖v − v*‖"
