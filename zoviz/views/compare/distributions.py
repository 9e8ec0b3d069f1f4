"""Figures of a measure over the replicas of several runs: a point for each replica, and the empirical distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, FixedTicker, HoverTool, Range1d

from zoviz.benchmark.profiles import staircase
from zoviz.core.ranking import quartile
from zoviz.core.types import Array
from zoviz.views.common.colours import REFERENCE
from zoviz.views.common.figure_frame import empty_figure
from zoviz.views.common.log_axis import POWERS, ZeroStrip, log_ticker, strip_below, strip_columns

_GOLDEN = 0.6180339887498949
"""Multiples of it, without their whole parts, spread points evenly however many there are."""
_STRIP: dict[str, Any] = {"color": REFERENCE, "fill_alpha": 0.13, "hatch_alpha": 0.0, "line_dash": [4, 3]}
"""Look of the strip of zeros."""


class Sample(NamedTuple):
    """A run's values of a measure, its name and its colour."""

    name: str
    colour: str
    values: Array


def capitalised(name: str) -> str:
    """Return a name with its first letter large, and all others as they are."""
    return name[:1].upper() + name[1:]


def shares_reached(places: Array, size: int) -> tuple[Array, Array]:
    """Return the steps of the share, of ``size`` replicas, of those whose place (k,) is at most x."""
    x, counts = np.unique(places, return_counts=True)
    return x, np.cumsum(counts) / max(size, 1)


class Distributions:
    """Two figures of a measure over replicas.

    Parameters
    ----------
    measure : str
    logarithmic : bool
        Whether values stand on a logarithmic axis, zeros in a strip below it.
    names : sequence of str
        Of the runs, which stand side by side in this order.

    Attributes
    ----------
    replicas, shares : figure
    points, steps : ColumnDataSource
        The replicas, and the lines of shares.
    strip : ZeroStrip or None
        In which zeros stand.
    """

    def __init__(self, measure: str, logarithmic: bool, names: Sequence[str]) -> None:
        self._logarithmic = logarithmic
        self.strip: ZeroStrip | None = None
        self.points = ColumnDataSource({"x": [], "y": [], "colour": [], "run": [], "value": [], "replica": []})
        self._middles = ColumnDataSource({"x0": [], "x1": [], "y": [], "colour": []})
        self.steps = ColumnDataSource({"xs": [], "ys": [], "colour": [], "run": []})
        self._zeros = ColumnDataSource(strip_columns(None))
        self.replicas = self._make_replicas(measure, names)
        self.shares = self._make_shares(measure)
        if logarithmic:
            for axis in (self.replicas.yaxis[0], self.shares.xaxis[0]):
                axis.ticker, axis.formatter = log_ticker(self._zeros), CustomJSTickFormatter(code=POWERS)

    def _make_replicas(self, measure: str, names: Sequence[str]) -> Any:
        title = f"{capitalised(measure)}   each point a replica; bar: median"
        ranges: dict[str, Any] = {"x_range": (-0.6, max(len(names), 1) - 0.4), "y_range": Range1d()}
        scale = "log" if self._logarithmic else "linear"
        fig = empty_figure(title, "plot-Replicas", "", measure, height=300, y_axis_type=scale, **ranges)
        fig.hstrip(y0="bottom", y1="top", source=self._zeros, **_STRIP)
        fig.segment("x0", "y", "x1", "y", color="colour", line_width=3, source=self._middles)
        points = fig.scatter("x", "y", color="colour", size=7, fill_alpha=0.75, source=self.points)
        fig.add_tools(
            HoverTool(renderers=[points], tooltips="@run, replica @replica: @value{0.[000]e+0}", visible=False)
        )
        fig.xaxis[0].ticker = FixedTicker(ticks=list(range(len(names))))
        fig.xaxis[0].major_label_overrides = dict(enumerate(names))
        fig.xgrid.grid_line_color = None
        return fig

    def _make_shares(self, measure: str) -> Any:
        look: dict[str, Any] = {"x_range": Range1d(), "y_range": (-0.03, 1.03), "height": 300}
        scale, title = "log" if self._logarithmic else "linear", "Empirical distribution over replicas"
        fig = empty_figure(title, "plot-Shares", measure, "share of replicas", x_axis_type=scale, **look)
        fig.vstrip(x0="bottom", x1="top", source=self._zeros, **_STRIP)
        lines = fig.multi_line("xs", "ys", color="colour", line_width=2.5, source=self.steps)
        fig.add_tools(HoverTool(renderers=[lines], tooltips="@run: $y{0 %}", visible=False))
        return fig

    def update(self, samples: Sequence[Sample]) -> None:
        """Draw the values of the runs; called with the document's lock."""
        every = np.concatenate([np.empty(0), *(one.values for one in samples)])
        ends = self._fit(every[np.isfinite(every)])
        points: dict[str, list[Any]] = {"x": [], "y": [], "colour": [], "run": [], "value": [], "replica": []}
        middles: dict[str, list[Any]] = {"x0": [], "x1": [], "y": [], "colour": []}
        lines = []
        for i, one in enumerate(samples):
            at = np.flatnonzero(np.isfinite(one.values))
            heights, middle = self.places(one.values[at]), quartile(one.values, 0.5)
            if np.isfinite(middle):
                middles["x0"].append(i - 0.2)
                middles["x1"].append(i + 0.2)
                middles["y"].append(float(self.places(np.array([middle]))[0]))
                middles["colour"].append(one.colour)
            points["x"] += list(i + 0.3 * ((at * _GOLDEN) % 1.0 - 0.5))
            points["y"] += list(heights)
            points["colour"] += [one.colour] * at.size
            points["run"] += [one.name] * at.size
            points["value"] += list(one.values[at])
            points["replica"] += list(map(int, at))
            lines.append(staircase(*shares_reached(heights, one.values.size), *ends))
        self.points.data, self._middles.data = points, middles
        names = {"colour": [one.colour for one in samples], "run": [one.name for one in samples]}
        self.steps.data = {"xs": [x for x, _ in lines], "ys": [y for _, y in lines], **names}

    def places(self, values: Array) -> Array:
        """Return where finite values (k,) stand: on a logarithmic axis those that are not positive in the strip."""
        return values if self.strip is None else np.where(values > 0.0, values, self.strip.tick)

    def _fit(self, known: Array) -> tuple[float, float]:
        """Have both figures show values (k,), and return the ends of their axes."""
        self.strip = strip_below(known) if self._logarithmic and (known <= 0.0).any() else None
        drawn = np.log10(known[known > 0.0]) if self._logarithmic else known
        low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (0.0, 1.0)
        margin = 0.06 * (high - low) or 0.5
        ends = low - margin, high + margin
        if self._logarithmic:
            ends = 10.0 ** ends[0] if self.strip is None else self.strip.bottom, 10.0 ** ends[1]
        self._zeros.data = strip_columns(self.strip)
        for axis, range_ in (
            (self.replicas.yaxis[0], self.replicas.y_range),
            (self.shares.xaxis[0], self.shares.x_range),
        ):
            axis.major_label_overrides = {} if self.strip is None else {self.strip.tick: "0"}
            range_.update(start=ends[0], end=ends[1])
        return ends
