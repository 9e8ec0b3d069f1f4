"""Plots of a trust-region method: its radii, and the points of its models."""

from __future__ import annotations

from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class TrustRegion(PlotView):
    """A plot of the radius of the trust region beside that of the points of the models.

    Under noise the second stays up where the first goes down: nearer points would show nothing but noise.
    """

    title = "Trust region"
    order = 11
    special = True
    quantity = "radius in unit lengths"
    measures = (
        Series(trace_columns.TRUST_RADIUS, "of the steps"),
        Series(trace_columns.DESIGN_RADIUS, "of the design"),
    )


class Archive(PlotView):
    """A plot of the number of points of the models, and of starts."""

    title = "Archive and starts"
    order = 12
    special = True
    zero_words = "none"  # the exact arm models from differences, and has no archive
    quantity = "number"
    measures = (
        Series(trace_columns.ARCHIVE, "points in the archive", zeros=True),
        Series(trace_columns.STARTS, "starts", zeros=True),
    )
