"""A picture of a distribution feeder as its network, coloured by voltage."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, LinearColorMapper
from bokeh.palettes import Viridis256
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.power.ac_load_tracking import ACLoadTracking
from zoviz.problems.power.feeder import Feeder
from zoviz.views.common.colours import REFERENCE
from zoviz.views.common.figure_frame import colour_bar
from zoviz.views.pictures.base import Picture

LOWEST, HIGHEST = 0.92, 1.0
"""Ends of the colour scale, in p.u.: about what the feeder's voltages span without any adjustment."""


def rows(feeder: Feeder) -> Array:
    """Return a row for each bus, (buses,), such that no branches cross and the longest path is straight.

    Rows of a subtree are consecutive, so that no two branches cross where buses stand at their distance.
    """
    children: dict[int, list[int]] = {}
    for near, far in feeder.edges:
        children.setdefault(int(near), []).append(int(far))
    reach = feeder.distance.copy()
    for bus in np.argsort(-feeder.depth, kind="stable"):
        reach[bus] = max([reach[bus], *(reach[child] for child in children.get(int(bus), []))])
    row, count = np.zeros(len(feeder.buses)), 0
    stack = [(int(np.argmin(feeder.depth)), False)]
    while stack:
        bus, rows_below = stack.pop()
        below = sorted(children.get(bus, []), key=lambda child: -reach[child])
        if not below:
            row[bus], count = count, count + 1
        elif rows_below:
            row[bus] = row[below[0]]
        else:
            stack += [(bus, True), *((child, False) for child in reversed(below))]
    return row


class FeederMap(Picture):
    """A picture of a feeder's buses by electrical distance from the head, coloured by voltage, larger with a load."""

    title = "Voltages on the feeder"
    kind = ACLoadTracking

    def build(self) -> figure:
        self.lines = ColumnDataSource({"xs": [], "ys": []})
        self.buses = ColumnDataSource({name: [] for name in ("x", "y", "voltage", "bus", "size", "load")})
        fig = self.frame("distance from the head in ohm", "", x_axis_location="below")
        fig.grid.grid_line_color = None
        fig.yaxis.visible = False
        fig.multi_line("xs", "ys", source=self.lines, color=REFERENCE, line_width=1.2)
        mapper = LinearColorMapper(palette=Viridis256, low=LOWEST, high=HIGHEST)
        colour = {"field": "voltage", "transform": mapper}
        dots = fig.scatter("x", "y", source=self.buses, size="size", color=colour, line_color=None)
        tips = [("bus", "@bus"), ("voltage", "@voltage{0.0000} p.u."), ("load now", "@load{0.0} kW")]
        fig.add_tools(HoverTool(renderers=[dots], tooltips=tips, visible=False))
        colour_bar(fig, mapper, "p.u.")
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw voltages and loads at the newest iterate of the path (rows, n)."""
        feeder, x = problem.feeder, path[-1]
        if not len(self.buses.data["x"]):
            row, (near, far) = rows(feeder), feeder.edges.T
            at = feeder.distance
            # Down the row first, then along: laterals leave the trunk at a right angle.
            self.lines.data = {
                "xs": [[at[a], at[a], at[b]] for a, b in zip(near, far, strict=True)],
                "ys": [[row[a], row[b], row[b]] for a, b in zip(near, far, strict=True)],
            }
            self._row = row
        loads = np.zeros(len(feeder.buses))
        loads[feeder.load_buses] = (problem.domain.upper - x)[: len(feeder.load_buses)] * feeder.base / 1e3
        self.buses.data = {
            "x": feeder.distance,
            "y": self._row,
            "voltage": problem.voltages(x[None])[0],
            "bus": feeder.buses,
            "size": np.where(np.isin(np.arange(len(feeder.buses)), feeder.load_buses), 8.0, 5.0),
            "load": loads,
        }
