"""A picture of the nodes of a random graph, coloured by their distance from agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, LogColorMapper, LogTicker, LogTickFormatter
from bokeh.palettes import Viridis256
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.networks.consensus import DistributedConsensus
from zoviz.views.common.colours import REFERENCE
from zoviz.views.common.figure_frame import colour_bar, subtitle
from zoviz.views.pictures.base import Picture

LOWEST, HIGHEST = 1e-4, 1e1
"""Ends of the colour scale, distances from the mean of the nodes."""
MOST = 2000
"""Edges that are drawn; of more, the likeliest."""


class Consensus(Picture):
    """A picture of nodes on a circle, coloured by ||x_i - mean||, and of all edges, darker the likelier they are.

    Notes
    -----
    A run draws three sets of edges in each of its iterations, thousands between two refreshes of the picture: what they
    have in common are the probabilities, and these are drawn.
    """

    title = "Nodes' distance from agreement"
    kind = DistributedConsensus
    height = 340

    def build(self) -> figure:
        self.edges = ColumnDataSource({name: [] for name in ("x0", "y0", "x1", "y1", "alpha")})
        self.nodes = ColumnDataSource({name: [] for name in ("x", "y", "node", "apart")})
        fig = self.frame("", "", match_aspect=True)
        fig.grid.grid_line_color = None
        fig.axis.visible = False
        fig.segment("x0", "y0", "x1", "y1", source=self.edges, color=REFERENCE, line_alpha="alpha", line_width=1)
        mapper = LogColorMapper(palette=Viridis256, low=LOWEST, high=HIGHEST)
        colour = {"field": "apart", "transform": mapper}
        dots = fig.scatter("x", "y", source=self.nodes, size=13, color=colour, line_color=REFERENCE)
        tips = [("node", "@node"), ("distance from the mean", "@apart{0.00e0}")]
        fig.add_tools(HoverTool(renderers=[dots], tooltips=tips, visible=False))
        self.words = subtitle(fig, "below")
        colour_bar(fig, mapper, "‖xᵢ − mean‖", ticker=LogTicker(desired_num_ticks=6), formatter=LogTickFormatter())
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw each node's distance from the mean at the newest iterate of the path (rows, n)."""
        angle = 2.0 * np.pi * np.arange(problem.nodes) / problem.nodes
        x, y = np.sin(angle), np.cos(angle)
        graph = problem.data.graph
        likeliest = np.argsort(-graph.probability, kind="stable")[:MOST]
        alpha = 0.9 * graph.probability[likeliest]
        if not np.array_equal(self.edges.data["alpha"], alpha):  # they stay as they are for all of a run
            first, second = graph.ends[:, likeliest]
            self.edges.data = {"x0": x[first], "y0": y[first], "x1": x[second], "y1": y[second], "alpha": alpha}
        apart = problem.disagreement(path[-1])
        self.nodes.data = {"x": x, "y": y, "node": np.arange(problem.nodes), "apart": np.maximum(apart, 1e-300)}
        self.words.text = f"at most {apart.max():.1e}; edges: darker the likelier"
