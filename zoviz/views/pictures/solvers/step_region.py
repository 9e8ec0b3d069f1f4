"""A picture of a solver's region around the iterate, with the points of its last batch, in two coordinates."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import panel as pn
import param
from bokeh.models import BasicTicker, ColumnDataSource, CustomJSTickFormatter
from bokeh.plotting import figure

from zoviz.core.types import Sketch
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.views.common.colours import EVENT, PALETTE, TARGET
from zoviz.views.common.figure_frame import SHORT, legend_above
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.pictures.base import Picture

# Displacements become so small that written out their labels would cover each other.
_DISPLACEMENT = f"if (tick && Math.abs(tick) < 1e-3) return (+tick.toPrecision(3)).toExponential(); {SHORT}"


class StepRegion(Picture):
    """A picture of the region of the next step, its centre and the last batch, in two variables, seen from the centre.

    Notes
    -----
    Displacements, since a region shrinks until tick labels of the variables themselves would all read the same.
    """

    title = "Region and last batch"
    height = 320

    horizontal = param.Integer(default=1, bounds=(1, None), label="Across: x", doc="Variable that runs across.")
    vertical = param.Integer(default=2, bounds=(1, None), label="Up: x", doc="Variable that runs upwards.")

    @classmethod
    def draws(cls, subject: Problem | Solver) -> bool:
        """Return whether the subject is a solver that has a sketch of its region."""
        return isinstance(subject, Solver) and subject.has_sketch

    def build(self) -> figure:
        self.region = ColumnDataSource({name: [] for name in ("left", "right", "bottom", "top")})
        self.points = ColumnDataSource({"x": [], "y": []}, name="step-region-points")
        self.centre = ColumnDataSource({"x": [], "y": []})
        fig = self.frame("", "")
        fig.quad(
            *("left", "right", "bottom", "top"),
            source=self.region,
            fill_color=PALETTE[0],
            fill_alpha=0.12,
            line_color=PALETTE[0],
            line_width=2,
            legend_label="region",
        )
        dots = {"source": self.points, "color": PALETTE[1], "size": 7, "fill_alpha": 0.6}
        fig.scatter("x", "y", legend_label="last batch", **dots)
        cross = {"source": self.centre, "marker": "cross", "size": 15, "line_width": 2, "color": TARGET}
        fig.scatter("x", "y", legend_label="centre", **cross)
        for axis, grid in ((fig.xaxis[0], fig.xgrid[0]), (fig.yaxis[0], fig.ygrid[0])):
            axis.formatter = CustomJSTickFormatter(code=_DISPLACEMENT)
            axis.ticker = grid.ticker = BasicTicker(desired_num_ticks=5)
        fig.grid.grid_line_color, fig.grid.grid_line_alpha = EVENT, 0.2
        fig.x_range.range_padding = fig.y_range.range_padding = 0.12
        legend_above(fig)
        return fig

    def controls(self) -> pn.viewable.Viewable:
        fields = (ParameterRow.in_row(one, 200) for one in (self.param.horizontal, self.param.vertical))
        return pn.FlexBox(*fields, margin=0)  # beside each other where the card has room for both

    def data(self, run: Run) -> tuple[Hashable, Any] | None:
        """Return the run's sketch; another one after each step, change of a parameter, and choice of variables."""
        progress = run.progress
        return (progress.iteration, len(run.journal), self.horizontal, self.vertical), run.sketch

    def update(self, subject: Any, data: Sketch | None) -> None:
        """Draw the region and the points; nothing for a solver that has none at the moment."""
        fig: Any = self.figure
        if data is None:
            self.region.data = {name: [] for name in self.region.data}
            self.points.data = self.centre.data = {"x": [], "y": []}
            fig.title.text = f"{self.title}: none in this stage"
            return
        n = len(data.centre)
        across, up = (min(number, n) - 1 for number in (self.horizontal, self.vertical))
        width, height = data.reach[across], data.reach[up]
        shifts = data.points - data.centre
        self.region.data = {"left": [-width], "right": [width], "bottom": [-height], "top": [height]}
        self.points.data = {"x": shifts[:, across], "y": shifts[:, up]}
        self.centre.data = {"x": [0.0], "y": [0.0]}
        count = len(shifts)
        fig.title.text = f"Last batch: {data.purpose}, {count} point{'s' * (count != 1)}"
        for axis, variable in ((fig.xaxis[0], across), (fig.yaxis[0], up)):
            axis.axis_label = f"x{variable + 1} − {data.centre[variable]:.6g}"
