"""A picture of a problem in two variables: objective and feasible part where they have a formula, path and optimum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.plotting import figure

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.views.common.colours import EDGE, EVENT, PALE, PALETTE, TARGET
from zoviz.views.common.figure_frame import legend_above
from zoviz.views.common.level_lines import largest_constraint, level_lines
from zoviz.views.pictures.base import Picture

CELLS = 64
"""Cells of the image, in each direction."""
_LEVELS = np.linspace(0.05, 0.95, 10)
"""Shares of the plane below the contours: a valley and its steep sides have as many."""


class Background(NamedTuple):
    """Values on a rectangle of the plane: its lower corner and its widths (2,), f (rows, columns), largest h, outside.

    The last three are None where values would cost calls.
    """

    corner: Array
    widths: Array
    objective: Array | None = None
    worst: Array | None = None
    outside: Array | None = None


def rectangle_around(problem: Problem, points: Array) -> tuple[Array, Array]:
    """Return lower corner and widths (2,) of the part of the plane to be seen: the box, where it is finite.

    Where it is not, twice what the points (rows, 2) span, rounded up to a power of two, and placed on a grid of a
    quarter of it: a path that grows changes it rarely.
    """
    domain = problem.domain
    lower = domain.lower if isinstance(domain, Box) else np.full(2, -np.inf)
    upper = domain.upper if isinstance(domain, Box) else np.full(2, np.inf)
    low, high = points.min(axis=0), points.max(axis=0)
    size = 2.0 ** np.ceil(np.log2(2.0 * np.maximum(high - low, 1e-6)))
    corner = 0.25 * size * np.round((0.5 * (low + high) - 0.5 * size) / (0.25 * size))
    corner, end = np.maximum(corner, lower), np.minimum(corner + size, upper)
    whole = np.isfinite(lower) & np.isfinite(upper)
    return np.where(whole, lower, corner), np.where(whole, upper - lower, end - corner)


def background(problem: Problem, corner: Array, widths: Array) -> Background:
    """Return the values of an analytic problem on a rectangle; of another the rectangle alone."""
    if not problem.analytic:
        return Background(corner, widths)
    middles = (np.arange(CELLS) + 0.5) / CELLS
    points = corner + widths * np.stack(np.meshgrid(middles, middles), axis=-1)
    value = problem.evaluate(points)
    inside = (value.h <= 0.0).all(axis=-1) & problem.domain.contains(points, 1e-9)
    return Background(corner, widths, value.f, largest_constraint(value.h), np.where(inside, 0.0, 1.0))


class TwoVariables(Picture):
    """A picture of the plane: objective in blue with contours, infeasible points greyed, path and optimum.

    A person's own function is not evaluated for it: then there is the path alone.
    """

    title = "Objective, feasible part and path"
    general = True
    slow = True

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._known: Background | None = None

    @classmethod
    def draws(cls, subject: Problem | Solver) -> bool:
        """Return whether it is a problem with constraints in two variables."""
        return isinstance(subject, Problem) and subject.form == "constrained" and subject.domain.n == 2

    def build(self) -> figure:
        """Return the figure: empty images and contours, a path and its marks."""
        empty = np.full((CELLS, CELLS), np.nan)
        corner = {"x": [0.0], "y": [0.0], "w": [1.0], "h": [1.0]}
        self.image = ColumnDataSource({"value": [empty], "outside": [empty], **corner})
        self.contours = ColumnDataSource({"xs": [], "ys": []})
        self.boundary = ColumnDataSource({"xs": [], "ys": []})
        self.path = ColumnDataSource({"x": [], "y": []})
        self.ends = {name: ColumnDataSource({"x": [], "y": []}) for name in ("optimum", "start", "now")}
        fig = self.frame("x1", "x2")
        fig.grid.grid_line_color = None
        where = {"x": "x", "y": "y", "dw": "w", "dh": "h", "source": self.image, "level": "image"}
        self._mapper = LinearColorMapper(palette=PALE, low=0, high=1, nan_color="rgba(0,0,0,0)")
        fig.image("value", color_mapper=self._mapper, **where)
        grey = LinearColorMapper(
            palette=["rgba(0,0,0,0)", "rgba(90,90,90,0.45)"], low=0, high=1, nan_color="rgba(0,0,0,0)"
        )
        fig.image("outside", color_mapper=grey, **where)
        fig.multi_line("xs", "ys", source=self.contours, line_color="white", line_width=0.8, line_alpha=0.7)
        edge = {"line_color": EDGE, "line_width": 2, "line_dash": "dashed"}
        fig.multi_line("xs", "ys", source=self.boundary, legend_label="feasible inside", **edge)
        fig.line("x", "y", source=self.path, color=PALETTE[1], line_width=2)
        fig.scatter("x", "y", source=self.path, color=PALETTE[1], size=4)
        looks = {"optimum": (TARGET, "diamond"), "start": (EVENT, "square"), "now": (PALETTE[1], "circle")}
        for name, (colour, mark) in looks.items():
            look = {"color": colour, "marker": mark, "size": 11, "line_color": "white", "legend_label": name}
            fig.scatter("x", "y", source=self.ends[name], **look)
        legend_above(fig)
        fig.x_range.range_padding = fig.y_range.range_padding = 0.0
        return fig

    def prepare(self, problem: Any, path: Array) -> tuple[Background, Array, Array]:
        """Return background, path (rows, 2) and optimum, (1, 2) or none, (0, 2)."""
        optimum = problem.known_optimum
        best = np.empty((0, 2)) if optimum is None else optimum.point[None]
        best = best[np.isfinite(best).all(axis=1)]
        shown = path[np.isfinite(path).all(axis=1)]
        corner, widths = rectangle_around(problem, np.concatenate([shown, best]))
        known = self._known
        if known is None or not (np.array_equal(known.corner, corner) and np.array_equal(known.widths, widths)):
            known = background(problem, corner, widths)
        return known, shown, best

    def update(self, problem: Any, data: tuple[Background, Array, Array]) -> None:
        """Draw what ``prepare`` gave."""
        seen, path, best = data
        if seen is not self._known:
            self._known = seen
            self._draw_background(seen)
        self.path.data = {"x": path[:, 0], "y": path[:, 1]}
        for name, points in (("optimum", best), ("start", path[:1]), ("now", path[-1:])):
            self.ends[name].data = {"x": points[:, 0], "y": points[:, 1]}

    def _draw_background(self, seen: Background) -> None:
        corner = {name: [float(number)] for name, number in zip("xywh", [*seen.corner, *seen.widths], strict=True)}
        empty = np.full((CELLS, CELLS), np.nan)
        if seen.objective is None or seen.worst is None or not np.isfinite(seen.objective).any():
            self.image.data = {"value": [empty], "outside": [empty], **corner}
            self.contours.data = self.boundary.data = {"xs": [], "ys": []}
            return
        low, high = np.nanquantile(seen.objective, [0.0, 0.95])
        self._mapper.update(low=float(low), high=float(max(high, low + 1e-12)))
        self.image.data = {"value": [seen.objective], "outside": [seen.outside], **corner}
        columns, rows = seen.corner[:, None] + seen.widths[:, None] * (np.arange(CELLS) + 0.5) / CELLS
        xs, ys = level_lines(columns, rows, seen.objective, np.unique(np.nanquantile(seen.objective, _LEVELS)))
        self.contours.data = {"xs": xs, "ys": ys}
        xs, ys = level_lines(columns, rows, seen.worst, [0.0])
        self.boundary.data = {"xs": xs, "ys": ys}
