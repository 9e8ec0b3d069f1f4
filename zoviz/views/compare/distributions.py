"""Figures of a measure over the replicas of several runs: a point for each replica, and the empirical distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d

from zoviz.benchmark.profiles import staircase
from zoviz.core.ranking import quartile
from zoviz.core.types import Array
from zoviz.views.common.figure_frame import empty_figure
from zoviz.views.compare.value_axis import ValueAxis, break_line, value_axis

_GOLDEN = 0.6180339887498949
"""Multiples of it, without their whole parts, spread points evenly however many there are."""


class Sample(NamedTuple):
    """A run's values of a measure, its name and its colour."""

    name: str
    colour: str
    values: Array


def capitalised(name: str) -> str:
    """Return a name with its first letter large, and all others as they are."""
    return name[:1].upper() + name[1:]


def shares_reached(values: Array, axis: ValueAxis) -> tuple[Array, Array]:
    """Return the steps of the share of replicas (R,) whose value is at most x; those without a value never count."""
    x, counts = np.unique(axis.places(values[np.isfinite(values)]), return_counts=True)
    return x, np.cumsum(counts) / max(values.size, 1)


class Distributions:
    """Two figures of a measure over replicas.

    Parameters
    ----------
    measure : str
    logarithmic : bool
        Whether values stand on a logarithmic axis.
    names : sequence of str
        Of the runs, which stand side by side in this order.

    Attributes
    ----------
    replicas, shares : figure
    points, steps : ColumnDataSource
        The replicas, and the lines of shares.
    axis : ValueAxis
        Of the values, as they were drawn last.
    """

    def __init__(self, measure: str, logarithmic: bool, names: Sequence[str]) -> None:
        self._logarithmic = logarithmic
        self.axis = value_axis(np.empty(0), logarithmic)
        self.points = ColumnDataSource({"x": [], "y": [], "colour": [], "run": [], "value": [], "replica": []})
        self._middles = ColumnDataSource({"x0": [], "x1": [], "y": [], "colour": []})
        self.steps = ColumnDataSource({"xs": [], "ys": [], "colour": [], "run": []})
        self._breaks = break_line("width"), break_line("height")
        self.replicas = self._make_replicas(measure, names)
        self.shares = self._make_shares(measure)

    def _make_replicas(self, measure: str, names: Sequence[str]) -> Any:
        title = f"{capitalised(measure)}   each point a replica; bar: median"
        ranges: dict[str, Any] = {"x_range": (-0.6, max(len(names), 1) - 0.4), "y_range": Range1d()}
        fig = empty_figure(title, "plot-Replicas", "", measure, height=300, **ranges)
        fig.segment("x0", "y", "x1", "y", color="colour", line_width=3, source=self._middles)
        points = fig.scatter("x", "y", color="colour", size=7, fill_alpha=0.75, source=self.points)
        fig.add_tools(
            HoverTool(renderers=[points], tooltips="@run, replica @replica: @value{0.[000]e+0}", visible=False)
        )
        fig.xaxis[0].ticker = FixedTicker(ticks=list(range(len(names))))
        fig.xaxis[0].major_label_overrides = dict(enumerate(names))
        fig.xgrid.grid_line_color = None
        fig.yaxis[0].ticker = FixedTicker(ticks=[])
        fig.add_layout(self._breaks[0])
        return fig

    def _make_shares(self, measure: str) -> Any:
        ranges: dict[str, Any] = {"x_range": Range1d(), "y_range": (-0.03, 1.03)}
        fig = empty_figure(
            "Empirical distribution over replicas", "plot-Shares", measure, "share of replicas", height=300, **ranges
        )
        lines = fig.multi_line("xs", "ys", color="colour", line_width=2.5, source=self.steps)
        fig.add_tools(HoverTool(renderers=[lines], tooltips="@run: $y{0 %}", visible=False))
        fig.xaxis[0].ticker = FixedTicker(ticks=[])
        fig.add_layout(self._breaks[1])
        return fig

    def update(self, samples: Sequence[Sample]) -> None:
        """Draw the values of the runs; called with the document's lock."""
        axis = value_axis(np.concatenate([np.empty(0), *(one.values for one in samples)]), self._logarithmic)
        if axis.ticks != self.axis.ticks or axis.ends != self.axis.ends:
            self.axis = axis
            for own, span, ends in (
                (self.replicas.yaxis[0], self._breaks[0], self.replicas.y_range),
                (self.shares.xaxis[0], self._breaks[1], self.shares.x_range),
            ):
                axis.mark(own, span)
                ends.update(start=axis.ends[0], end=axis.ends[1])
        points: dict[str, list[Any]] = {"x": [], "y": [], "colour": [], "run": [], "value": [], "replica": []}
        middles: dict[str, list[Any]] = {"x0": [], "x1": [], "y": [], "colour": []}
        for i, one in enumerate(samples):
            at = np.flatnonzero(np.isfinite(one.values))
            heights = axis.places(one.values[at])
            middle = quartile(one.values, 0.5)
            if np.isfinite(middle):
                middles["x0"].append(i - 0.2)
                middles["x1"].append(i + 0.2)
                middles["y"].append(float(axis.places(np.array([middle]))[0]))
                middles["colour"].append(one.colour)
            points["x"] += list(i + 0.3 * ((at * _GOLDEN) % 1.0 - 0.5))
            points["y"] += list(heights)
            points["colour"] += [one.colour] * at.size
            points["run"] += [one.name] * at.size
            points["value"] += list(one.values[at])
            points["replica"] += list(map(int, at))
        self.points.data, self._middles.data = points, middles
        self.steps.data = self._staircases(samples)

    def _staircases(self, samples: Sequence[Sample]) -> dict[str, list[Any]]:
        """Return the steps of every run, drawn from one end of the axis to the other."""
        lines = [staircase(*shares_reached(one.values, self.axis), *self.axis.ends) for one in samples]
        names = {"colour": [one.colour for one in samples], "run": [one.name for one in samples]}
        return {"xs": [x for x, _ in lines], "ys": [y for _, y in lines], **names}
