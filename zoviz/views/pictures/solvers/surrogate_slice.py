"""A picture of a Bayesian method's surrogate along a line: band, feasibility, acquisition, incumbent, next point."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import panel as pn
import param
from bokeh.models import ColumnDataSource, LinearAxis, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.runs.run import Run
from zoviz.solvers.bayesian.base import BayesianSolver, BayesianState
from zoviz.solvers.bayesian.model_slice import ModelSlice, model_slice
from zoviz.views.common.colours import EVENT, PALETTE, TARGET
from zoviz.views.common.figure_frame import legend_above
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.pictures.base import Picture

_DEPTH = 20.0
"""How far below its largest value an acquisition is drawn: a logarithm falls without end."""
_DEVIATIONS = 2.0
"""Half the band's width, in standard deviations."""


class Request(NamedTuple):
    """What a drawing is made of: a state, the largest h that are feasible, the variable, and f's level and size."""

    state: BayesianState
    tolerance: Array
    variable: int | None
    level: float
    size: float


def scaled(score: Array) -> Array:
    """Return an acquisition (q,) scaled to [0, 1] by its range, at most ``_DEPTH`` below the largest; NaN for none."""
    finite = score[np.isfinite(score)]
    if not finite.size:
        return np.full(len(score), np.nan)
    high = float(finite.max())
    low = max(float(finite.min()), high - _DEPTH)
    return np.clip((np.nan_to_num(score, nan=low, neginf=low) - low) / ((high - low) or 1.0), 0.0, 1.0)


class SurrogateSlice(Picture):
    """A picture of what the first replica's surrogate says of f along a line, and of what its method makes of that.

    The line runs through the incumbent and the next point, or through the incumbent along a variable: the first, where
    the incumbent is to be evaluated once more. The band is the mean of f with two standard deviations, noise left out;
    on the right axis stand the probability that all constraints hold, and the acquisition, scaled to its range. The
    title has the number of evaluations, and what the surrogate says of the incumbent.
    """

    title = "Surrogate"
    kind = BayesianSolver
    slow = True
    height = 320

    along = param.Integer(
        default=0,
        bounds=(0, None),
        label="Along: x",
        doc="Number of the variable that the line changes; 0: from the incumbent to the next point.",
    )

    def build(self) -> figure:
        names = ("x", "mean", "low", "high", "chance", "score")
        self.curves = ColumnDataSource({name: [] for name in names}, name="surrogate-curves")
        fig = self.frame("", "f")
        fig.extra_y_ranges = {"share": Range1d(start=0.0, end=1.05)}
        right = LinearAxis(y_range_name="share", axis_label="probability | acquisition, scaled")
        fig.add_layout(right, "right")
        line = {"source": self.curves, "line_width": 2}
        share = {"y_range_name": "share", **line}
        look = {"color": PALETTE[0], "fill_alpha": 0.18, "legend_label": "± 2 sd"}
        band = fig.varea("x", "low", "high", source=self.curves, **look)
        mean = fig.line("x", "mean", color=PALETTE[0], legend_label="mean of f", **line)
        fig.line("x", "chance", color=PALETTE[2], line_dash="dashed", legend_label="feasibility", **share)
        fig.line("x", "score", color=PALETTE[1], legend_label="acquisition", **share)
        fig.y_range.renderers = [band, mean]
        self.incumbent = Span(dimension="height", line_color=TARGET, line_width=2)
        self.following = Span(dimension="height", line_color=EVENT, line_width=2, line_dash="dotted")
        for span in (self.incumbent, self.following):
            span.visible = False
            fig.add_layout(span)
        fig.x_range.range_padding = 0.0
        fig.y_range.range_padding = 0.05
        legend_above(fig, 2, spacing=2)
        return fig

    def controls(self) -> pn.viewable.Viewable:
        return ParameterRow.in_row(self.param.along, 200)

    def data(self, run: Run) -> tuple[Hashable, Any] | None:
        """Return the state of a run; another one after each step, change of a parameter, and choice of a line."""
        if run.state is None:
            return None
        units = run.units
        level, size = (0.0, 1.0) if units is None else (units.level, units.f)
        tolerance = run.tolerances if units is None else run.tolerances / units.h
        variable = self.along - 1 if self.along else None
        key = run.progress.iteration, len(run.journal), self.along
        return key, Request(run.state, tolerance, variable, level, size)

    def prepare(self, subject: Any, data: Request) -> tuple[ModelSlice | None, float, float]:
        """Predict along the line: return a slice, None in the first design, and f's level and size."""
        return model_slice(subject, data.state, data.tolerance, data.variable), data.level, data.size

    def update(self, subject: Any, data: tuple[ModelSlice | None, float, float]) -> None:
        """Draw a slice; nothing but a word while the first design is being evaluated."""
        fig: Any = self.figure
        one, level, size = data
        self.incumbent.visible = self.following.visible = one is not None
        if one is None:
            self.curves.data = {name: [] for name in self.curves.data}
            fig.title.text = f"{self.title}: none yet, in the first design"
            return
        mean, deviation = level + size * one.mean, size * one.deviation
        self.curves.data = {
            "x": one.places,
            "mean": mean,
            "low": mean - _DEVIATIONS * deviation,
            "high": mean + _DEVIATIONS * deviation,
            "chance": one.chance,
            "score": scaled(one.score),
        }
        self.incumbent.location, self.following.location = one.incumbent, one.following
        at = int(np.argmin(np.abs(one.places - one.incumbent)))
        # A third of the page is narrow: what the two lines are stands below.
        fig.title.text = f"{self.title} of {one.evaluations}: f {mean[at]:.4g}, feasible {one.chance[at]:.2f}"
        if one.variable is None:
            fig.xaxis[0].axis_label = "0: incumbent, 1: next point"
        else:
            fig.xaxis[0].axis_label = f"x{one.variable + 1}, as a share; incumbent solid, next dotted"
