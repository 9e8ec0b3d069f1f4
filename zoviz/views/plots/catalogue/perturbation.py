"""A plot of the size of an attack's perturbation."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Perturbation(PlotView):
    """A plot of the largest change of a pixel, whose range is 10."""

    title = "Perturbation"
    order = 10
    special = True
    can_log = False

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the line of the largest change of a pixel, for an attack; none otherwise."""
        return [Series("perturbation", "largest pixel")] if "perturbation" in columns else []

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label: the norm of the perturbation."""
        return "‖y‖∞"
