"""A plot of the distance from stationarity."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Stationarity(PlotView):
    """A plot of the largest of three residuals: stationarity, violation and complementarity.

    ||x - P(x - grad L)||, ||[h]_+|| and |<y, h>|, after paper splm, Definition 1.
    """

    title = "Stationarity"
    order = 5

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the line of the stationarity measure, where gradients are known; none otherwise."""
        return [Series(trace_columns.STATIONARITY, "current")] if trace_columns.STATIONARITY in columns else []

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the measure's name."""
        return "KKT residual ε"
