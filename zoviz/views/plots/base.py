"""The base class of plots: the lines that a plot draws of a run, and a figure that takes runs in and out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import param
from bokeh.core.validation import silence
from bokeh.core.validation.warnings import MISSING_RENDERERS
from bokeh.events import DoubleTap
from bokeh.models import ColumnDataSource, Scatter, VArea
from bokeh.models import Line as LineGlyph
from bokeh.models.annotations import Title
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.runs.engine.trace import Snapshot
from zoviz.runs.references import Reference
from zoviz.views.common.colours import REFERENCE
from zoviz.views.common.figure_frame import HEIGHT
from zoviz.views.common.log_axis import ZeroStrip, strip_columns
from zoviz.views.plots.line_data import (
    AXES,
    AxisSpan,
    LineData,
    Series,
    axis_values,
    beyond,
    has_negatives,
    has_zeros,
    is_known,
    out_of_range,
    signed,
    span_of,
    values_drawn,
    vanishes,
)
from zoviz.views.plots.line_labels import LineLabels, Path
from zoviz.views.plots.packed_source import PackedSource
from zoviz.views.plots.shared_models import FRAME, SharedModels, opening_range

silence(MISSING_RENDERERS)  # a plot has none until there is a run: nothing that a server's log should tell

ZERO = "   0 throughout"
"""In the title of a plot that has only zeros, for which a logarithmic axis has no place."""
THIN = 0.5
"""Width of a run's further lines, as a share of its first line's."""
BORDERS: dict[str, Any] = {"min_border_left": 44, "min_border_right": 10}
"""Of a figure, so that the frames of those in a column stand below each other."""
Comparison = Literal["any", "one problem", "several problems"]
"""Which runs a plot is for: values of different problems share few axes."""


class RunStyle(NamedTuple):
    """The name, colour and line width with which one run is drawn."""

    name: str
    colour: str
    width: float


@dataclass
class DrawnLine:
    """A line of a run on a figure, the band over the replicas around it, and further parts by the ends of their names.

    These are where it is 0 on a logarithmic axis, and points without a neighbour; made when there are some.
    """

    series: Series
    source: ColumnDataSource
    line: GlyphRenderer
    band: GlyphRenderer
    parts: dict[str, GlyphRenderer] = field(default_factory=dict)

    @property
    def renderers(self) -> tuple[GlyphRenderer, ...]:
        """All that is drawn of it, from back to front."""
        return (self.band, self.line, *self.parts.values())


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
    quantity: ClassVar[str] = ""
    """What stands on the vertical axis, with its unit."""
    measures: ClassVar[Sequence[Series]] = ()
    """The lines, each drawn where a trace has its column."""

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """Return the lines of a trace with these columns: by default those of ``measures`` whose column it has."""
        return [one for one in self.measures if one.column in columns]

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
        """Return the label of the vertical axis, part of the title; by default ``quantity``."""
        return self.quantity

    def build(self, shared: SharedModels) -> None:
        """Replace the figure by one with other shared models; it is made when it is first needed."""
        self._shared, self._figure = shared, None
        self._lines: dict[str, list[DrawnLine]] = {}
        self._titles: dict[str, str] = {}
        self._printed: dict[Reference, GlyphRenderer] = {}  # the lines of a paper's numbers
        self._heading, self._note, self._remark = self.title, "", ""
        self._shown: list[DrawnLine] = []
        self._area: list[GlyphRenderer] = []
        self._marks: dict[str, list[GlyphRenderer]] = {}
        self._strip: ZeroStrip | None = None
        self._strip_source: ColumnDataSource | None = None
        self._strip_parts: list[GlyphRenderer] = []
        self.labels: LineLabels | None = None
        self._label_parts: list[GlyphRenderer] = []

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
        """Return a figure with axes alone: what is for lines comes with the first of them."""
        shared, scales = self._shared, self._shared.scales
        log_y = scales.log_y and self.can_log
        fig: Any = figure(
            title=self.title,
            height=self.height,
            sizing_mode="stretch_width",
            x_range=shared.x_range,
            y_range=opening_range(0.1, 10.0, shared.sources.fit),
            x_axis_type="log" if scales.log_x else "linear",
            y_axis_type="log" if log_y else "linear",
            x_axis_label=AXES[scales.axis],
            tools="",
            toolbar_location=None,
            context_menu=None,
            name=f"plot-{type(self).__name__}",
            **BORDERS,
        )
        x_axis, y_axis = fig.xaxis[0], fig.yaxis[0]
        fig.x_scale, fig.y_scale = shared.x_scale, shared.y_scales[log_y]
        fig.center.remove(fig.xgrid[0])
        x_axis.major_label_policy = y_axis.major_label_policy = shared.label_policy
        if not scales.log_x:
            x_axis.formatter, x_axis.ticker = shared.formatter, shared.x_ticker
        y_axis.formatter = shared.log_formatter if log_y else shared.formatter
        if log_y:
            y_axis.ticker = shared.log_ticker
        # Here from the beginning: Bokeh may draw a title that comes later before it has a place, which is an error.
        small: dict[str, Any] = {"text_font_size": "11px", "text_font_style": "normal", "standoff": 2}
        self._notes = Title(text="", name=f"notes-{type(self).__name__}", **small)
        fig.add_layout(self._notes, "below")
        fig.on_event(DoubleTap, shared.pick)
        for change in ("renderers", "inner_height"):  # other lines, and the first time that it is drawn
            fig.js_on_change(change, shared.sources.fit)
        shared.x_range.tags = [*shared.x_range.tags, fig]
        # What the theme and the layout change in the browser is of no use here: hundreds of messages at each opening.
        for model in (fig, fig.title, fig.toolbar, x_axis, y_axis, self._notes, *fig.grid):
            model.syncable = False
        return fig

    def relabel(self) -> None:
        """Name the horizontal axis after what the shared scales say that lines are drawn against."""
        if self._figure is not None:
            self._figure.xaxis[0].axis_label = AXES[self._shared.scales.axis]

    def _frame(self) -> None:
        """Have the figure's frame as a place, whatever its ranges: what is drawn there never stretches them."""
        fig, (one, scale) = self.figure, self._shared.in_frame
        if not fig.extra_y_ranges:
            fig.extra_x_ranges, fig.extra_x_scales = {FRAME: one}, {FRAME: scale}
            fig.extra_y_ranges, fig.extra_y_scales = {FRAME: one}, {FRAME: scale}

    def _equip(self) -> None:
        """Give the figure the tools to read and to move its lines."""
        if not self._area:
            self._frame()
            tools, area = self._shared.tools()
            self.figure.toolbar.update(tools=tools, active_scroll=self._shared.wheel)
            self._area = [area]

    def show_marks(self, kind: str) -> None:
        """Have the figure, if there is one, show marks of a kind, of which there were none before."""
        if self.has_figure and kind not in self._marks:
            self._frame()
            self._marks[kind] = self._shared.marks(kind, self.first)
            self._compose()

    def add(self, key: str, style: RunStyle, stream: PackedSource, columns: Mapping[str, Array]) -> None:
        """Make a run's lines and bands, drawn from its data source; ``arrange`` puts them on the figure."""
        source, lines = stream.source, []
        for one in self.lines(columns):
            colour = REFERENCE if one.muted else style.colour
            area = VArea(x="x", y1=f"{one.key}.low", y2=f"{one.key}.high", fill_color=colour, fill_alpha=0.18)
            path = LineGlyph(x="x", y=one.key, line_color=colour, line_width=style.width)
            band, line = (self._shared.sources.draw(source, glyph) for glyph in (area, path))
            # References lie decades away at times: the ranges are those of what was measured.
            line.tags = [] if one.muted else [f"{one.key}{part}" for part in one.parts if part != ".lone"]
            lines.append(DrawnLine(one, source, line, band))
        self._lines[key] = lines
        label = signed(self.y_label(columns), self._shared.scales.log_y)
        self._titles[key] = f"{self.heading(columns)}   {label}".rstrip()

    def lacks(self, key: str, data: LineData) -> list[tuple[DrawnLine, str]]:
        """Return the parts of a run's lines that have come with its newest numbers, and are not drawn yet."""
        if not self._shared.scales.log_y:
            return []
        columns = data.columns()
        return [
            (one, part)
            for one in self._lines.get(key, [])
            if not one.series.linear
            for part in (".lone", ".zero")
            if part in one.series.parts and part not in one.parts and np.isfinite(columns[one.series.key + part]).any()
        ]

    def complete(self, lacking: Sequence[tuple[DrawnLine, str]]) -> None:
        """Draw parts of lines that ``lacks`` found."""
        for one, part in lacking:
            colour, y = one.line.glyph.line_color, one.series.key + part
            look: dict[str, Any] = {"x": "x", "y": y, "line_color": colour}
            glyph = LineGlyph(**look, line_width=3) if part == ".zero" else Scatter(**look, size=5, fill_color=colour)
            one.parts[part] = self._shared.sources.draw(one.source, glyph)
        if lacking:
            self._compose()

    @property
    def keys_with_zeros(self) -> set[str]:
        """The keys of the lines that share a strip of zeros; empty where no line has zeros, or the axis is linear."""
        lines = [one.series for lines in self._lines.values() for one in lines if not one.series.linear]
        return {one.key for one in lines} if self._shared.scales.log_y and any(one.zeros for one in lines) else set()

    def show_strip(self, strip: ZeroStrip | None) -> None:
        """Show the strip in which zeros stand, or none."""
        if not self.has_figure or strip == self._strip:
            return
        self._strip = strip
        if self._strip_source is None:
            self._frame()
            self._strip_source, ticker, self._strip_parts = self._shared.zero_strip()
            self.figure.yaxis[0].ticker, self.figure.y_range.tags = ticker, [self._strip_source]
            self._compose()
        self._strip_source.data = strip_columns(strip)
        self.figure.yaxis[0].major_label_overrides = {} if strip is None else {strip.tick: "0"}

    def fits(self, problems: int) -> bool:
        """Return whether the plot suits runs of this number of problems."""
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
        alone = len(runs) == 1
        if runs:
            self._equip()
        if self.labels is None and any(len(lines) > 1 for _, lines in runs):
            self._frame()
            self.labels = LineLabels(self._shared.sources)
            self._label_parts = [self._shared.line_labels(self.labels.source)]
        for style, lines in runs:
            for one in lines:
                # The components of one column are alike; further columns are the thin lines.
                width = style.width if one.series.column == lines[0].series.column else THIN * style.width
                name = style.name if alone and len(lines) == 1 else f"{style.name}, {one.series.label}"
                one.line.update(name=name)
                one.line.glyph.update(line_width=width)
        self._shown = [one for _, lines in runs for one in lines]
        titles = dict.fromkeys(self._titles[key] for key in styles if self._lines.get(key))
        self._heading = "; ".join(titles) or self.title
        self._entitle()
        columns = {one.series.column for one in self._shown}
        axis = self._shared.scales.axis
        due = [one for one in references if one.column in columns and one.axis in ("", axis)]
        self._printed = {one: self._printed.get(one) or self._shared.printed_line(one) for one in due}
        self._compose()
        if self.labels is not None and not runs:
            self.labels.show([], [], False)

    @property
    def renderers(self) -> list[GlyphRenderer]:
        """The renderers of the runs' lines."""
        return [part for one in self._shown for part in one.renderers]

    def _compose(self) -> None:
        """Draw what there is, from back to front; nothing is sent where that stays as it was."""
        marks = [part for parts in self._marks.values() for part in parts]
        parts = [*self._strip_parts, *self._label_parts, *self._area, *marks, *self.renderers, *self._printed.values()]
        if self.figure.renderers != parts:
            self.figure.renderers = parts

    def label(self, drawn: Mapping[str, LineData]) -> None:
        """Write beside the ends of lines what each is, once: of the run with several that reaches furthest.

        ``drawn`` has the numbers of the visible runs.
        """
        if self.labels is None:
            return
        log = self._shared.scales.log_y and self.can_log
        span = span_of((data.columns()["x"] for data in drawn.values()), self._shared.scales.log_x)
        runs = {key: self._paths(key, data, span) for key, data in drawn.items()}
        several = [key for key, paths in runs.items() if len(paths) > 1]
        named = max(several, key=lambda key: runs[key][0].places[-1], default="")
        others = [path for key, paths in runs.items() if key != named for path in paths]
        floor = None if self._strip is None or not log else self._strip.bottom
        self.labels.show(runs.get(named, []), others, log, floor)

    def _paths(self, key: str, data: LineData, span: AxisSpan) -> list[Path]:
        """Return a run's lines with where they stand along the axis."""
        columns = data.columns()
        places = span.shares(columns["x"].astype(float))
        log, lines = self._shared.scales.log_y and self.can_log, [(one.series, one) for one in self._lines.get(key, [])]
        return [
            Path(one, drawn.line.glyph.line_color, places, columns[one.key], _reach(columns, one, log))
            for one, drawn in lines
        ]

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


def _reach(columns: Mapping[str, Array], one: Series, log: bool) -> tuple[float, float]:
    """Return the lowest and the highest number that is drawn of a line and its band; NaN where there is none."""
    known = np.concatenate([columns[f"{one.key}{part}"] for part in ("", ".low", ".high")]).astype(float)
    known = known[np.isfinite(known) & ((known > 0.0) | (not log))]
    return (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)


def every_plot() -> list[PlotView]:
    """Return a plot of each class that the registry finds, in their order."""
    plots = (cls() for cls in discover("zoviz.views.plots.catalogue", PlotView).values())
    return sorted(plots, key=lambda plot: plot.order)
