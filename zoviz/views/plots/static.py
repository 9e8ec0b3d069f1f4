"""Static figures for a notebook or a script, with the same medians, bands and marks as the dashboard's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # noqa: F401 - registers the backend that the options below are for
import numpy as np
from bokeh.models import BasicTickFormatter, ColumnDataSource, HoverTool

from zoviz.core.registry import title_of
from zoviz.core.types import Array
from zoviz.runs.engine.columns import CALLS, GAP, OBJECTIVE
from zoviz.runs.engine.trace import Trace
from zoviz.runs.run_view import RunView
from zoviz.views.common.colours import DASHES, PALETTE, REFERENCE
from zoviz.views.common.log_axis import ZeroStrip, lane, log_ticker, strip_columns
from zoviz.views.plots.base import PlotView, every_plot
from zoviz.views.plots.event_marks import MARKS
from zoviz.views.plots.line_data import AXES, BANDS, LineData, Series, line_data, signed, strip_for, with_strips
from zoviz.views.plots.named_runs import Runs, named_runs
from zoviz.views.upstream.panel import bring_figures_styles

bring_figures_styles()


def convergence(
    runs: Runs, column: str = GAP, axis: str = CALLS, band: str = "quartiles", log_y: bool = True
) -> hv.Overlay:
    """Draw one column of the trace of one or several runs, with a band over replicas and a mark at every event.

    Parameters
    ----------
    runs : Run or StoredRun, sequence of them or mapping of str to them
        Runs that have begun, on one problem.
    column : str
        Column of the trace, e.g. ``gap``, ``best_gap``, ``violation``, ``stationarity``.
    axis : str
        ``calls``, ``iteration`` or ``seconds``.
    band : str
        ``quartiles``, ``range`` or ``none``, with the median; or ``std``, with the mean.
    log_y : bool
        Draw magnitudes on a logarithmic axis.
    """
    runs_by_name = named_runs(runs)
    for run in runs_by_name.values():
        columns = run.trace.snapshot().columns
        if column not in columns:
            raise ValueError(f"Expected one of the columns {sorted(columns)}, got {column!r}.")
    title, label, log_y = _words_of(column, columns, log_y)
    lines = {name: _components(column, run.trace[column]) for name, run in runs_by_name.items()}
    return _overlay(runs_by_name, lines, title, label, axis, band, log_y)


def course(
    trace: Trace, column: str = "", axis: str = CALLS, band: str = "quartiles", log_y: bool = True
) -> hv.Overlay:
    """Draw one column of a trace by itself, as a ``Result`` has it, whose run is not at hand: without marks.

    Parameters
    ----------
    trace : Trace
    column : str
        By default the gap, or the objective where the optimum is unknown.
    axis, band, log_y
        As of ``convergence``.
    """
    snapshot = trace.snapshot()
    column = column or (GAP if GAP in snapshot.columns else OBJECTIVE)
    title, label, log_y = _words_of(column, snapshot.columns, log_y)
    lines = _components(column, trace[column])
    data = line_data(snapshot, lines, axis, band, False, log_y)
    strip = strip_for([(data, lines)]) if log_y else None
    parts = _drawn(_placed(data, lines, strip), lines, title, PALETTE[0], several=False)
    return _dressed(hv.Overlay(parts), title, AXES[axis], signed(label, log_y), log_y, strip)


def plot(view: PlotView, runs: Runs, axis: str = CALLS, band: str = "quartiles", log_y: bool = True) -> hv.Overlay:
    """Draw all lines of one of the dashboard's plots; see ``convergence`` for the other parameters.

    Parameters
    ----------
    view : PlotView
        E.g. ``zoviz.views.plots.catalogue.variance.Variance()``.
    """
    runs_by_name = named_runs(runs)
    lines = {name: view.lines(run.trace.snapshot().columns) for name, run in runs_by_name.items()}
    columns = next(iter(runs_by_name.values())).trace.snapshot().columns
    title, label = view.heading(columns), view.y_label(columns) or view.title
    return _overlay(runs_by_name, lines, title, label, axis, band, log_y and view.can_log)


def _words_of(column: str, columns: Mapping[str, Array], log_y: bool) -> tuple[str, str, bool]:
    """Return title, label and scale of the dashboard's plot that draws a column; its name where none does."""
    for view in every_plot():
        if column in [one.column for one in view.series(columns)]:
            return view.heading(columns), view.y_label(columns) or column, log_y and view.can_log
    return column, column, log_y


def _components(column: str, values: Array) -> list[Series]:
    """Return one line, or one for each component of a vector."""
    if values.ndim < 3:
        return [Series(column, "", zeros=True)]
    return [Series(column, f"{column} {j + 1}", index=j, zeros=True) for j in range(values.shape[-1])]


def _overlay(
    runs_by_name: dict[str, RunView],
    lines: dict[str, list[Series]],
    title: str,
    label: str,
    axis: str,
    band: str,
    log_y: bool,
) -> hv.Overlay:
    if axis not in AXES or band not in BANDS.values():
        raise ValueError(
            f"Expected an axis of {sorted(AXES)} and a band of {sorted(BANDS.values())}, got {axis!r} and {band!r}."
        )
    parts: list[hv.Element] = []
    marks: list[hv.Element] = []
    drawn = {}
    for at, (name, run) in enumerate(runs_by_name.items()):
        if axis not in run.trace.snapshot().columns:
            raise ValueError(f"Expected runs with {axis}, got {name!r} without noise: choose another axis.")
        drawn[name] = line_data(run.trace.snapshot(), lines[name], axis, band, False, log_y, lane(at))
    strip = strip_for([(data, lines[name]) for name, data in drawn.items()]) if log_y else None
    for at, (name, run) in enumerate(runs_by_name.items()):
        colour = PALETTE[at % len(PALETTE)]
        values = _placed(drawn[name], lines[name], strip)
        parts += _drawn(values, lines[name], name, colour, several=len(runs_by_name) > 1)
        marks += _marks(run, axis, values["x"], values[lines[name][0].key]) if lines[name] else []
    parts.sort(key=lambda one: not isinstance(one, hv.Area))  # bands lie behind all lines
    heading = f"{title}: {title_of(next(iter(runs_by_name.values())).problem)}"
    return _dressed(hv.Overlay([*parts, *marks]), heading, AXES[axis], signed(label, log_y), log_y, strip)


def _placed(data: LineData, lines: list[Series], strip: ZeroStrip | None) -> dict[str, Array]:
    """Return the numbers of lines by name, with zeros in their strip."""
    return with_strips(data, lines, {one.key: strip for one in lines}).columns()


def _drawn(values: dict[str, Array], lines: list[Series], name: str, colour: str, several: bool) -> list[hv.Element]:
    """Return a band, where there is one, and a line for each of a run's series."""
    parts: list[hv.Element] = []
    for rank, one in enumerate(lines):
        ink = REFERENCE if one.muted else colour
        legend = " · ".join(part for part in (name if several else "", one.label) if part) or name
        low, high = values[f"{one.key}.low"], values[f"{one.key}.high"]
        if np.isfinite(low).any():
            area = hv.Area((values["x"], low, high), "x", ["low", "high"], label=legend)
            parts.append(area.opts(color=ink, fill_alpha=0.18, line_alpha=0, backend="bokeh"))
        curve = hv.Curve((values["x"], values[one.key]), "x", "y", label=legend)
        parts.append(curve.opts(color=ink, line_width=2, line_dash=DASHES[rank % len(DASHES)], backend="bokeh"))
        if one.zeros and np.isfinite(values[f"{one.key}.zero"]).any():
            zeros = hv.Curve((values["x"], values[f"{one.key}.zero"]), "x", "y", label=legend)
            parts.append(zeros.opts(color=ink, line_width=3, backend="bokeh"))
    return parts


def _dressed(
    figure: hv.Overlay, title: str, x_label: str, y_label: str, log_y: bool, strip: ZeroStrip | None
) -> hv.Overlay:
    """Return a figure with its axes, and the strip of zeros below the vertical one."""
    source = ColumnDataSource(strip_columns(strip))
    if strip is not None and not strip.empty:
        look = {"color": REFERENCE, "line_dash": "dashed", "line_width": 1, "backend": "bokeh"}
        figure = hv.Overlay([*figure, hv.HLine(strip.top).opts(**look)])

    def name_zero(plot: Any, element: hv.Element) -> None:
        plot.handles["yaxis"].major_label_overrides = {} if strip is None else {strip.tick: "0"}

    return figure.opts(
        title=title,
        xlabel=x_label,
        ylabel=y_label,
        logy=log_y,
        xformatter=BasicTickFormatter(use_scientific=False),
        yticks=log_ticker(source) if log_y else None,
        hooks=[name_zero],
        width=760,
        height=380,
        show_grid=True,
        legend_position="right",
        fontscale=1.1,
        backend="bokeh",
    )


def _marks(run: RunView, axis: str, x: Array, y: Array) -> list[hv.Element]:
    """Return a dot on the line for each of the dashboard's marks, with a text that tells what happened."""
    out: list[hv.Element] = []
    for kind in MARKS.values():
        marks, colour, marker = kind.find(run, axis), kind.colour, kind.marker
        if marks["x"]:
            at = np.interp(marks["x"], x, y)
            dots = hv.Scatter((marks["x"], at, marks["text"]), "x", ["y", "text"])
            hover = HoverTool(tooltips="@text{safe}")
            look = {"color": colour, "marker": marker, "size": kind.size, "line_color": "white", "tools": [hover]}
            out += [hv.VLines(marks["x"]).opts(color=colour, line_dash="dashed", line_width=1, backend="bokeh")]
            out += [dots.opts(**look, backend="bokeh")]
    return out
