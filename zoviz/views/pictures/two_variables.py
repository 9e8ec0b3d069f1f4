"""A picture of a problem in two variables: objective and feasible part where they have a formula, path and optimum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.views.common.colours import EVENT, PALETTE, TARGET
from zoviz.views.common.figure_frame import legend_above
from zoviz.views.common.plane import PlaneImage, largest_constraint, places
from zoviz.views.pictures.base import Picture

CELLS = 64
"""Cells of the image, in each direction."""
_LEVELS = np.linspace(0.0, 0.95, 11)
"""Shares of the plane below the contours: a valley and its steep sides have as many."""


class Background(NamedTuple):
    """A rectangle of the plane, its lower corner and its widths (2,), with f, the largest h, and what is infeasible.

    All three (rows, columns), or nothing where values would cost calls.
    """

    corner: Array
    widths: Array
    values: tuple[Array, Array, np.ndarray] | None = None


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
    """Return the values of an analytic problem on a rectangle, corner and widths (2,); of others it alone."""
    if not problem.analytic:
        return Background(corner, widths)
    points = np.stack(np.meshgrid(*places(corner, widths, (CELLS, CELLS))), axis=-1)
    value = problem.evaluate(points)
    inside = (value.h <= 0.0).all(axis=-1) & problem.domain.contains(points, 1e-9)
    if not np.isfinite(value.f).any():
        return Background(corner, widths)
    return Background(corner, widths, (value.f, largest_constraint(value.h), ~inside))


class TwoVariables(Picture):
    """A picture of the plane: objective in blue with contours, infeasible points greyed, path and optimum.

    A person's own function is not evaluated for it: then there is the path alone.
    """

    title = "Objective, feasible part and path"
    height = 330
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
        self.path = ColumnDataSource({"x": [], "y": []})
        self.ends = {name: ColumnDataSource({"x": [], "y": []}) for name in ("optimum", "start", "now")}
        fig = self.frame("x1", "x2")
        self._plane = PlaneImage(fig)
        self.image, self.contours, self.boundary = self._plane.image, self._plane.contours, self._plane.boundary
        fig.line("x", "y", source=self.path, color=PALETTE[1], line_width=2)
        fig.scatter("x", "y", source=self.path, color=PALETTE[1], size=4)
        looks = {"optimum": (TARGET, "diamond"), "start": (EVENT, "square"), "now": (PALETTE[1], "circle")}
        for name, (colour, mark) in looks.items():
            look = {"color": colour, "marker": mark, "size": 11, "line_color": "white", "legend_label": name}
            fig.scatter("x", "y", source=self.ends[name], **look)
        legend_above(fig, 2, spacing=2)
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
        seen, path, best = data
        if seen is not self._known:
            self._known = seen
            if seen.values is None:
                self._plane.clear(seen.corner, seen.widths)
            else:
                objective, worst, outside = seen.values
                levels = np.unique(np.nanquantile(objective, _LEVELS))
                self._plane.draw(seen.corner, seen.widths, objective, levels, worst, outside)
        self.path.data = {"x": path[:, 0], "y": path[:, 1]}
        for name, points in (("optimum", best), ("start", path[:1]), ("now", path[-1:])):
            self.ends[name].data = {"x": points[:, 0], "y": points[:, 1]}
