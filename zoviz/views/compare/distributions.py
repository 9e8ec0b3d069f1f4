"""Figures of a measure over the replicas of several runs: violins with their points, and shares that got so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, FixedTicker, HoverTool

from zoviz.core.types import Array
from zoviz.views.common.figure_frame import empty_figure

FEWEST = 3
"""Replicas that differ, from which on a violin is drawn around them."""
_WIDTH = 0.38
_GOLDEN = 0.6180339887498949
"""Multiples of it, without their whole parts, spread points evenly however many there are."""
_ROWS = 64
_POWERS = "return (10 ** tick).toExponential(Math.abs(tick - Math.round(tick)) < 1e-9 ? 0 : 3)"
"""Ticks of a logarithmic axis as numbers: between powers of ten with the digits that tell them apart."""


class Sample(NamedTuple):
    """A run's values of a measure, its name and its colour."""

    name: str
    colour: str
    values: Array


def capitalised(name: str) -> str:
    """Return a name with its first letter large, and all others as they are."""
    return name[:1].upper() + name[1:]


def violin(values: Array) -> tuple[Array, Array]:
    """Return the outline (2 k,) of a violin around 0, and its heights: the density by Gaussian kernels, widest 1."""
    from scipy.stats import gaussian_kde

    spread = float(np.ptp(values))
    heights = np.linspace(values.min() - 0.1 * spread, values.max() + 0.1 * spread, _ROWS)
    density = gaussian_kde(values)(heights)
    width = _WIDTH * density / density.max()
    return np.concatenate([-width, width[::-1]]), np.concatenate([heights, heights[::-1]])


def drawn(values: Array, logarithmic: bool) -> Array:
    """Return the finite values (k,), on a logarithmic axis their powers of ten; where 0, at a tenth of the least."""
    finite = values[np.isfinite(values)]
    if not logarithmic:
        return finite
    positive = finite[finite > 0.0]
    floor = 0.1 * float(positive.min()) if positive.size else 1e-16
    return np.asarray(np.log10(np.maximum(finite, floor)))


def shares_reached(values: Array, logarithmic: bool) -> tuple[Array, Array]:
    """Return the steps of the share of replicas (R,) whose value is at most x; those without a value never count."""
    finite = np.sort(drawn(values, logarithmic))
    x, counts = np.unique(finite, return_counts=True)
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
    violins, shares : figure
    points, steps : ColumnDataSource
        The replicas on the violins, and the lines of shares.
    """

    def __init__(self, measure: str, logarithmic: bool, names: Sequence[str]) -> None:
        self._logarithmic = logarithmic
        self._outlines = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        self.points = ColumnDataSource({"x": [], "y": [], "colour": [], "run": [], "value": [], "replica": []})
        self._middles = ColumnDataSource({"x0": [], "x1": [], "y": [], "colour": []})
        self.steps = ColumnDataSource({"xs": [], "ys": [], "colour": [], "run": []})
        self.violins = self._make_violins(measure, names)
        self.shares = self._make_shares(measure)

    def _make_violins(self, measure: str, names: Sequence[str]) -> Any:
        title = f"{capitalised(measure)}   points: replicas   bar: median"
        fig = empty_figure(title, "plot-Violins", "", measure, x_range=(-0.6, max(len(names), 1) - 0.4), height=300)
        fig.patches("xs", "ys", fill_color="colour", fill_alpha=0.18, line_color="colour", source=self._outlines)
        fig.segment("x0", "y", "x1", "y", color="colour", line_width=3, source=self._middles)
        points = fig.scatter("x", "y", color="colour", size=7, fill_alpha=0.75, source=self.points)
        fig.add_tools(
            HoverTool(renderers=[points], tooltips="@run, replica @replica: @value{0.[000]e+0}", visible=False)
        )
        fig.xaxis[0].ticker = FixedTicker(ticks=list(range(len(names))))
        labels = {str(i): name for i, name in enumerate(names)}
        fig.xaxis[0].formatter = CustomJSTickFormatter(args={"labels": labels}, code="return labels[tick] || ''")
        fig.xgrid.grid_line_color = None
        self._mark(fig.yaxis[0])
        return fig

    def _make_shares(self, measure: str) -> Any:
        fig = empty_figure(
            "Empirical distribution over replicas", "plot-Shares", measure, "share", y_range=(-0.03, 1.03), height=300
        )
        lines = fig.multi_line("xs", "ys", color="colour", line_width=2.5, source=self.steps)
        fig.add_tools(HoverTool(renderers=[lines], tooltips="@run: $y{0 %}", visible=False))
        self._mark(fig.xaxis[0])
        return fig

    def _mark(self, axis: Any) -> None:
        if self._logarithmic:
            axis.formatter = CustomJSTickFormatter(code=_POWERS)

    def update(self, samples: Sequence[Sample]) -> None:
        """Draw the values of the runs; called with the document's lock."""
        outlines: dict[str, list[Any]] = {"xs": [], "ys": [], "colour": []}
        points: dict[str, list[Any]] = {"x": [], "y": [], "colour": [], "run": [], "value": [], "replica": []}
        middles: dict[str, list[Any]] = {"x0": [], "x1": [], "y": [], "colour": []}
        for i, one in enumerate(samples):
            heights, at = drawn(one.values, self._logarithmic), np.flatnonzero(np.isfinite(one.values))
            if np.unique(heights).size >= FEWEST:
                x, y = violin(heights)
                outlines["xs"].append(i + x)
                outlines["ys"].append(y)
                outlines["colour"].append(one.colour)
            if heights.size:
                middles["x0"].append(i - 0.2)
                middles["x1"].append(i + 0.2)
                middles["y"].append(float(np.median(heights)))
                middles["colour"].append(one.colour)
            points["x"] += list(i + 0.3 * ((at * _GOLDEN) % 1.0 - 0.5))
            points["y"] += list(heights)
            points["colour"] += [one.colour] * at.size
            points["run"] += [one.name] * at.size
            points["value"] += list(one.values[at])
            points["replica"] += list(map(int, at))
        self._outlines.data, self.points.data, self._middles.data = outlines, points, middles
        self.steps.data = self._staircases(samples)

    def _staircases(self, samples: Sequence[Sample]) -> dict[str, list[Any]]:
        """Return the steps of every run, drawn on to where the last run's end."""
        curves = [shares_reached(one.values, self._logarithmic) for one in samples]
        ends = [x[-1] for x, _ in curves if x.size]
        starts = [x[0] for x, _ in curves if x.size]
        low, high = (min(starts), max(ends)) if ends else (0.0, 1.0)
        margin = 0.03 * max(high - low, 1e-9)
        xs, ys = [], []
        for x, y in curves:
            x, y = (
                np.concatenate([[low - margin], x, [high + margin]]),
                np.concatenate([[0.0], y, y[-1:] if y.size else [0.0]]),
            )
            xs.append(np.repeat(x, 2)[1:])
            ys.append(np.repeat(y, 2)[:-1])
        return {"xs": xs, "ys": ys, "colour": [one.colour for one in samples], "run": [one.name for one in samples]}
