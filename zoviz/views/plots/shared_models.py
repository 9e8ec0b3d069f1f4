"""Bokeh models that all figures of a board share, so that a page has them once, not once for each plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.events import DoubleTap
from bokeh.models import (
    AllIndices,
    BasicTicker,
    CDSView,
    ColumnDataSource,
    CustomJS,
    CustomJSTickFormatter,
    DataRange1d,
    LogTicker,
    LogTickFormatter,
    Scatter,
    VSpan,
)
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.common.theme_overrides import SHORT, override_theme, restore_callback
from zoviz.views.plots.event_marks import MARKS
from zoviz.views.plots.line_data import AxisScales


class SharedModels:
    """The Bokeh models that all figures of a board share, for one choice of scales.

    Parameters
    ----------
    scales : AxisScales
    marks : mapping of str to ColumnDataSource
        Data of each kind of mark.
    runs : ShownRuns
        Its ``picked`` becomes the place of every double click on a figure.
    """

    def __init__(self, scales: AxisScales, marks: Mapping[str, ColumnDataSource], runs: ShownRuns) -> None:
        self.scales, self._marks, self._runs_shown = scales, marks, runs
        # Not synced: every update moves the ranges, and a page would send each end back in a message of its own.
        self.x_range = DataRange1d(range_padding=0.01, only_visible=True, syncable=False)
        self.x_ticker = BasicTicker(desired_num_ticks=5)
        self.formatter = CustomJSTickFormatter(code=SHORT)
        self.log_ticker = LogTicker(desired_num_ticks=5, num_minor_ticks=0)
        self.log_formatter = LogTickFormatter(min_exponent=1)
        self._everything = AllIndices()
        self._callbacks: dict[str, CustomJS] = {}
        self._empty = ColumnDataSource({"x": [1.0, 10.0], "y": [0.1, 10.0]})
        self._nothing = Scatter(x="x", y="y", fill_alpha=0.0, line_alpha=0.0, hatch_alpha=0.0)
        self._spans: dict[str, Glyph] = {}
        self._heads: dict[str, Glyph] = {}
        for name in marks:
            _, colour, marker, dash, size = MARKS[name]
            self._spans[name] = VSpan(x="x", line_color=colour, line_dash=dash, line_width=1)
            self._heads[name] = Scatter(x="x", y="y", marker=marker, size=size, line_color=colour, fill_color=colour)

    def override_theme(self, model: HasProps, **values: Any) -> None:
        """Set properties and keep them against the page's theme, with one callback for all that have the same."""
        key = repr(values)
        if key not in self._callbacks:
            self._callbacks[key] = restore_callback(values)
        override_theme(model, self._callbacks[key], **values)

    def pick(self, event: DoubleTap) -> None:
        """Record the place of a double click on a plot."""
        if event.x is not None:
            self._runs_shown.picked = (self.scales.axis, float(event.x))

    def renderer(self, source: ColumnDataSource, glyph: Glyph, **options: Any) -> GlyphRenderer:
        """Return a glyph drawn from all of a source."""
        return GlyphRenderer(data_source=source, glyph=glyph, view=CDSView(filter=self._everything), **options)

    def placeholder(self) -> GlyphRenderer:
        """Return an invisible pair of points, which gives an empty plot its ranges."""
        return self.renderer(self._empty, self._nothing)

    def mark_lines(self) -> list[GlyphRenderer]:
        """Return the vertical lines at the marks, for one figure."""
        return [self.renderer(source, self._spans[name]) for name, source in self._marks.items()]

    def mark_heads(self, y_range_name: str) -> list[GlyphRenderer]:
        """Return the handles of the marks, which show their text when they are pointed at."""
        return [
            self.renderer(source, self._heads[name], y_range_name=y_range_name) for name, source in self._marks.items()
        ]
