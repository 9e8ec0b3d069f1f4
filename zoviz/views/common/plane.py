"""A function on a plane: its values as an image, lines on which it is constant, and where points are feasible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from contourpy import LineType, contour_generator

from zoviz.core.types import Array
from zoviz.views.common.colours import EDGE, PALE

_CLEAR = "rgba(0,0,0,0)"


def level_lines(x: Array, y: Array, values: Array, levels: Iterable[float]) -> tuple[list[Array], list[Array]]:
    """Return the abscissae and the ordinates of all lines, (points,) each, on which values (rows, columns) are a level.

    Parameters
    ----------
    x : Array, shape (columns,)
    y : Array, shape (rows,)
    values : Array, shape (rows, columns)
        Linear between neighbours; where it is not finite, there are no lines.
    levels : iterable of float
    """
    generator = contour_generator(x, y, values, line_type=LineType.Separate)
    lines = [line for level in levels for line in cast("list[Array]", generator.lines(level))]
    return [line[:, 0] for line in lines], [line[:, 1] for line in lines]


def largest_constraint(h: Array) -> Array:
    """Return the largest of m constraints at each point of a grid, (rows, columns); -1 where there are none.

    Each by its own spread over the grid: none then hides another near the boundary of the feasible part, where it is 0.

    Parameters
    ----------
    h : Array, shape (rows, columns, m)
    """
    spread = np.maximum(np.nanmax(np.abs(h), axis=(0, 1), initial=0.0), 1e-300)
    return np.asarray((h / spread).max(axis=-1, initial=-1.0))


class PlaneImage:
    """Values on a rectangle as an image with contours; infeasible points are grey, the feasible part's edge is dashed.

    Parameters
    ----------
    fig : figure
        To which it is added; a legend names the edge.

    Attributes
    ----------
    image, contours, boundary : ColumnDataSource
    mapper : LinearColorMapper
        From values to colours.
    """

    def __init__(self, fig: Any) -> None:
        empty = np.full((1, 1), np.nan)
        self.image = ColumnDataSource(
            {"value": [empty], "outside": [empty], "x": [0.0], "y": [0.0], "w": [1.0], "h": [1.0]}
        )
        self.contours = ColumnDataSource({"xs": [], "ys": []})
        self.boundary = ColumnDataSource({"xs": [], "ys": []})
        self.mapper = LinearColorMapper(palette=PALE, low=0.0, high=1.0, nan_color=_CLEAR)
        grey = LinearColorMapper(palette=[_CLEAR, "rgba(90,90,90,0.45)"], low=0, high=1, nan_color=_CLEAR)
        where = {"x": "x", "y": "y", "dw": "w", "dh": "h", "source": self.image, "level": "image"}
        fig.grid.grid_line_color = None
        fig.image("value", color_mapper=self.mapper, **where)
        fig.image("outside", color_mapper=grey, **where)
        fig.multi_line("xs", "ys", source=self.contours, line_color="white", line_width=0.8, line_alpha=0.7)
        edge = {"line_color": EDGE, "line_width": 2, "line_dash": "dashed"}
        fig.multi_line("xs", "ys", source=self.boundary, legend_label="feasible inside", **edge)
        fig.x_range.range_padding = fig.y_range.range_padding = 0.0

    def draw(
        self, corner: Array, widths: Array, values: Array, levels: Array, worst: Array, outside: np.ndarray
    ) -> None:
        """Draw values on a rectangle, with those at the ends of ``levels`` as the ends of the colours.

        Parameters
        ----------
        corner, widths : Array, shape (2,)
            Where the rectangle begins, and how long its sides are.
        values, worst : Array, shape (rows, columns)
            The function, and the largest constraint.
        levels : Array, shape (k,)
            Values of the contours, in order.
        outside : ndarray of bool, shape (rows, columns)
            Which points are not feasible.
        """
        low, high = float(levels[0]), float(max(levels[-1], levels[0] + 1e-12))
        if (low, high) != (self.mapper.low, self.mapper.high):  # a change has the whole page laid out anew
            self.mapper.update(low=low, high=high)
        columns, rows = places(corner, widths, values.shape)
        xs, ys = level_lines(columns, rows, values, levels)
        self.contours.data = {"xs": xs, "ys": ys}
        xs, ys = level_lines(columns, rows, worst, [0.0])
        self.boundary.data = {"xs": xs, "ys": ys}
        self._fill(corner, widths, values, outside.astype(float))

    def clear(self, corner: Array, widths: Array) -> None:
        """Draw nothing on a rectangle of this corner and these widths, (2,): it is what the axes reach over."""
        self._fill(corner, widths, np.full((1, 1), np.nan), np.full((1, 1), np.nan))
        self.contours.data = self.boundary.data = {"xs": [], "ys": []}

    def _fill(self, corner: Array, widths: Array, values: Array, outside: Array) -> None:
        sides = {name: [float(side)] for name, side in zip("xywh", [*corner, *widths], strict=True)}
        self.image.data = {"value": [values], "outside": [outside], **sides}


def places(corner: Array, widths: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return abscissae (columns,) and ordinates (rows,) of the middles of a rectangle's (rows, columns) cells."""
    rows, columns = shape
    x, y = (np.arange(count) + 0.5 for count in (columns, rows))
    return corner[0] + widths[0] * x / columns, corner[1] + widths[1] * y / rows
