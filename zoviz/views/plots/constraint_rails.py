"""A strip for each constraint over the course of a run, coloured where it is violated and where it is active."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import BasicTicker, ColumnDataSource, CustomJSTickFormatter, HoverTool, LinearColorMapper, Range1d

from zoviz.core.threads.background_work import in_background
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.run import Run
from zoviz.views.common.figure_frame import EVERY, empty_figure
from zoviz.views.common.style import WIDE, batched_changes, update_changed
from zoviz.views.plots.board import Board
from zoviz.views.plots.line_data import axis_values
from zoviz.views.plots.shared_models import SharedModels

MOST = 400
"""Constraints that are drawn, the first ones: of more a strip would be thinner than a pixel."""
COLUMNS = 240
"""Columns of the image."""
ACTIVE = 1e-3
"""Slack, as a share of the largest |h| on the course, up to which a constraint counts as active."""
STRIP = 12
"""Height of a constraint's strip in pixels; of many together at most ``_HIGHEST``."""
_HIGHEST, _AROUND = 400, 28
"""Pixels of all strips together, at most, and of the title."""
_LONGEST = 20
"""Letters of a run's name above the strips: all of the title has room on the narrowest plot."""
_COLOURS = ("rgba(128,128,128,0.12)", "#5b93cf", "#c47f14")
"""Slack, active, violated: blue and amber are told apart by everybody, on light and on dark pages."""


def classes(h: Array, tolerance: float | Array = 0.0) -> Array:
    """Return the places in the palette of values of h (rows, m): 0 slack, 1 active, 2 violated; NaN unknown.

    Parameters
    ----------
    h : Array, shape (rows, m)
        Feasible where at most 0; each constraint is compared with its own largest magnitude.
    tolerance : float or Array, shape (m,)
        Up to which nothing is violated.
    """
    with np.errstate(all="ignore"):
        size = np.nanmax(np.abs(h), axis=0, initial=0.0)
        out = np.where(h >= -ACTIVE * size, 1.0, 0.0)
    # What rounding leaves of a constraint that holds with equality is no violation.
    out = np.where(h > np.maximum(1e-9 * size, tolerance), 2.0, out)
    return np.where(np.isfinite(h), out, np.nan)


def image(x: Array, h: Array, tolerance: float | Array = 0.0, log: bool = False) -> Array:
    """Return the classes (m, COLUMNS) of h (rows, m) at abscissae x (rows,), evenly over an axis."""
    places = (np.geomspace if log else np.linspace)(x[0], x[-1], COLUMNS)
    rows = np.searchsorted(x, places, side="right") - 1
    return np.asarray(classes(h, tolerance)[rows.clip(0)].T)


class ConstraintRails(pn.viewable.Viewer):
    """The constraints' strips of the first replica, for a problem by formula; hidden for others.

    Parameters
    ----------
    board : Board
        Of the plots, whose horizontal axis it has.

    Notes
    -----
    The constraints are evaluated along the path that the run keeps, off the books, by a thread.
    """

    def __init__(self, board: Board, **params: Any) -> None:
        super().__init__(**params)
        self._board = board
        self._drawn_on: tuple[str, SharedModels | None] = ("", None)
        self.image = ColumnDataSource({"value": [np.full((1, 1), np.nan)], "x": [0.0], "w": [1.0], "h": [1.0]})
        self._column = pn.Column(visible=False, **WIDE)
        self._figure: Any = None
        self._run: Run | None = None
        self._problem: Problem | None = None
        self._known: dict[float, Array] = {}
        self._work: Future[dict[float, Array]] | None = None
        self._refreshes, self._name = 0, ""

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def visible(self) -> bool:
        """Whether the card is on the page."""
        return bool(self._column.visible)

    def update(self, run: Run | None, name: str = "") -> None:
        """Draw what is new of a run by its name; called with the document's lock at every refresh."""
        if run is not self._run:
            self._begin(run)
        if name != self._name:
            self._name = name
            self._entitle()
        self._refreshes += 1
        if self.visible and self._drawn_on != (self._board.axis, self._board.shared):
            self._draw()
        if self._work is not None and self._work.done():
            self._known, self._work = self._work.result(), None
            self._draw()
        if run is None or self._problem is None or self._work is not None or (run.active and self._refreshes % EVERY):
            return
        columns = run.path.snapshot().columns
        if "x" not in columns or columns["x"].shape[1:] != (self._problem.domain.n,):
            return
        iterations, path = columns[ITERATION], columns["x"]
        if len(iterations) and iterations[-1] not in self._known:
            problem, known = self._problem, self._known
            path = path if run.units is None else run.units.point(path)  # which the run keeps as its solver sees it
            self._work = in_background(lambda: _evaluated(problem, iterations, path, known))

    def _begin(self, run: Run | None) -> None:
        self._run, self._problem, self._known, self._work, self._refreshes = run, None, {}, None, 0
        problem = None if run is None or run.initial is None else run.initial.problem
        if problem is not None and problem.analytic and problem.form == "constrained" and 0 < problem.m <= MOST:
            self._problem = problem.clone()
        update_changed(self._column, visible=False)

    def _draw(self) -> None:
        axis, shared, log = self._board.axis, self._board.shared, self._board.shared.scales.log_x
        iterations, h = np.array(list(self._known)), np.array(list(self._known.values()))
        columns = {} if self._run is None else self._run.trace.snapshot().columns
        if self._run is None or axis not in columns or len(iterations) < 2:
            return
        x = np.interp(iterations, columns[ITERATION], axis_values(self._run.trace.snapshot(), axis))
        x, h = (x[x > 0.0], h[x > 0.0]) if log else (x, h)
        if len(x) < 2:
            return
        strips = image(x, h, self._run.tolerances, log)
        anew = self._figure is None or self._drawn_on[1] is not shared
        with batched_changes(pn.state.curdoc if anew else None):
            if anew:
                self._figure = self._make(shared)
                self._column[:] = [pn.pane.Bokeh(self._figure, **WIDE)]
            self._drawn_on = (axis, shared)
            self.image.data = {"value": [strips], "x": [x[0]], "w": [x[-1] - x[0]], "h": [float(len(strips))]}
            self._figure.y_range.update(start=len(strips) + 0.5, end=0.5)
            self._figure.height = _AROUND + min(STRIP * len(strips), _HIGHEST)
            self._entitle()
        update_changed(self._column, visible=True)

    def _entitle(self) -> None:
        if self._figure is not None:
            name = self._name if len(self._name) <= _LONGEST else f"{self._name[: _LONGEST - 1]}…"
            self._figure.title.text = f"{name or 'Constraints'}: blue active, amber violated"

    def _make(self, shared: SharedModels) -> Any:
        scale = "log" if shared.scales.log_x else "linear"
        look: dict[str, Any] = {
            "x_range": shared.x_range,
            "y_range": Range1d(start=1.5, end=0.5),
            "min_border_left": 44,
            "min_border_right": 10,
            "x_axis_type": scale,
        }
        fig = empty_figure("", "plot-ConstraintRails", "", "", **look)
        fig.grid.grid_line_color = None
        fig.xaxis.visible = False  # that of the plot above
        fig.yaxis[0].ticker = BasicTicker(min_interval=1, num_minor_ticks=0)
        fig.toolbar_location = None
        fig.title.update(text_font_size="11px", text_font_style="normal", standoff=2)
        palette = LinearColorMapper(
            palette=list(_COLOURS), low=-0.5, high=len(_COLOURS) - 0.5, nan_color="rgba(0,0,0,0)"
        )
        strips = fig.image("value", x="x", y=0.5, dw="w", dh="h", source=self.image, color_mapper=palette)
        fig.add_tools(
            HoverTool(renderers=[strips], tooltips="replica 1, h at $x{0,0}: $y{0}", visible=False), shared.crosshair
        )
        fig.yaxis[0].formatter = CustomJSTickFormatter(code="return 'h' + tick")
        return fig


def _evaluated(problem: Problem, iterations: Array, path: Array, known: dict[float, Array]) -> dict[float, Array]:
    """Return h (m,) by iteration along a path, evaluated where it is not known yet."""
    missing = np.array([iteration not in known for iteration in iterations])
    fresh = iter(problem.evaluate(path[missing]).h if missing.any() else ())
    return {
        float(iteration): next(fresh) if absent else known[float(iteration)]
        for iteration, absent in zip(iterations, missing, strict=True)
    }
