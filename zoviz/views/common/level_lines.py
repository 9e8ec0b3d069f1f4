"""Lines on which a function on a grid has given values, and the constraint that bounds the feasible part there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
from contourpy import LineType, contour_generator

from zoviz.core.types import Array


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
