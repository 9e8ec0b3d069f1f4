"""A plot of what single applications are judged by, on a linear axis."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Array
from zoviz.views.plots.base import PlotView
from zoviz.views.plots.line_data import Series


class Application(PlotView):
    """A plot of the largest change of a pixel, whose range is 10, or of how differently a classifier treats two groups.

    Of the groups the covariance of the score with them, and difference and ratio of their shares classified as +1.
    """

    title = "Perturbation"
    order = 10
    special = True
    can_log = False
    quantity = "‖y‖∞"
    measures = (
        Series("perturbation", "largest pixel"),
        Series("covariance", "covariance"),
        Series("parity_difference", "difference of shares"),
        Series("p_rule", "ratio of shares"),
    )

    def heading(self, columns: Mapping[str, Array]) -> str:
        """Return what is drawn: a perturbation's size, or the parity of groups."""
        return "Parity of both groups" if "covariance" in columns else self.title

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the norm of the perturbation, or nothing, where the lines differ."""
        return "" if "covariance" in columns else self.quantity
