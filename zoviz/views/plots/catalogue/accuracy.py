"""A plot of a classifier's accuracies."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.runs.engine import columns as trace_columns
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Accuracy(PlotView):
    """A plot of every column that a problem names an accuracy."""

    title = "Accuracy"
    order = 9
    special = True
    can_log = False
    quantity = "share of right answers"

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return a line for each column that ends in ``accuracy``."""
        names = sorted(name for name in columns if name.endswith(trace_columns.ACCURACY))
        labels = (name.removesuffix(trace_columns.ACCURACY).strip("_") or "all" for name in names)
        return [Series(name, label) for name, label in zip(names, labels, strict=True)]
