"""Numbers that a paper prints, as lines on the plots of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Reference(NamedTuple):
    """A number that a paper prints, as a line on the plot of a column of the trace.

    With ``y`` alone the line is horizontal, with ``x`` alone vertical; with both it goes through the points.

    Attributes
    ----------
    column : str
        Of the trace; the line stands on the plot that draws it.
    says : str
        What the number is, in a few words: "496 iterations".
    place : str
        Where the paper prints it: "Table 2".
    x, y : tuple of float
        One of either, or as many of both.
    axis : str
        What ``x`` counts, a column that plots can be drawn against; "" without ``x``.
    """

    column: str
    says: str
    place: str
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    axis: str = ""

    @property
    def label(self) -> str:
        """The entry of a legend."""
        return f"paper: {self.says} ({self.place})"


ORDER_POINTS = 25
"""Points of a line that shows an order, enough for it to look smooth on linear axes."""


def order(
    column: str, place: str, words: str, exponent: float, through: tuple[float, float], ends: Sequence[float], axis: str
) -> Reference:
    """Return the line of an order of growth that a paper prints without a factor, through a point.

    Parameters
    ----------
    column, place, axis
        As of ``Reference``.
    words : str
        The order: "T^(-1/3)".
    exponent : float
    through : tuple of float
        A point that was measured: the line says how the paper has it go on from there.
    ends : sequence of float
        The least and the largest x, (2,).
    """
    (x0, y0), (low, high) = through, ends
    xs = [low * (high / low) ** (i / (ORDER_POINTS - 1)) for i in range(ORDER_POINTS)]
    return Reference(column, f"order {words}", place, tuple(xs), tuple(y0 * (x / x0) ** exponent for x in xs), axis)
