"""A plot of the constraint violation."""

from __future__ import annotations

from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Violation(PlotView):
    """A plot of ||[h(x)]_+|| at the current iterate; below the break of a logarithmic axis where it is 0.

    With it what an application asks beyond it: that nodes agree, and that choices are 0 or 1.
    """

    title = "Constraint violation"
    order = 3
    zero_words = "feasible"
    quantity = "‖[h(x)]₊‖"
    measures = (
        Series(trace_columns.VIOLATION, "current", zeros=True),
        Series("consensus_error", "of consensus"),
        Series("binary_distance", "from 0 or 1"),
        Series("assignment_violation", "rounded"),
    )
