"""Variance of the gradient estimate: measured, predicted, and what papers claim."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series

_DASHES = ("dotted", "dotdash")


class Variance(PlotView):
    """Trace of the covariance of the estimate, beside theory and the published bounds."""

    title = "Estimator variance"
    order = 2

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Measured, predicted, then each bound under its source's name."""
        bounds = [name for name in columns if name.startswith(trace_columns.BOUND)]
        lines = [
            Series(trace_columns.VARIANCE, "measured"),
            Series(trace_columns.VARIANCE_PREDICTED, "theory (r → 0)", "dashed"),
        ]
        for i, name in enumerate(bounds):
            lines.append(Series(name, f"bound {name.removeprefix(trace_columns.BOUND)}", _DASHES[i % 2], muted=True))
        return [line for line in lines if line.column in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """The trace of the estimator's covariance."""
        return "tr Cov ĝ"
