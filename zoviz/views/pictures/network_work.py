"""A picture of a tuned network's error against the work of its predictions, with the frontier."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.learning.network_tuning import NetworkTuning
from zoviz.runs.engine.columns import ITERATION, OBJECTIVE
from zoviz.runs.run import Run
from zoviz.views.common.colours import EVENT, PALETTE, TARGET
from zoviz.views.pictures.base import Picture


def frontier(work: Array, error: Array) -> tuple[Array, Array]:
    """Return the corners of the staircase under which no iterate lies, by rising work; (k,) each."""
    order = np.lexsort((error, work))
    least = np.minimum.accumulate(error[order])
    keep = np.concatenate([[True], least[1:] < least[:-1]])
    return work[order][keep], error[order][keep]


class NetworkWork(Picture):
    """A picture of all iterates by work and error: the frontier, the limit on the work, and the newest iterate."""

    title = "Validation error against multiply-adds"
    kind = NetworkTuning

    def build(self) -> figure:
        empty: dict[str, Any] = {"x": [], "y": []}
        self.points, self.edge, self.newest = (ColumnDataSource(dict(empty)) for _ in range(3))
        fig = self.frame("multiply-adds of a prediction", "objective", x_axis_type="log")
        fig.scatter("x", "y", source=self.points, color=PALETTE[0], size=5, fill_alpha=0.5, line_color=None)
        fig.step("x", "y", source=self.edge, mode="after", color=TARGET, line_width=2)
        fig.scatter("x", "y", source=self.newest, color=PALETTE[1], size=11, line_color="white")
        self.limit = Span(location=1.0, dimension="height", line_color=EVENT, line_dash="dashed", line_width=1)
        fig.add_layout(self.limit)
        return fig

    def data(self, run: Run) -> tuple[Hashable, Any] | None:
        """Return the points (rows, 11) of the path and the objectives (rows,) that the trace has of them."""
        path, trace = run.path.snapshot().columns, run.trace.snapshot().columns
        if "x" not in path or OBJECTIVE not in trace or not len(path["x"]):
            return None
        _, of_path, of_trace = np.intersect1d(path[ITERATION], trace[ITERATION], return_indices=True)
        if not len(of_path):
            return None
        return float(path[ITERATION][-1]), (path["x"][of_path], trace[OBJECTIVE][of_trace, 0])

    def update(self, problem: Any, data: tuple[Array, Array]) -> None:
        """Draw points (rows, 11) by their work and their objectives (rows,), the newest last."""
        path, error = data
        work = problem.work(path)
        x, y = frontier(work, error)
        self.points.data = {"x": work, "y": error}
        self.edge.data = {"x": x, "y": y}
        self.newest.data = {"x": work[-1:], "y": error[-1:]}
        self.limit.location = float(problem.limit)
        fig: Any = self.figure
        fig.title.text = f"{self.title}: {work[-1]:.0f} of {problem.limit:.0f} allowed, objective {error[-1]:.3g}"
