"""A picture of a sliced network with its flows."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.networks.slicing import NetworkSlicing
from zoviz.problems.networks.slicing_network import Network
from zoviz.views.common.colours import EVENT, PALETTE, REFERENCE
from zoviz.views.common.figure_frame import legend_above
from zoviz.views.pictures.base import Picture

WIDEST = 9.0
"""Width in pixels of a line that carries the largest mean demand."""
LEAST = 0.02
"""Share of that demand below which a rate is not lines."""
_BEND = np.linspace(0.0, 1.0, 13)
"""Places along an arc between which it is drawn straight."""


def arcs(start: Array, end: Array, bulge: Array) -> tuple[list[Array], list[Array]]:
    """Return arcs between points (k, 2), bent to the right by a share (k,) of their distance."""
    along = end - start
    across = np.stack([along[:, 1], -along[:, 0]], axis=1) * bulge[:, None]
    height = 4.0 * _BEND * (1.0 - _BEND)
    points = start[:, None] + _BEND[:, None] * along[:, None] + height[:, None] * across[:, None]
    return list(points[..., 0]), list(points[..., 1])


class Slices(Picture):
    """A picture of a network: links as arcs as wide as their flow, function nodes as squares with their functions.

    Notes
    -----
    Arcs bulge to the right of their direction, so that a link and the one back lie apart. "2: f1 80 %" at a node says
    that it provides 80 % of the first function of flow 2.
    """

    title = "Flows in the network"
    kind = NetworkSlicing
    height = 380

    def build(self) -> figure:
        self.links = ColumnDataSource({"xs": [], "ys": []})
        names = ("xs", "ys", "width", "colour", "flow", "rate", "link", "used")
        self.flows = ColumnDataSource({name: [] for name in names})
        self.nodes = ColumnDataSource({name: [] for name in ("x", "y", "marker", "size", "node")})
        self.words = ColumnDataSource({name: [] for name in ("x", "y", "text", "align", "baseline")})
        fig = self.frame("", "", match_aspect=True)
        fig.grid.grid_line_color = None
        fig.axis.visible = False
        fig.multi_line("xs", "ys", source=self.links, color=REFERENCE, line_alpha=0.35, line_width=1)
        style = {"color": "colour", "line_width": "width", "line_alpha": 0.75, "legend_field": "flow"}
        lines = fig.multi_line("xs", "ys", source=self.flows, **style)
        fig.scatter("x", "y", source=self.nodes, marker="marker", size="size", color=REFERENCE, line_color="white")
        tips = [("link", "@link"), ("flow", "@flow"), ("rate", "@rate{0.000}"), ("of capacity", "@used{0 %}")]
        fig.add_tools(HoverTool(renderers=[lines], tooltips=tips, visible=False))
        words = fig.text("x", "y", text="text", source=self.words, text_align="align", text_baseline="baseline")
        words.glyph.update(text_font_size="12px", text_color=EVENT)
        fig.legend[0].title = "width: rate"
        legend_above(fig)
        fig.x_range.range_padding = fig.y_range.range_padding = 0.85  # for the words around it
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw rates and shares at the newest iterate of the path (rows, n)."""
        network, plan = problem.data.network, problem.parts(path[-1])
        angle = 2.0 * np.pi * np.arange(problem.nodes) / problem.nodes
        at = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        start, end = at[network.tails], at[network.heads]
        if len(self.links.data["xs"]) != len(start):
            xs, ys = arcs(start, end, np.full(len(start), 0.06))
            self.links.data = {"xs": xs, "ys": ys}
        most = float(network.demand.max())
        flow, link = np.nonzero(plan.totals > LEAST * most)
        bulge: Array = 0.06 + 0.035 * flow.astype(float)
        xs, ys = arcs(start[link], end[link], bulge)
        rate = plan.totals[flow, link]
        self.flows.data = {
            "xs": xs,
            "ys": ys,
            "width": np.maximum(WIDEST * rate / most, 1.0),
            "colour": [PALETTE[k % len(PALETTE)] for k in flow],
            "flow": [f"flow {k + 1}" for k in flow],
            "rate": rate,
            "link": [f"{network.tails[i]} → {network.heads[i]}" for i in link],
            "used": plan.totals.sum(axis=0)[link] / network.capacity[link],
        }
        provides = np.isin(np.arange(problem.nodes), network.sites)
        self.nodes.data = {
            "x": at[:, 0],
            "y": at[:, 1],
            "marker": np.where(provides, "square", "circle"),
            "size": np.where(provides, 14, 9),
            "node": np.arange(problem.nodes),
        }
        middle = np.abs(at[:, 0]) < 0.05
        self.words.data = {
            "x": 1.2 * at[:, 0],
            "y": 1.12 * at[:, 1],
            "text": labels(network, plan.choices, problem.nodes),
            "align": np.where(middle, "center", np.where(at[:, 0] > 0, "left", "right")),
            "baseline": np.where(middle, np.where(at[:, 1] > 0, "bottom", "top"), "middle"),
        }


def labels(network: Network, shares: Array, nodes: int) -> list[str]:
    """Return a text for each node: the flows that begin or end there, and its part of the shares (K, S, P)."""
    text: list[list[str]] = [[] for _ in range(nodes)]
    for k, (source, target) in enumerate(zip(network.source, network.target, strict=True), start=1):
        text[source].append(f"source {k}")
        text[target].append(f"target {k}")
    for k, s, p in np.argwhere(shares >= 0.05):
        share = min(max(shares[k, s, p], 0.0), 1.0)
        text[network.sites[network.provider[k, s, p]]].append(f"{k + 1}: f{s + 1} {share:.0%}")
    return ["\n".join(lines) for lines in text]
