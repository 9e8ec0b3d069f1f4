"""A picture of a problem in two variables by formula: objective, feasible part, the path and the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.problems.engineering.gramacy import Gramacy
from zoviz.solvers.base import Solver
from zoviz.views.common.colours import PALETTE, TARGET
from zoviz.views.pictures.base import Picture

CELLS = 80
"""Cells of the image, in each direction."""
_PALE = tuple(
    f"#{int(238 - 150 * s):02x}{int(243 - 110 * s):02x}{int(249 - 70 * s):02x}" for s in np.linspace(0, 1, 48)
)


class UnitSquare(Picture):
    """A picture of the whole square: objective in blue, infeasible points greyed, the path, its end, the optimum."""

    title = "Objective, feasible part and path"

    @classmethod
    def draws(cls, subject: Problem | Solver) -> bool:
        """Return whether the problem is the toy of Gramacy and others."""
        return isinstance(subject, Gramacy)

    def build(self) -> figure:
        """Return the figure: empty images, a path and two marks."""
        empty = np.full((CELLS, CELLS), np.nan)
        corner = {"x": [0.0], "y": [0.0], "w": [1.0], "h": [1.0]}
        self.image = ColumnDataSource({"value": [empty], "outside": [empty], **corner})
        self.path = ColumnDataSource({"x": [], "y": []})
        self.ends = ColumnDataSource({"x": [], "y": [], "colour": []})
        fig = self.frame("x1", "x2")
        fig.grid.grid_line_color = None
        where = {"x": "x", "y": "y", "dw": "w", "dh": "h", "source": self.image, "level": "image"}
        fig.image("value", color_mapper=LinearColorMapper(palette=_PALE, low=0, high=2), **where)
        grey = LinearColorMapper(palette=["rgba(0,0,0,0)", "rgba(90,90,90,0.45)"], low=0, high=1)
        fig.image("outside", color_mapper=grey, **where)
        fig.line("x", "y", source=self.path, color=PALETTE[1], line_width=2)
        fig.scatter("x", "y", source=self.path, color=PALETTE[1], size=4)
        fig.scatter("x", "y", source=self.ends, color="colour", size=11, line_color="white")
        fig.x_range.range_padding = fig.y_range.range_padding = 0.0
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw the path (rows, 2) from the start to the newest iterate."""
        low, width = problem.domain.lower, problem.domain.upper - problem.domain.lower
        if np.isnan(self.image.data["value"][0]).any():
            middles = (np.arange(CELLS) + 0.5) / CELLS
            points = low + width * np.stack(np.meshgrid(middles, middles), axis=-1)
            value = problem.evaluate(points)
            corner = {"x": low[:1], "y": low[1:], "w": width[:1], "h": width[1:]}
            outside = np.where((value.h <= 0.0).all(axis=-1), 0.0, 1.0)
            self.image.data = {"value": [value.f], "outside": [outside], **corner}
        best = problem.known_optimum.point
        self.path.data = {"x": path[:, 0], "y": path[:, 1]}
        self.ends.data = {
            "x": [best[0], path[-1, 0]],
            "y": [best[1], path[-1, 1]],
            "colour": [TARGET, PALETTE[1]],
        }
