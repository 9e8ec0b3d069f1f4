"""The base class of drawings of engineering designs: parts to scale, and a mark where each constraint acts."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource
from bokeh.models.annotations import Legend, LegendItem
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.engineering.base import DesignProblem
from zoviz.views.common.colours import REFERENCE, TARGET
from zoviz.views.pictures.base import Picture

ACTIVE = 5e-3
"""Share of the box, along the constraint's gradient, within which a design is at a limit."""
STEEL, WELD, INSIDE, SUPPORT = "#8f9aa8", "#b48a00", "#c9dff0", "#b9b4ae"
"""Colours of materials, on light and on dark pages."""
_ROUND = 49
"""Points of a circle or half of one; odd, so that it reaches its radius on all sides."""


class Part(NamedTuple):
    """A part of a drawing: the corners of its outline, (k,) each, and its colour."""

    x: Array
    y: Array
    colour: str = STEEL


class Limit(NamedTuple):
    """A constraint in a drawing: what it limits, in two or three words, and where it acts."""

    name: str
    x: float
    y: float


class State(StrEnum):
    """The state of a constraint at a design: satisfied, active or violated."""

    WITHIN = "within"
    AT = "at limit"
    BEYOND = "beyond"


_MARKS = {State.WITHIN: (REFERENCE, "circle"), State.AT: ("#d5691e", "diamond"), State.BEYOND: ("#b3261e", "square_x")}
"""Colour and shape of a mark, so that it is told by either."""


def states(problem: DesignProblem, x: Array) -> list[State]:
    r"""Return how a design x (n,) stands to each of the m constraints.

    Constraint j is at its limit where :math:`|h_j| \le 0.005 \sum_i |\partial_i h_j| (u_i - l_i)`, with the ends l and
    u of the box: to first order, where half a per cent of the box's widths takes the design there. No unit matters.
    """
    h, slopes = problem.evaluate(x).h, problem.gradient(x)
    if slopes is None:
        raise TypeError(f"Expected exact gradients, got none: {type(problem).__name__} must define gradient(x).")
    reach = ACTIVE * np.abs(slopes[1]) @ (problem.domain.upper - problem.domain.lower)
    return [
        State.BEYOND if over > near else State.AT if over >= -near else State.WITHIN
        for over, near in zip(h, reach, strict=True)
    ]


def rectangle(left: float, bottom: float, width: float, height: float, colour: str = STEEL) -> Part:
    """Return a rectangle."""
    return Part(left + width * np.array([0, 1, 1, 0.0]), bottom + height * np.array([0, 0, 1, 1.0]), colour)


def half_ring(x: float, inner: float, outer: float, side: int, colour: str = STEEL) -> Part:
    """Return half a ring around (x, 0), on its left for ``side`` -1 and on its right for 1; half a disc for inner 0."""
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _ROUND)
    across, up = np.cos(angle), np.sin(angle)
    xs = np.concatenate([outer * across, inner * across[::-1]])
    ys = np.concatenate([outer * up, inner * up[::-1]])
    return Part(x + side * xs, ys, colour)


def disc(x: float, y: float, radius: float, colour: str = STEEL) -> Part:
    """Return a disc."""
    angle = np.linspace(0.0, 2.0 * np.pi, _ROUND)[1:]
    return Part(x + radius * np.cos(angle), y + radius * np.sin(angle), colour)


class DesignPicture(Picture):
    """A drawing of a design to scale, the best known one dashed in green, and a numbered mark for each constraint.

    Marks tell by colour and shape whether the design is within a limit, at it, or beyond it. A subclass defines
    ``kind``, ``unit``, ``parts`` and ``limits``.
    """

    __abstract = True

    height = 390
    kind: ClassVar[type[DesignProblem]]
    unit: ClassVar[str] = "inches"
    """Of all lengths."""

    @classmethod
    def parts(cls, x: Array) -> Sequence[Part]:
        """Return the parts of a design x (n,), those behind first."""
        raise NotImplementedError(f"{cls.__name__} must define parts(x).")

    @classmethod
    def limits(cls, x: Array) -> Sequence[Limit]:
        """Return the m constraints on a design x (n,), in their order, each where it acts."""
        raise NotImplementedError(f"{cls.__name__} must define limits(x).")

    def build(self) -> figure:
        self.drawing = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        self.best = ColumnDataSource({"xs": [], "ys": []})
        self.marks = ColumnDataSource({name: [] for name in ("x", "y", "number", "colour", "shape")})
        fig = self.frame(self.unit, self.unit, match_aspect=True)
        fig.grid.grid_line_color = None
        line = {"line_color": "#5b6470", "line_width": 1}
        fig.patches("xs", "ys", fill_color="colour", source=self.drawing, **line)
        fig.multi_line("xs", "ys", line_color=TARGET, line_width=1.5, line_dash="dashed", source=self.best)
        look = {"line_color": "white", "size": 15, "source": self.marks}
        marks = fig.scatter("x", "y", marker="shape", fill_color="colour", **look)
        middle = {"text_align": "center", "text_baseline": "middle", "source": self.marks}
        small = {"text_color": "white", "text_font_size": "10px", "text_font_style": "bold"}
        fig.text("x", "y", text="number", **small, **middle)
        count = len(self.limits(np.array(self.kind.lower)))
        self.words = [LegendItem(label="", renderers=[marks], index=j) for j in range(count)]
        legend = Legend(items=self.words)  # in one column: two are wider than the picture
        legend.update(padding=0, margin=2, spacing=0, label_standoff=2)
        legend.update(glyph_width=18, glyph_height=16)
        fig.add_layout(legend, "below")
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw the newest design of the path (rows, n), in the units of the problem."""
        x = path[-1]
        parts, outlines = self.parts(x), self.parts(problem.known_optimum.point)
        self.drawing.data = {
            "xs": [part.x for part in parts],
            "ys": [part.y for part in parts],
            "colour": [part.colour for part in parts],
        }
        self.best.data = {
            "xs": [np.append(part.x, part.x[0]) for part in outlines],
            "ys": [np.append(part.y, part.y[0]) for part in outlines],
        }
        limits, stands = self.limits(x), states(problem, x)
        self.marks.data = {
            "x": [limit.x for limit in limits],
            "y": [limit.y for limit in limits],
            "number": [str(j + 1) for j in range(len(limits))],
            "colour": [_MARKS[state][0] for state in stands],
            "shape": [_MARKS[state][1] for state in stands],
        }
        for j, (limit, item) in enumerate(zip(limits, self.words, strict=True)):
            words: Any = value(f"{j + 1} {limit.name}: {stands[j]}")
            if item.label != words:  # a change has the legend laid out anew
                item.label = words
