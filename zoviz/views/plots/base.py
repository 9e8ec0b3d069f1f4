"""The base class of plots: the lines that a plot draws of a run, and a figure that takes runs in and out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import param
from bokeh.events import DoubleTap
from bokeh.models import ColumnDataSource, DataRange1d, HoverTool, LinearScale, Range1d, Scatter, VArea
from bokeh.models import Line as LineGlyph
from bokeh.models.annotations import Title
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.runs.engine.trace import Snapshot
from zoviz.runs.references import Reference
from zoviz.views.common.colours import REFERENCE
from zoviz.views.common.figure_frame import HEIGHT
from zoviz.views.plots.line_data import (
    AXES,
    LineData,
    Series,
    ZeroStrip,
    axis_values,
    beyond,
    has_negatives,
    has_zeros,
    is_known,
    out_of_range,
    signed,
    values_drawn,
    vanishes,
)
from zoviz.views.plots.line_labels import LineLabels
from zoviz.views.plots.packed_source import PackedSource
from zoviz.views.plots.shared_models import SharedModels, strip_columns

ZERO = "   0 throughout"
"""In the title of a plot that has only zeros, for which a logarithmic axis has no place."""
THIN = 0.5
"""Width of a run's further lines, as a share of its first line's."""
_MARK = "@text{safe}<br><i>Double click: go back to before it</i>"
"""What is said of a mark where the pointer is on it."""
Comparison = Literal["any", "one problem", "several problems"]
"""Which runs a plot is for: values of different problems share few axes."""


class RunStyle(NamedTuple):
    """The name, colour and line width with which one run is drawn."""

    name: str
    colour: str
    width: float


class DrawnLine(NamedTuple):
    """A line of a run on a figure: the band over the replicas around it, and where it is 0 on a logarithmic axis."""

    series: Series
    line: GlyphRenderer
    band: GlyphRenderer
    zeros: tuple[GlyphRenderer, ...] = ()

    @property
    def renderers(self) -> tuple[GlyphRenderer, ...]:
        """All that is drawn of it, from back to front."""
        return (self.band, self.line, *self.zeros)


class PlotView(param.Parameterized):
    """A plot: lines of the live run and of other runs, marks where a parameter changed or a target was hit."""

    __abstract = True

    title: ClassVar[str] = ""
    order: ClassVar[int] = 100
    can_log: ClassVar[bool] = True
    height: ClassVar[int] = HEIGHT
    special: ClassVar[bool] = False
    """Whether it stays off the page until a run has lines on it; the others are there from the beginning."""
    first: ClassVar[bool] = False
    """Whether it is the first plot of some run, on which marks say what was changed."""
    comparison: ClassVar[Comparison] = "any"
    zero_words: ClassVar[str] = "0"
    """What 0 means on a logarithmic axis, where a line has ``zeros``."""

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the lines of a trace with these columns on this plot; empty where it has none."""
        raise NotImplementedError(f"{type(self).__name__} must define series(columns).")

    def lines(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return ``series`` as they are drawn: with their signs where the axis is never logarithmic."""
        return [one if self.can_log else replace(one, linear=True) for one in self.series(columns)]

    def words_for_zero(self, lines: Sequence[tuple[Snapshot, Series]]) -> str:
        """Return what 0 means on a logarithmic axis with these lines, where the best may be below 0, too."""
        below = any(one.best and has_negatives(snapshot, one) for snapshot, one in lines)
        return f"{self.zero_words} or below" if below else self.zero_words

    def remark(self, columns: Mapping[str, Array]) -> str:
        """Return what a reader must know of a trace's lines on this plot, in 35 characters; by default nothing."""
        return ""

    def heading(self, columns: Mapping[str, Array]) -> str:
        """Return what a trace with these columns shows on this plot; by default the title."""
        return self.title

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """Return the label of the vertical axis, with its unit; part of the title."""
        return ""

    def build(self, shared: SharedModels) -> None:
        """Replace the figure by one with other shared models; it is made when it is first needed."""
        self._shared, self._figure = shared, None
        self._lines: dict[str, list[DrawnLine]] = {}
        self._titles: dict[str, str] = {}
        self._printed: dict[Reference, GlyphRenderer] = {}  # the lines of a paper's numbers
        self._heading, self._note, self._remark = self.title, "", ""
        self.renderers: list[GlyphRenderer] = []
        self._measured: list[GlyphRenderer] = []
        self._strip: ZeroStrip | None = None
        self._strip_source: ColumnDataSource | None = None
        self.labels: LineLabels | None = None

    @property
    def has_figure(self) -> bool:
        """Whether the plot's figure has been made."""
        return self._figure is not None

    @property
    def figure(self) -> Any:
        """The Bokeh figure of this plot, made when it is first needed; ``arrange`` puts lines on it."""
        if self._figure is None:
            self._figure = self._make()
        return self._figure

    def _make(self) -> Any:
        shared, scales = self._shared, self._shared.scales
        log_y = scales.log_y and self.can_log
        fig: Any = figure(
            title=self.title,
            height=self.height,
            sizing_mode="stretch_width",
            x_range=shared.x_range,
            y_range=DataRange1d(only_visible=True, range_padding=0.06, syncable=False),
            x_axis_type="log" if scales.log_x else "linear",
            y_axis_type="log" if log_y else "linear",
            x_axis_label=AXES[scales.axis],
            tools="pan,box_zoom,xwheel_zoom,reset",
            toolbar_location="above",
            active_scroll=None,
            min_border_left=44,
            min_border_right=10,
            name=f"plot-{type(self).__name__}",
        )
        fig.add_tools(*shared.actions)
        fig.toolbar.autohide, fig.toolbar.logo = True, None
        x_axis, y_axis = fig.xaxis[0], fig.yaxis[0]
        fig.xgrid[0].grid_line_color = None
        if not scales.log_x:
            x_axis.formatter = shared.formatter
            x_axis.ticker = fig.xgrid[0].ticker = shared.x_ticker
        y_axis.formatter = shared.log_formatter if log_y else shared.formatter
        if log_y:
            y_axis.ticker = fig.ygrid[0].ticker = shared.log_ticker
        self._fit_out(fig)
        fig.on_event(DoubleTap, shared.pick)
        # What the theme and the layout change in the browser is of no use here: hundreds of messages at each opening.
        for model in (fig, fig.title, fig.toolbar, x_axis, y_axis, self._notes, *fig.grid):
            model.syncable = False
        return fig

    def relabel(self) -> None:
        """Name the horizontal axis after what the shared scales say that lines are drawn against."""
        if self._figure is not None:
            self._figure.xaxis[0].axis_label = AXES[self._shared.scales.axis]

    def _fit_out(self, fig: Any) -> None:
        """Add the line of notes, the lines' labels, the marks and the placeholder."""
        small: dict[str, Any] = {"text_font_size": "11px", "text_font_style": "normal", "standoff": 2}
        self._notes = Title(text="", name=f"notes-{type(self).__name__}", **small)
        fig.add_layout(self._notes, "below")
        # The marks' handles stand at the top of the frame, and never stretch the data's ranges.
        fig.extra_y_ranges, fig.extra_y_scales = {"frame": Range1d(start=0, end=1)}, {"frame": LinearScale()}
        heads: list[Any] = self._shared.mark_heads("frame")
        fig.add_tools(HoverTool(renderers=heads, tooltips=_MARK, visible=False))
        words = self._shared.mark_words("frame", self.first)
        area = self._shared.reading_area("frame")
        fig.add_tools(self._shared.line_reader(area), self._shared.crosshair())
        self._placeholder = self._shared.placeholder()
        self._fixed = [area, *self._shared.mark_lines(), *heads, *words, self._placeholder]

    def add(self, key: str, style: RunStyle, stream: PackedSource, columns: Mapping[str, Array]) -> None:
        """Make a run's lines and bands, drawn from its data source; ``arrange`` puts them on the figure."""
        source, lines = stream.source, []
        for one in self.lines(columns):
            colour = REFERENCE if one.muted else style.colour
            area = VArea(x="x", y1=f"{one.key}.low", y2=f"{one.key}.high", fill_color=colour, fill_alpha=0.18)
            path = LineGlyph(x="x", y=one.key, line_color=colour, line_width=style.width)
            band, line = (self._shared.renderer(source, glyph) for glyph in (area, path))
            logarithmic = self._shared.scales.log_y and not one.linear
            lines.append(DrawnLine(one, line, band, self._zeros(one, colour, stream) if logarithmic else ()))
        self._lines[key] = lines
        label = signed(self.y_label(columns), self._shared.scales.log_y)
        self._titles[key] = f"{self.heading(columns)}   {label}".rstrip()

    def _zeros(self, one: Series, colour: str, stream: PackedSource) -> tuple[GlyphRenderer, ...]:
        """Return what is drawn of a line with ``zeros`` where a point has no neighbour, and where it is 0."""
        if not one.zeros:
            return ()
        point = Scatter(x="x", y=f"{one.key}.lone", size=5, line_color=colour, fill_color=colour)
        zero = LineGlyph(x="x", y=f"{one.key}.zero", line_color=colour, line_width=3)
        return self._shared.renderer(stream.source, point), self._shared.renderer(stream.source, zero)

    def _fit_strip(self, fig: Any) -> None:
        """Add the strip of zeros below the axis, which is not to be seen until there are some."""
        self._strip_source, ticker, parts = self._shared.zero_strip("frame")
        fig.yaxis[0].ticker = fig.ygrid[0].ticker = ticker
        self._fix(fig, parts)

    def _fix(self, fig: Any, parts: Sequence[GlyphRenderer]) -> None:
        """Have parts on the figure from now on that stand in its frame, whatever the horizontal range."""
        if not fig.extra_x_ranges:
            fig.extra_x_ranges, fig.extra_x_scales = {"frame": Range1d(start=0, end=1)}, {"frame": LinearScale()}
        self._fixed = [*parts, *self._fixed]

    @property
    def keys_with_zeros(self) -> set[str]:
        """The keys of the lines that share a strip of zeros; empty where no line has zeros, or the axis is linear."""
        if self._strip_source is None:
            return set()
        return {one.series.key for lines in self._lines.values() for one in lines if not one.series.linear}

    def show_strip(self, strip: ZeroStrip | None) -> None:
        """Show the strip in which zeros stand, or none."""
        if self._strip_source is None or strip == self._strip:
            return
        self._strip = strip
        self._set_range()
        self._strip_source.data = strip_columns(strip)
        self.figure.yaxis[0].major_label_overrides = {} if strip is None else {strip.tick: "0"}

    def _set_range(self) -> None:
        """Have the vertical range follow what was measured; where that is 0 throughout, it has the strip within it."""
        alone = self._strip is not None and self._strip.empty
        self.figure.y_range.renderers = [*self._measured, *[self._placeholder] * alone]

    def fits(self, problems: int) -> bool:
        """Return whether the plot is for runs of so many problems."""
        return self.comparison == "any" or (self.comparison == "several problems") == (problems > 1)

    def needed(self, keys: Collection[str], problems: int = 1) -> bool:
        """Return whether the plot has a line of one of these runs that have taken a step, and belongs on the page."""
        if not self.fits(problems):
            return False
        return any(self._lines.get(key) for key in keys) if keys else not self.special

    def has_values(self, snapshots: Sequence[Snapshot]) -> bool:
        """Return whether a line of these traces has a value anywhere; a plot of none is left out."""
        return any(is_known(snapshot, one) for snapshot in snapshots for one in self.lines(snapshot.columns))

    def remove(self, key: str) -> None:
        """Remove a run's lines from the plot."""
        self._lines.pop(key, None)

    def arrange(self, styles: Mapping[str, RunStyle], references: Sequence[Reference] = ()) -> None:
        """Show the lines of these runs and no others, and of a paper's numbers those that belong here.

        Only what differs is sent, and all lines at once: a browser lays a figure out anew for every message about its
        renderers.
        """
        runs = [(style, self._lines[key]) for key, style in styles.items() if self._lines.get(key)]
        if not runs and self.special and not self.has_figure:
            return
        fig, alone = self.figure, len(runs) == 1
        if self._strip_source is None and any(one.zeros for _, lines in runs for one in lines):
            self._fit_strip(fig)
        if self.labels is None and any(len(lines) > 1 for _, lines in runs):
            self.labels = LineLabels()
            self._fix(fig, [self._shared.line_labels(self.labels.source, "frame")])
        for style, lines in runs:
            for one in lines:
                # The components of one column are alike; further columns are the thin lines.
                width = style.width if one.series.column == lines[0].series.column else THIN * style.width
                name = style.name if alone and len(lines) == 1 else f"{style.name}, {one.series.label}"
                one.line.update(name=name)
                one.line.glyph.update(line_width=width)
        lines_shown = [one for _, lines in runs for one in lines]
        titles = dict.fromkeys(self._titles[key] for key in styles if self._lines.get(key))
        self._heading = "; ".join(titles) or self.title
        self._entitle()
        self.renderers = [part for one in lines_shown for part in (one.band, one.line)] or [self._placeholder]
        columns = {one.series.column for one in lines_shown}
        axis = self._shared.scales.axis
        due = [one for one in references if one.column in columns and one.axis in ("", axis)]
        self._printed = {one: self._printed.get(one) or self._shared.printed_line(one) for one in due}
        drawn = (part for one in lines_shown for part in one.renderers)
        fig.renderers = [*self._fixed, *drawn, *self._printed.values()]
        # References lie decades away at times: the range is that of what was measured, where there is anything.
        self._measured = [
            part for one in lines_shown if not one.series.muted for part in (one.band, one.line, *one.zeros[1:])
        ] or self.renderers
        self._set_range()
        if self.labels is not None and not runs:
            self.labels.show([], False)

    def label(self, key: str, data: LineData) -> None:
        """Write beside the ends of a run's lines what each is, where it has several; ``data`` has their numbers."""
        lines = self._lines.get(key, [])
        if self.labels is not None and lines:
            columns, log = data.columns(), self._shared.scales.log_y and self.can_log
            ends = [(one.series, columns[one.series.key], one.line.glyph.line_color) for one in lines]
            self.labels.show(ends if len(lines) > 1 else [], log)

    def caption(self, snapshots: Sequence[Snapshot]) -> None:
        """Say above and below the plot what the axis cannot show.

        All is 0; what a line at the bottom means; a remark; which references are out of range.
        """
        if not self.has_figure:
            return
        lines = [(snapshot, one) for snapshot in snapshots for one in self.lines(snapshot.columns)]
        notes = []
        if self._shared.scales.log_y and self.can_log:
            if lines and all(vanishes(*line) for line in lines):
                notes.append(ZERO)
            elif any(has_zeros(*line) for line in lines):
                notes.append(f"  0: {self.words_for_zero(lines)}")
        self._note = "".join(notes)
        self._remark = self.remark(snapshots[0].columns) if len(snapshots) == 1 else ""
        self._entitle()
        log_y = self._shared.scales.log_y and self.can_log
        notes = [f"{label} {place}" for label, place in out_of_range(lines, log_y).items()]
        notes += [f"{label} {place}".rstrip() for label, place in self._printed_places(lines, log_y).items()]
        text = " · ".join(notes)
        if self._notes.text != text:
            self._notes.text = text

    def _printed_places(self, lines: Sequence[tuple[Snapshot, Series]], log_y: bool) -> dict[str, str]:
        """Return the labels of the paper's numbers, with where those are that are not in sight."""
        out = {}
        for one in self._printed:
            drawn = [line for line in lines if line[1].column == one.column]
            place = beyond(np.array(one.y), values_drawn(drawn), log_y, "↓↑") if one.y else ""
            if not place and one.x:
                xs = np.concatenate([np.empty(0), *(axis_values(snapshot, one.axis) for snapshot, _ in drawn)])
                place = beyond(np.array(one.x), xs, self._shared.scales.log_x, "←→")
            out[one.label] = place
        return out

    def _entitle(self) -> None:
        # Beside label and notes a remark would be cut off.
        text = f"{self.title}   {self._remark}" if self._remark else self._heading + self._note
        self.figure.title.text = text
