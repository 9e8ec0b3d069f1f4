"""A picture of a fair classifier's path through the plane of covariance and accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.learning.fair_classification import FairClassification
from zoviz.views.common.colours import PALETTE, REFERENCE, TARGET
from zoviz.views.common.figure_frame import legend_above
from zoviz.views.pictures.base import Picture

MOST = 300
"""Iterates that are drawn; of a longer path, evenly indices ones."""


class Fairness(Picture):
    """A picture of accuracy against the covariance with the sensitive attribute along the path, and of its bound c."""

    title = "Accuracy and fairness"
    kind = FairClassification
    height = 320

    def build(self) -> figure:
        """Return the figure: a path, its ends, and the bound with what it allows."""
        self.path = ColumnDataSource({"covariance": [], "accuracy": []})
        self.now = ColumnDataSource({"covariance": [], "accuracy": []})
        self.best = ColumnDataSource({"covariance": [], "accuracy": []})
        self.bound = ColumnDataSource({"c": [], "low": [], "high": [], "nought": []})
        fig = self.frame("covariance with the attribute |a'θ|", "accuracy in %")
        wall = {"source": self.bound, "color": TARGET}
        area = {"left": "nought", "right": "c", "bottom": "low", "top": "high", "source": self.bound}
        fig.quad(**area, fill_color=TARGET, fill_alpha=0.1, line_color=None, legend_label="allowed")
        fig.segment("c", "low", "c", "high", line_dash="dashed", line_width=2, legend_label="bound c", **wall)
        where = {"x": "covariance", "y": "accuracy"}
        fig.line(**where, source=self.path, color=PALETTE[0], line_width=1.2, line_alpha=0.5)
        fig.scatter(**where, source=self.path, color=PALETTE[0], size=4, legend_label="path")
        fig.scatter(**where, source=self.best, marker="diamond", color=REFERENCE, size=13, legend_label="optimum θ*")
        now = {"source": self.now, "size": 11, "line_color": "white", "legend_label": "now"}
        fig.scatter(**where, color=PALETTE[1], **now)
        legend_above(fig, 2, spacing=2)
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw the path (rows, n), the bound and the optimum."""
        indices = np.unique(np.linspace(0, len(path) - 1, min(len(path), MOST)).round().astype(int))
        measures = problem.fairness(path[indices])
        covariance, accuracy = measures["covariance"], 100.0 * measures["accuracy"]
        optimum = problem.known_optimum
        optimum_point: dict[str, Any] = {"covariance": [], "accuracy": []}
        if optimum is not None:
            best = problem.fairness(optimum.point[None])
            optimum_point = {"covariance": best["covariance"], "accuracy": 100.0 * best["accuracy"]}
        levels = np.concatenate([accuracy, optimum_point["accuracy"]])
        low, high = float(levels.min()) - 1.0, min(100.0, float(levels.max()) + 1.0)
        self.bound.data = {"c": [problem.bound], "low": [low], "high": [high], "nought": [0.0]}
        self.path.data = {"covariance": covariance, "accuracy": accuracy}
        self.now.data = {"covariance": covariance[-1:], "accuracy": accuracy[-1:]}
        self.best.data = optimum_point
