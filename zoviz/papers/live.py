"""What a page needs to run a method of an experiment live, with the numbers that the paper prints as lines on plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS
from zoviz.solvers.base import Solver


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


class Live(NamedTuple):
    """A run that a page can begin: a method of an experiment as it was measured, for a person who watches.

    Attributes
    ----------
    title : str
        Method and instance in a few words.
    problem : Problem
    solver : Solver
    settings : mapping of str to object
        Replicas, seed, budgets and targets by the names that a page's form has: replicas, seed, iterations, calls,
        samples, seconds, gap, violation, stationarity, stop_at_targets. There is no budget but those that it names.
    parts : tuple of str
        The parts of the experiment that were measured so.
    references : tuple of Reference
    axis : str
        What the plots are drawn against at the beginning.
    log_x : bool
        Whether on a logarithmic axis.
    note : str
        What a reader must know: where it differs from what was measured, and how to read the paper's lines.
    """

    title: str
    problem: Problem
    solver: Solver
    settings: Mapping[str, Any]
    parts: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    axis: str = CALLS
    log_x: bool = False
    note: str = ""


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
