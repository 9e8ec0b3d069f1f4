"""The figures of an experiment on a page, whose curves tell what they were made of when they are clicked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.events import LegendItemClick, Tap
from bokeh.layouts import gridplot
from bokeh.models import HoverTool

from zoviz.core.types import Array
from zoviz.studies.experiment import Panel
from zoviz.views.common.colours import DASHES
from zoviz.views.common.figure_frame import columns_of, empty_figure, legend_above
from zoviz.views.experiments.thumbnail import inks, placed, share, spread

_HEIGHT, _ENTRY = 250, 21
"""Of a figure without its legend, and of a line of the legend, in pixels."""
_NEAR = 0.06
"""How far beside a curve, as a share of the figure, a click still means it."""


class PanelFigure:
    """A figure of a panel.

    Parameters
    ----------
    panel : Panel
    number : int
        Of the panel among those of its experiment.
    pick : callable, optional
        Called with the number and a curve's name when a person clicks near the curve, or on it in the legend.

    Attributes
    ----------
    figure : figure
    """

    def __init__(self, panel: Panel, number: int, pick: Callable[[int, str], None] | None = None) -> None:
        self.panel, self._number = panel, number
        self._pick = pick or (lambda number, name: None)
        columns = columns_of(list(panel.lines))
        entries = -(-len(panel.lines) // columns)
        self.figure = empty_figure(
            panel.heading,
            f"panel-{number}",
            panel.x,
            panel.y,
            height=_HEIGHT + _ENTRY * entries,
            x_axis_type="log" if panel.log_x else "linear",
            y_axis_type="log" if panel.log_y else "linear",
        )
        for (name, (x, y)), ink, dash in zip(panel.lines.items(), inks(panel), itertools.cycle(DASHES), strict=False):
            places = 10.0 ** placed(y, True) if panel.log_y else placed(y, False)
            self._line(np.array(x, dtype=float), places, name, ink, dash)
        legend_above(self.figure, columns, spacing=10 if entries == 1 else 2)
        legend: Any = self.figure.legend[0]
        legend.click_policy = "none"
        self.figure.add_tools(HoverTool(tooltips="$name: $y at $x", visible=False))
        if pick is not None:  # a page without a server has nobody to tell
            legend.on_click(self.listed)
            self.figure.on_event(Tap, self.tapped)

    def _line(self, x: Array, y: Array, name: str, colour: str, dash: Any) -> None:
        """Draw a curve, with a dot at each point where there are few."""
        look: dict[str, Any] = {"color": colour, "legend_label": name, "name": name}
        self.figure.line(x, y, line_width=2.2, line_dash=dash, **look)
        if len(x) <= 12:
            self.figure.scatter(x, y, size=6, **look)

    def tapped(self, event: Tap) -> None:
        """Pick the curve next to the pointer, if one is near."""
        name = None if event.x is None or event.y is None else self.line_near(float(event.x), float(event.y))
        if name is not None:
            self._pick(self._number, name)

    def listed(self, event: LegendItemClick) -> None:
        """Pick the curve whose entry of the legend was clicked."""
        label: Any = event.item.label
        self._pick(self._number, label["value"] if isinstance(label, dict) else label.value)

    def line_near(self, x: float, y: float) -> str | None:
        """Return the name of the curve that passes nearest by a place of the figure; None where none is near."""
        panel, place = self.panel, np.empty(2)
        axes = []
        for axis, (value, log) in enumerate(((x, panel.log_x), (y, panel.log_y))):
            curves = [placed(line[axis], log) for line in panel.lines.values()]
            ends = spread(np.concatenate(curves))
            place[axis] = share(placed([value], log), ends)[0]
            axes.append([share(curve, ends) for curve in curves])
        away = [distance(np.stack([xs, ys], axis=1), place) for xs, ys in zip(*axes, strict=True)]
        nearest = int(np.argmin(away))
        return list(panel.lines)[nearest] if away[nearest] <= _NEAR else None


def experiment_figures(panels: Sequence[Panel]) -> Any:
    """Return the figures of panels beside each other, two in a row, for a page or a cell without a server.

    Parameters
    ----------
    panels : sequence of Panel
        As ``Experiment.panels`` returns them.
    """
    figures = [PanelFigure(panel, number).figure for number, panel in enumerate(panels)]
    return gridplot(figures, ncols=2, sizing_mode="stretch_width", toolbar_location=None)


def distance(points: Array, place: Array) -> float:
    """Return how far a place (2,) is from the line through points (T, 2), of which those that are NaN are left out."""
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points) or not np.isfinite(place).all():
        return float("inf")
    begins, ends = points[:-1] if len(points) > 1 else points, points[1:] if len(points) > 1 else points
    along = ends - begins
    square = np.maximum(np.square(along).sum(axis=1), 1e-300)
    part = np.clip(((place - begins) * along).sum(axis=1) / square, 0.0, 1.0)
    return float(np.linalg.norm(begins + part[:, None] * along - place, axis=1).min())
