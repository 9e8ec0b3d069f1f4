"""A plot of the distance from stationarity."""

from __future__ import annotations

from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Stationarity(PlotView):
    """A plot of the largest of three residuals: stationarity, violation and complementarity.

    ||x - P(x - grad L)||, ||[h]_+|| and |<y, h>|, after paper splm, Definition 1. For linear constraints ||v|| too, v
    the nearest point to 0 of grad f + A^T y + N_X, and, where they are measured, the gradient of the Moreau envelope
    and the residual of rows with slacks, after paper salm, §1.2.
    """

    title = "Stationarity"
    order = 4
    quantity = "KKT residual ε"
    measures = (
        Series(trace_columns.STATIONARITY, "current"),
        Series(trace_columns.NORMAL_RESIDUAL, "‖v‖"),
        Series(trace_columns.NEAR_STATIONARITY, "‖∇Ψ(z)‖"),
        Series(trace_columns.RESIDUAL, "‖Ax − t − b‖"),
    )
