"""Distance from stationarity."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.types import Array
from zoviz.views.base import PlotView
from zoviz.views.frames import Series


class Stationarity(PlotView):
    """The smallest epsilon for which the iterate is epsilon-stationary (paper splm, Definition 1)."""

    title = "Stationarity"
    order = 3

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """One line, where gradients are known."""
        return [Series("stationarity", "current")] if "stationarity" in columns else []

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """What it is the largest of."""
        return "max of ‖x − Π(x − ∇L)‖, ‖[h]₊‖, |⟨y, h⟩|"
