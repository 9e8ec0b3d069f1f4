"""What every plot offers: which lines it draws of a run, and a figure that takes runs in and out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import param
from bokeh.core.has_props import HasProps
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    CustomJSTickFormatter,
    DataRange1d,
    HoverTool,
    LinearScale,
    LogTicker,
    LogTickFormatter,
    Model,
    Range1d,
    VArea,
)
from bokeh.models import Line as LineGlyph
from bokeh.models.annotations import Legend, LegendItem
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from zoviz.types import Array
from zoviz.views.colours import REFERENCE
from zoviz.views.frames import AXES, Series
from zoviz.views.marks import MARKS
from zoviz.views.stream import Stream

# 1.5M, 20k: Bokeh's numeral format writes a small m for million.
SHORT = """const a = Math.abs(tick);
return a >= 1e9 ? +(tick/1e9).toPrecision(4) + "G" : a >= 1e6 ? +(tick/1e6).toPrecision(4) + "M"
     : a >= 1e3 ? +(tick/1e3).toPrecision(4) + "k" : "" + +tick.toPrecision(4)"""


class Look(NamedTuple):
    """How one run is drawn: its name, colour, and line width."""

    name: str
    colour: str
    width: float


class Line(NamedTuple):
    """One line on a figure, with its band."""

    series: Series
    line: GlyphRenderer
    band: GlyphRenderer


class Scales(NamedTuple):
    """Choices that need a new figure when they change."""

    axis: str
    log_x: bool
    log_y: bool


def pin(model: HasProps, **values: Any) -> None:
    """Set properties and keep them against the page's theme, which overwrites fonts and spacing in the browser."""
    for name, value in values.items():
        setattr(model, name, value)
        code = f"if (cb_obj.{name} != value) cb_obj.{name} = value"
        if isinstance(model, Model):
            model.js_on_change(name, CustomJS(args={"value": value}, code=code))


class PlotView(param.Parameterized):
    """One plot: lines of the live run and of kept runs, marks where a parameter changed or a target was hit."""

    __abstract = True

    title: ClassVar[str] = ""
    order: ClassVar[int] = 100
    can_log: ClassVar[bool] = True
    height: ClassVar[int] = 280
    special: ClassVar[bool] = False
    """Whether it stays off the page until a run has lines on it; the others are there from the beginning."""

    figure: Any
    """Bokeh's; its types say less than what its properties take."""

    def series(self, columns: Mapping[str, Array]) -> list[Series]:
        """The lines that a trace with these columns has on this plot; empty: nothing to draw."""
        raise NotImplementedError(f"{type(self).__name__} must define series(columns).")

    def y_label(self, columns: Mapping[str, Array]) -> str:
        """What the vertical axis shows, with its unit; part of the title."""
        return ""

    def build(self, scales: Scales, x_range: DataRange1d, marks: Mapping[str, ColumnDataSource]) -> None:
        """Make an empty figure for these scales; the range and the marks' sources are shared by all plots."""
        log_y = scales.log_y and self.can_log
        fig: Any = figure(
            title=self.title,
            height=self.height,
            sizing_mode="stretch_width",
            x_range=x_range,
            y_range=DataRange1d(only_visible=True, range_padding=0.06, syncable=False),
            x_axis_type="log" if scales.log_x else "linear",
            y_axis_type="log" if log_y else "linear",
            x_axis_label=AXES[scales.axis],
            tools="pan,box_zoom,xwheel_zoom,reset,save",
            toolbar_location="right",
            active_scroll=None,
            min_border_left=58,
            min_border_right=10,
            outline_line_color=None,
            border_fill_alpha=0,
            background_fill_alpha=0,
            name=f"plot-{type(self).__name__}",
        )
        self.figure = fig
        fig.toolbar.autohide, fig.toolbar.logo, fig.xgrid.grid_line_color = True, None, None
        if not scales.log_x:
            fig.xaxis.formatter = CustomJSTickFormatter(code=SHORT)
            fig.xaxis.ticker.desired_num_ticks = 5
        if log_y:
            fig.yaxis.ticker = LogTicker(desired_num_ticks=5, num_minor_ticks=0)
            fig.yaxis.formatter = LogTickFormatter(min_exponent=1)
        pin(fig.title, text_font_size="14px", text_font_style="bold", standoff=4)
        pin(fig.xaxis[0], axis_label_standoff=2, axis_label_text_font_size="12px", major_label_text_font_size="12px")
        pin(fig.yaxis[0], major_label_text_font_size="12px")
        self._lines: dict[str, list[Line]] = {}
        self._listed: dict[str, list[GlyphRenderer]] = {}
        self._add_legend()
        self._add_marks(marks)
        self._add_placeholder()
        self._fixed = list(fig.renderers)
        self.arrange({})

    def _add_legend(self) -> None:
        options: dict[str, Any] = {"padding": 0}  # Bokeh's types want a property here
        self._legend = Legend(
            orientation="horizontal",
            click_policy="hide",
            location="left",
            inactive_fill_color="#808080",
            inactive_fill_alpha=0.4,
            **options,
        )
        pin(self._legend, label_text_font_size="12px", spacing=10, label_standoff=4, glyph_width=20, margin=2)
        self.figure.add_layout(self._legend, "above")

    def _add_placeholder(self) -> None:
        """An invisible pair of points gives an empty plot its ranges."""
        empty = ColumnDataSource({"x": [1.0, 10.0], "y": [0.1, 10.0]})
        self._placeholder = self.figure.scatter("x", "y", source=empty, alpha=0.0)

    def _add_marks(self, marks: Mapping[str, ColumnDataSource]) -> None:
        """Vertical lines with a handle at the top of the frame; they never stretch the data's ranges."""
        fig = self.figure
        fig.extra_y_ranges, fig.extra_y_scales = {"frame": Range1d(start=0, end=1)}, {"frame": LinearScale()}
        for kind, source in marks.items():
            _, colour, marker, dash, size = MARKS[kind]
            fig.vspan("x", source=source, line_color=colour, line_dash=dash, line_width=1)
            head = fig.scatter("x", "y", source=source, y_range_name="frame", marker=marker, size=size, color=colour)
            fig.add_tools(HoverTool(renderers=[head], tooltips="@text{safe}", visible=False))

    def add(self, key: str, look: Look, stream: Stream, columns: Mapping[str, Array]) -> None:
        """Make a run's lines and bands, drawn from its stream; ``arrange`` puts them on the figure."""
        source, lines = stream.source, []
        for one in self.series(columns):
            colour = REFERENCE if one.muted else look.colour
            area = VArea(x="x", y1=f"{one.key}.low", y2=f"{one.key}.high", fill_color=colour, fill_alpha=0.18)
            path = LineGlyph(x="x", y=one.key, line_color=colour, line_width=look.width, line_dash=one.dash)
            band, line = (GlyphRenderer(data_source=source, glyph=glyph) for glyph in (area, path))
            lines.append(Line(one, line, band))
        self._lines[key] = lines
        if lines:
            label = self.y_label(columns)
            self.figure.title.text = f"{self.title}   {label}" if label else self.title

    def needed(self, keys: Collection[str]) -> bool:
        """Whether it belongs on the page with these runs, which have taken a step: it has lines of one of them."""
        return any(self._lines.get(key) for key in keys) if keys else not self.special

    def remove(self, key: str) -> None:
        """Forget a run's lines."""
        self._lines.pop(key, None)

    def arrange(self, looks: Mapping[str, Look]) -> None:
        """Show these runs and no others.

        Only what differs is sent, and all lines at once: a browser lays a figure out anew for every message about its
        renderers.
        """
        runs = [(look, self._lines[key]) for key, look in looks.items() if self._lines.get(key)]
        for look, lines in runs:
            for one in lines:
                one.line.glyph.line_width = look.width
        renderers = [renderer for _, lines in runs for one in lines for renderer in (one.band, one.line)]
        self.drawn = renderers or [self._placeholder]
        self.figure.renderers = [*self._fixed, *renderers]
        self.figure.y_range.renderers = self.drawn
        entries = self._entries(runs)
        if entries != self._listed:
            self._listed = entries
            self._legend.ncols = 2 if len(entries) > 3 else len(entries)
            self._legend.items = [LegendItem(label=label, renderers=found) for label, found in entries.items()]

    def _entries(self, runs: Sequence[tuple[Look, list[Line]]]) -> dict[str, list[GlyphRenderer]]:
        """One run: an entry for each line. Several: one for each run, then one for each kind of line but the first."""
        if not runs:
            return {"no run yet": [self._placeholder]}
        if len(runs) == 1:
            return {one.series.label: [one.line, one.band] for one in runs[0][1]}
        entries: dict[str, list[GlyphRenderer]] = {}
        for look, lines in runs:
            entries.setdefault(look.name, []).extend(part for one in lines for part in (one.line, one.band))
        for _, lines in runs:
            for one in lines[1:]:
                entries.setdefault(one.series.label, []).extend((one.line, one.band))
        return entries
