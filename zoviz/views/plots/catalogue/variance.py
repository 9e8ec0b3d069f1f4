"""A plot of the gradient estimate's variance: measured, predicted, and as papers bound it."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Variance(PlotView):
    """A plot of the trace of the estimate's covariance, beside theory and the published bounds.

    Differences along all coordinates of values without noise have no variance: their line is below the break of a
    logarithmic axis.
    """

    title = "Estimator variance"
    order = 5
    zero_words = "none"
    quantity = "tr Cov ĝ"
    measures = (
        Series(trace_columns.VARIANCE, "measured", zeros=True),
        Series(trace_columns.VARIANCE_PREDICTED, "theory (r → 0)", zeros=True),
    )

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the lines of measured and predicted variance, then each bound under its source's name."""
        bounds = [name for name in columns if name.startswith(trace_columns.BOUND)]
        lines = [Series(name, f"bound {name.removeprefix(trace_columns.BOUND)}", muted=True) for name in bounds]
        return [*super().series(columns), *lines]
