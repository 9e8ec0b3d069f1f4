"""A plot of the objective's distance from the optimum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Gap(PlotView):
    """A plot of f - f* at the current iterate and at the best feasible point so far, where f* is known.

    A point that is feasible within the tolerance only may lie below f*: then the line of the best is below the break of
    a logarithmic axis, and the title says by how much.
    """

    title = "Objective gap"
    order = 0
    first = True
    comparison = "one problem"
    zero_words = "at f*"
    quantity = "|f − f*|"
    measures = (
        Series(trace_columns.GAP, "current", zeros=True),
        Series(trace_columns.BEST_GAP, "best feasible", zeros=True, best=True),
    )

    def remark(self, columns: Mapping[str, Array]) -> str:
        """Return how far the best feasible points lie below f*, where they all do; else nothing."""
        last = columns[trace_columns.BEST_GAP][-1:] if trace_columns.BEST_GAP in columns else np.empty(0)
        last = last[np.isfinite(last)]
        if not last.size or last.max() >= 0.0:
            return ""
        return f"best: {-np.median(last):.0e} below f*"
