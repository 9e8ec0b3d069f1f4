"""A picture of the plane through optimum, start and iterate of a quadratic programme, with the path on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.problems.quadratic.base import QuadraticProblem
from zoviz.solvers.base import Solver
from zoviz.views.common.colours import EVENT, PALETTE, TARGET
from zoviz.views.common.figure_frame import colour_bar, legend_above
from zoviz.views.common.plane import PlaneImage, largest_constraint, places
from zoviz.views.pictures.base import Picture

CELLS = 64
"""Cells of the image, in each direction."""
LARGEST = 500
"""Variables up to which the plane's values are quick enough to be computed while a run goes on."""
_RATIO = 1.6
"""Of the width of a frame to its height."""
_MARGIN = 0.25
"""Share of the extent that is added to both sides of an axis."""


def plane(optimum: Array, start: Array, now: Array) -> tuple[Array, Array]:
    """Return two orthonormal directions (n,) of the plane through three points (n,): to the start, and across.

    Where the points lie on a line, the second direction is any that is at right angles to the first.
    """
    along = start - optimum
    length = np.linalg.norm(along)
    along = along / length if length > 0 else np.eye(optimum.size)[0]
    across = (now - optimum) - ((now - optimum) @ along) * along
    if np.linalg.norm(across) <= 1e-9 * max(1.0, float(np.linalg.norm(now - optimum))):
        across = np.eye(optimum.size)[int(np.argmin(np.abs(along)))]
        across = across - (across @ along) * along
    return along, across / np.linalg.norm(across)


class QuadraticSlice(Picture):
    """A picture of log10(f - f*) on a plane with its contours, the feasible part's boundary, and the path on it."""

    title = "Slice through optimum and start"
    height = 320

    @classmethod
    def draws(cls, subject: Problem | Solver) -> bool:
        """Return whether the problem is a quadratic programme of moderate size whose optimum is known."""
        if not isinstance(subject, QuadraticProblem) or subject.domain.n > LARGEST:
            return False
        return subject.known_optimum is not None

    def build(self) -> figure:
        self.path = ColumnDataSource({"x": [0.0], "y": [0.0]})
        self.ends = ColumnDataSource(self._ends(np.zeros(1), np.zeros(1)))
        fig = self.frame("along the start's direction", "across", match_aspect=True)
        self._plane = PlaneImage(fig)
        self.image, self.contours, self.boundary = self._plane.image, self._plane.contours, self._plane.boundary
        fig.line("x", "y", source=self.path, color=PALETTE[1], line_width=2)
        fig.scatter("x", "y", source=self.path, color=PALETTE[1], size=3)
        look = {"fill_color": "colour", "marker": "mark", "size": 11, "line_color": "white", "legend_group": "name"}
        fig.scatter("x", "y", source=self.ends, **look)
        legend_above(fig, 2, spacing=6)
        fig.legend[0].update(glyph_width=20, glyph_height=20, label_standoff=0)
        colour_bar(fig, self._plane.mapper, "log₁₀(f − f*)", ticker=FixedTicker(ticks=list(range(-12, 13, 2))))
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw the path (rows, n) on the plane through optimum, start and newest iterate."""
        optimum = problem.known_optimum
        along, across = plane(optimum.point, path[0], path[-1])
        offsets = path - optimum.point
        x, y = offsets @ along, offsets @ across
        corner, widths = rectangle(x, y)
        columns, rows = places(corner, widths, (CELLS, CELLS))
        points = optimum.point + columns[None, :, None] * along + rows[:, None, None] * across
        value = problem.evaluate(points)
        inside = (value.h <= 0).all(axis=-1) & problem.domain.contains(points, 1e-9)
        level = np.log10(np.maximum(np.abs(value.f - optimum.value), 1e-12))
        levels = np.arange(np.floor(np.quantile(level, 0.02)), np.ceil(level.max()) + 1)
        self._plane.draw(corner, widths, level, levels, largest_constraint(value.h), ~inside)
        self.path.data = {"x": x, "y": y}
        self.ends.data = self._ends(x, y)

    @staticmethod
    def _ends(x: Array, y: Array) -> dict[str, list]:
        """Return the marks of the optimum, and of the ends of a path with these coordinates, (rows,) each."""
        return {
            "x": [0.0, x[0], x[-1]],
            "y": [0.0, y[0], y[-1]],
            "colour": [TARGET, EVENT, PALETTE[1]],
            "mark": ["diamond", "square", "circle"],
            "name": ["optimum", "start", "now"],
        }


def rectangle(x: Array, y: Array) -> tuple[Array, Array]:
    """Return corner and widths (2,) of what is seen of a plane: the points (rows,), the optimum at 0, and a margin.

    Its sides have always the same ratio, that of most frames: with scales that differ a step of rounding's size looks
    like a way across.
    """
    low = np.array([min(0.0, float(values.min())) for values in (x, y)])
    high = np.array([max(0.0, float(values.max())) for values in (x, y)])
    widths = (1.0 + 2.0 * _MARGIN) * np.maximum(high - low, 1e-9)
    widths = np.maximum(widths, widths[::-1] * np.array([_RATIO, 1.0 / _RATIO]))
    return 0.5 * (low + high - widths), widths
