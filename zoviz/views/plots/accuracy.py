"""Accuracy of a classifier that is attacked, or trained, on images that the run does not see."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.types import Array
from zoviz.views.base import PlotView
from zoviz.views.frames import Series

_LINES = {
    "accuracy": ("on perturbed images", "solid"),
    "balanced_accuracy": ("balanced over classes", "solid"),
    "test_accuracy": ("in the phase's shares", "dashed"),
}


class Accuracy(PlotView):
    """Shares of images that are classified rightly, where the problem has a classifier."""

    title = "Accuracy"
    order = 5
    can_log = False

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """One line for each accuracy that is measured."""
        return [Series(name, label, dash) for name, (label, dash) in _LINES.items() if name in columns]

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """A share."""
        return "share of images"
