"""Plots of a trust-region method: its radii, and the points of its models."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
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

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return a line for each of the two radii."""
        lines = (
            (trace_columns.TRUST_RADIUS, "of the steps"),
            (trace_columns.DESIGN_RADIUS, "of the design"),
        )
        return [Series(name, label) for name, label in lines if name in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the unit of the radii."""
        return "radius in unit lengths"


class Archive(PlotView):
    """A plot of the number of points of the models, and of starts."""

    title = "Archive and starts"
    order = 12
    special = True
    zero_words = "none"  # the exact arm models from differences, and has no archive

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return a line for the points and one for the starts."""
        lines = ((trace_columns.ARCHIVE, "points in the archive"), (trace_columns.STARTS, "starts"))
        return [Series(name, label, zeros=True) for name, label in lines if name in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: numbers of points and starts."""
        return "number"
