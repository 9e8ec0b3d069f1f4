"""A picture of load tracking: each user's curtailment against its limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.power.load_tracking import LoadTracking
from zoviz.views.common.colours import PALETTE, REFERENCE, TARGET
from zoviz.views.pictures.base import Picture

MOST = 400
"""Users that are drawn; of more, evenly users ones."""


class Loads(Picture):
    """A picture of each user's curtailed load, its limit and the optimum, users in the order of their limits."""

    title = "Users' curtailed loads"
    kind = LoadTracking

    def build(self) -> figure:
        """Return the figure: limits as pale bars, the optimum as short strokes."""
        self.bars = ColumnDataSource({name: [] for name in ("user", "limit", "load", "optimum")})
        fig = self.frame("users, by their limit", "kW")
        style = {"source": self.bars, "width": 0.8, "line_color": None}
        fig.vbar("user", top="limit", fill_color=REFERENCE, fill_alpha=0.25, legend_label="limit u", **style)
        fig.vbar("user", top="load", fill_color=PALETTE[0], fill_alpha=0.75, legend_label="now x", **style)
        stroke = {"marker": "dash", "size": 7, "color": TARGET, "line_width": 2, "legend_label": "optimum x*"}
        fig.scatter("user", "optimum", source=self.bars, **stroke)
        fig.xgrid.grid_line_color = None
        fig.y_range.start = 0
        fig.legend[0].update(orientation="horizontal", location="top_left")
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw each user's curtailed load at the newest iterate of the path (rows, n)."""
        data = problem.data
        order = np.argsort(data.upper)
        users = order[np.unique(np.linspace(0, order.size - 1, min(order.size, MOST)).round().astype(int))]
        self.bars.data = {
            "user": np.arange(users.size, dtype=float),
            "limit": data.upper[users],
            "load": path[-1][users],
            "optimum": data.optimum.point[users],
        }
