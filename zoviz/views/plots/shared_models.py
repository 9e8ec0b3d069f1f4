"""Bokeh models that all figures of a board share, so that a page has them once, not once for each plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.events import DoubleTap
from bokeh.models import (
    AllIndices,
    BasicTicker,
    CDSView,
    ColumnDataSource,
    CrosshairTool,
    CustomJSHover,
    CustomJSTicker,
    CustomJSTickFormatter,
    DataRange1d,
    FullscreenTool,
    HoverTool,
    HSpan,
    HStrip,
    LogTickFormatter,
    SaveTool,
    Scatter,
    Text,
    Tool,
    VSpan,
)
from bokeh.models import Line as LineGlyph
from bokeh.models.annotations import Span
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

from zoviz.runs.references import Reference
from zoviz.views.common.bokeh_internals import forget_bounds
from zoviz.views.common.colours import PRINTED, REFERENCE
from zoviz.views.common.figure_frame import SHORT
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.plots.event_marks import MARKS, STEERING
from zoviz.views.plots.line_data import AxisScales, ZeroStrip

# Bokeh's own ticker is linear below two decades, and leaves the lower half of an axis without a label. Three ticks at
# least where they are not all powers of ten: of two, as 2 and 5, its formatter would write the nearest powers.
_LOG_TICKS = """
    const high = Math.max(cb_data.start, cb_data.end), low = Math.max(Math.min(cb_data.start, cb_data.end), above);
    if (!(low > 0 && high > low && isFinite(high))) return [];
    const [first, last] = [Math.log10(low), Math.log10(high)], decades = last - first;
    const inside = ticks => ticks.filter(tick => tick >= low && tick <= high);
    const powers = step => {
        const out = [];
        for (let k = step * Math.ceil(first / step); k <= last; k += step) out.push(+`1e${k}`);
        return out;
    };
    if (decades >= 2) return powers(Math.max(1, Math.ceil(decades / 6)));
    for (const factors of [[1, 2, 5], [1, 1.5, 2, 3, 4, 6, 8]]) {
        const ticks = [];
        for (let k = Math.floor(first); k <= last; k++) ticks.push(...factors.map(factor => +`${factor}e${k}`));
        if (inside(ticks).length > 2) return inside(ticks);
    }
    const most = (high - low) / 3, power = 10 ** Math.floor(Math.log10(most));
    const step = power * [5, 2, 1].find(factor => factor * power <= most), ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(k * step);
    return ticks;
"""


# Below the break the only tick is that of zeros.
_STRIP_TICKS = """
    const {top, tick, empty} = strip.data, zeros = Array.from(tick);
    if (empty[0]) return zeros;
    const scale = above => {%s};
    return [...zeros, ...scale(top.length ? top[0] : 0)];
"""


def log_ticker(strip: ColumnDataSource | None = None) -> CustomJSTicker:
    """Return a ticker of logarithmic axes: powers of ten, 1-2-5 below two decades, even steps where it is narrow.

    Parameters
    ----------
    strip : ColumnDataSource, optional
        A strip of zeros below the axis, as ``strip_columns`` has it.
    """
    if strip is None:
        return CustomJSTicker(major_code=f"const above = 0;{_LOG_TICKS}", minor_code="return [];")
    return CustomJSTicker(args={"strip": strip}, major_code=_STRIP_TICKS % _LOG_TICKS, minor_code="return [];")


def strip_columns(strip: ZeroStrip | None) -> dict[str, list[Any]]:
    """Return a strip of zeros as columns of a data source, with no rows for none."""
    if strip is None:
        return {"bottom": [], "top": [], "tick": [], "empty": [], "left": []}
    far = strip.bottom * (strip.bottom / strip.top) ** 9  # as far as anybody may pan
    ends = (np.nan, np.nan) if strip.empty else (far, strip.top)  # what there is nothing above has no break
    columns = {"bottom": ends[0], "top": ends[1], "tick": strip.tick, "empty": strip.empty, "left": 0.0}
    return {name: [value] for name, value in columns.items()}


_PRINTED_DASH = [10, 3, 2, 3, 2, 3]
"""Of a paper's numbers: no run has it."""

# All lines of a figure in one box: boxes of their own would cover each other. The ends of the band at a point stand
# beside its middle in the source, and zeros of a logarithmic axis, under the names that ``Series.parts`` gives.
_READ = """
    const at = special_vars.x, plot = special_vars.glyph_view.parent.parent.model, rows = [];
    const reach = 0.01 * Math.abs(plot.x_range.end - plot.x_range.start), show = value => {
        const size = Math.abs(value);
        return size && (size < 1e-3 || size >= 1e6) ? (+value).toExponential(2) : `${+(+value).toPrecision(4)}`;
    };
    for (const {glyph, data_source, name, visible} of plot.renderers) {
        const data = data_source.data, x = data.x;
        if (glyph.type !== "Line" || !name || !visible || !x?.length || at > x[x.length - 1] + reach) continue;
        let i = 0;
        for (let j = 0; j < x.length; j++) if (Math.abs(x[j] - at) < Math.abs(x[i] - at)) i = j;
        const key = glyph.y.field, part = end => data[key + end]?.[i];
        const [low, high] = [part(".low"), part(".high")];
        const spread = isFinite(low) && isFinite(high) ? ` (${show(low)} to ${show(high)})` : "";
        if (isFinite(part(""))) rows.push(`${name}   ${show(part(""))}${spread}`);
        else if (isFinite(part(".zero"))) rows.push(`${name}   0`);
    }
    const {axis_label} = plot.below.find(one => one.axis_label !== undefined) ?? {};
    const place = /time/.test(axis_label) ? show(at) : Math.round(at).toLocaleString("en-US");
    return [`at ${place} ${axis_label}`, ...rows].join("\\n");
"""


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
        self.x_range.js_on_change("tags", forget_bounds())
        self.actions: tuple[Tool, ...] = (FullscreenTool(), SaveTool())
        self._crossline = Span(dimension="height", line_color="#8a8f98", line_width=1, line_dash="dotted")
        self._reading = CustomJSHover(code=_READ)
        self._whole = ColumnDataSource({"low": [0.0], "high": [1.0]})
        self._unseen_area = HStrip(y0="low", y1="high", fill_alpha=0.0, line_alpha=0.0, hatch_alpha=0.0)
        self.x_ticker = BasicTicker(desired_num_ticks=5)
        self.formatter = CustomJSTickFormatter(code=SHORT)
        self.log_ticker = log_ticker()
        self.log_formatter = LogTickFormatter(min_exponent=1)
        self._everything = AllIndices()
        # Of the marks and the area, whose points are the same in every figure.
        self._area_view = CDSView(filter=self._everything)
        self._mark_views = {name: CDSView(filter=self._everything) for name in marks}
        self._empty = ColumnDataSource({"x": [1.0, 10.0], "y": [0.1, 10.0]})
        self._nothing = Scatter(x="x", y="y", fill_alpha=0.0, line_alpha=0.0, hatch_alpha=0.0)
        self._strip_glyphs: tuple[Glyph, ...] = (
            HStrip(y0="bottom", y1="top", fill_color=REFERENCE, fill_alpha=0.13, line_alpha=0.0, hatch_alpha=0.0),
            HSpan(y="top", line_color=REFERENCE, line_width=1, line_dash=[4, 3]),
        )
        look: dict[str, Any] = {"text_align": "center", "text_baseline": "middle", "text_color": REFERENCE}
        self._break_sign = Text(x="left", y="top", text={"value": "≈"}, text_font_size="17px", **look)
        beside: dict[str, Any] = {"text_align": "right", "text_baseline": "side", "y_offset": "off", "x_offset": -3}
        words: dict[str, Any] = {"text_color": "colour", "text_font": {"value": "Roboto, sans-serif"}}
        self._label = Text(x={"value": 1.0}, y="y", text="text", text_font_size="11px", **beside, **words)
        self._spans: dict[str, Glyph] = {}
        self._heads: dict[str, Glyph] = {}
        for name in marks:
            _, colour, marker, dash, size = MARKS[name]
            own = "colour" if name == STEERING else colour
            self._spans[name] = VSpan(x="x", line_color=own, line_dash=dash, line_width=1.2)
            self._heads[name] = Scatter(x="x", y="y", marker=marker, size=size, line_color=own, fill_color=own)
        small: dict[str, Any] = {"text_baseline": "middle", "text_font": {"value": "Roboto, sans-serif"}}
        self._number = Text(
            x="x", y="y", text="number", text_color="ink", text_align="center", text_font_size="10px", **small
        )
        self._change = Text(
            x="x", y="y", text="label", text_color="colour", x_offset=10, text_font_size="11px", **small
        )

    def pick(self, event: DoubleTap) -> None:
        """Record the place of a double click on a plot."""
        if event.x is not None:
            self._runs_shown.picked = (self.scales.axis, float(event.x))

    def forget_ranges(self) -> None:
        """Have the browser forget how far lines reached that are no longer drawn, so that the range follows what is."""
        self.x_range.tags = [len(self.x_range.tags) and 1 - int(self.x_range.tags[0])]

    def crosshair(self) -> CrosshairTool:
        """Return a tool that draws one vertical line through all figures where one is pointed at."""
        return CrosshairTool(overlay=self._crossline, visible=False)

    def reading_area(self, y_range_name: str) -> GlyphRenderer:
        """Return an area of the whole frame that is not seen, over which ``line_reader`` reads."""
        return self.renderer(self._whole, self._unseen_area, view=self._area_view, y_range_name=y_range_name)

    def line_reader(self, area: GlyphRenderer) -> HoverTool:
        """Return a tool that tells run, value and band of every line of a figure above or below the pointer."""
        return HoverTool(
            renderers=[area],
            tooltips="<div style='font-size:12px;white-space:pre'>@low{custom}</div>",
            formatters={"@low": self._reading},
            point_policy="follow_mouse",
            visible=False,
            description="Values",
        )

    def renderer(self, source: ColumnDataSource, glyph: Glyph, **options: Any) -> GlyphRenderer:
        """Return a glyph drawn from all of a source."""
        view = CDSView(filter=self._everything)
        return GlyphRenderer(data_source=source, glyph=glyph, **{"view": view, **options})

    def placeholder(self) -> GlyphRenderer:
        """Return an invisible pair of points, which gives an empty plot its ranges."""
        return self.renderer(self._empty, self._nothing)

    def zero_strip(self, frame: str) -> tuple[ColumnDataSource, CustomJSTicker, list[GlyphRenderer]]:
        """Return the strip of zeros below a figure's axis: its source, the axis's ticker, and what is drawn of it.

        Parameters
        ----------
        frame : str
            The name of a horizontal range from 0 to 1, on which the sign of the break stands.
        """
        source = ColumnDataSource(strip_columns(None))
        parts = [self.renderer(source, glyph) for glyph in self._strip_glyphs]
        sign = self.renderer(source, self._break_sign, x_range_name=frame, level="annotation")
        return source, log_ticker(source), [*parts, sign]

    def line_labels(self, source: ColumnDataSource, frame: str) -> GlyphRenderer:
        """Return the words of a source at the right edge of a figure, the end of its horizontal range ``frame``."""
        return self.renderer(source, self._label, x_range_name=frame, level="annotation")

    def printed_line(self, reference: Reference) -> GlyphRenderer:
        """Return the line of a number that a paper prints, for one figure: across all of it, or through points."""
        look: dict[str, Any] = {"line_color": PRINTED, "line_dash": _PRINTED_DASH, "line_width": 1.8}
        points = {name: list(values) for name, values in (("x", reference.x), ("y", reference.y)) if values}
        glyph: Glyph
        if len(points) == 2:
            glyph = LineGlyph(x="x", y="y", **look)
        else:
            glyph = HSpan(y="y", **look) if reference.y else VSpan(x="x", **look)
        return self.renderer(ColumnDataSource(points), glyph)

    def mark_lines(self) -> list[GlyphRenderer]:
        """Return the vertical lines at the marks, for one figure."""
        return [
            self.renderer(source, self._spans[name], view=self._mark_views[name])
            for name, source in self._marks.items()
        ]

    def mark_words(self, y_range_name: str, labelled: bool) -> list[GlyphRenderer]:
        """Return the numbers of the changes, and where ``labelled`` what was changed."""
        glyphs = [self._number, self._change] if labelled else [self._number]
        where: dict[str, Any] = {"view": self._mark_views[STEERING], "y_range_name": y_range_name}
        return [self.renderer(self._marks[STEERING], glyph, **where) for glyph in glyphs]

    def mark_heads(self, y_range_name: str) -> list[GlyphRenderer]:
        """Return the handles of the marks, which show their text when they are pointed at."""
        return [
            self.renderer(source, self._heads[name], view=self._mark_views[name], y_range_name=y_range_name)
            for name, source in self._marks.items()
        ]
