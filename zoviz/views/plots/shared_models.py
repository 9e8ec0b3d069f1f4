"""Bokeh models that all figures of a board share, so that a page has them once, not once for each plot."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from bokeh.events import DoubleTap
from bokeh.models import (
    AllLabels,
    BasicTicker,
    BoxZoomTool,
    ColumnDataSource,
    CrosshairTool,
    CustomJS,
    CustomJSHover,
    CustomJSTicker,
    CustomJSTickFormatter,
    HoverTool,
    HSpan,
    HStrip,
    LinearScale,
    LogScale,
    PanTool,
    Range1d,
    Scale,
    Scatter,
    Text,
    Tool,
    VSpan,
    WheelZoomTool,
)
from bokeh.models import Line as LineGlyph
from bokeh.models.annotations import Span
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

from zoviz.runs.references import Reference
from zoviz.views.common.colours import PRINTED, REFERENCE
from zoviz.views.common.figure_frame import SHORT
from zoviz.views.common.log_axis import POWERS, log_ticker, strip_columns
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.plots.event_marks import MARKS, STEERING
from zoviz.views.plots.line_data import AxisScales
from zoviz.views.plots.packed_source import Sources

_FONT: dict[str, Any] = {"text_font": {"value": "Roboto, sans-serif"}}
_PRINTED_DASH = [10, 3, 2, 3, 2, 3]
"""Of a paper's numbers: no run has it."""

# All lines of a figure in one box, and the marks that are pointed at: boxes of their own would cover each other. The
# ends of the band at a point stand beside its middle in the source, and zeros of a logarithmic axis, under the names
# that ``Series.parts`` gives.
_READ = """
    const {x: at, sx, sy, glyph_view} = special_vars, view = glyph_view.parent.parent, plot = view.model, rows = [];
    const reach = 0.01 * Math.abs(plot.x_range.end - plot.x_range.start), show = value => {
        const size = Math.abs(value);
        return size && (size < 1e-3 || size >= 1e6) ? (+value).toExponential(2) : `${+(+value).toPrecision(4)}`;
    };
    const words = html => new DOMParser().parseFromString(html.replaceAll("<br>", "\\n"), "text/html").body.textContent;
    const {bbox, x_scale} = view.frame, marked = new Set();
    for (const {glyph, data_source, name, visible} of plot.renderers) {
        const data = data_source.data, x = data.x;
        (data.text && data.x ? data.text : []).forEach((text, i) => {
            const near = Math.hypot(x_scale.compute(x[i]) - sx, bbox.top + (1 - data.y[i]) * bbox.height - sy) < 11;
            if (near) marked.add(words(text));
        });
        if (glyph.type !== "Line" || !name || !visible || !x?.length || at > x[x.length - 1] + reach) continue;
        let i = 0;
        for (let j = 0; j < x.length; j++) if (Math.abs(x[j] - at) < Math.abs(x[i] - at)) i = j;
        const key = glyph.y.field, part = end => data[key + end]?.[i];
        const [low, high] = [part(".low"), part(".high")];
        const spread = isFinite(low) && isFinite(high) ? ` (${show(low)} to ${show(high)})` : "";
        if (isFinite(part(""))) rows.push(`${name}   ${show(part(""))}${spread}`);
        else if (isFinite(part(".zero"))) rows.push(`${name}   0`);
    }
    if (marked.size) return [...marked, back].join("\\n");
    const {axis_label} = plot.below.find(one => one.axis_label !== undefined) ?? {};
    const place = /time/.test(axis_label) ? show(at) : Math.round(at).toLocaleString("en-US");
    return [`at ${place} ${axis_label}`, ...rows].join("\\n");
"""
_BACK = "Double click: go back to before it"
"""What is said of a mark where the pointer is on it."""
FRAME = "frame"
"""The name of a figure's ranges from 0 to 1, on which stands what keeps its place in the frame."""
_FOLLOW = "cb_obj.setv({start: cb_obj.reset_start, end: cb_obj.reset_end})"
"""Has a range follow its lines again, wherever a person has moved it."""


def opening_range(start: float, end: float, fit: CustomJS) -> Range1d:
    """Return a range that is here until there are lines, and in the browser follows them, or a person.

    No end is Bokeh's default: a range may be sent again as it is here, and then has all of it, and is fitted anew.
    """
    # Not synced: every update moves the ranges, and a page would send each end back in a message of its own.
    out = Range1d(start=start, end=end, reset_start=start, reset_end=end, syncable=False)
    out.js_on_change("reset_end", fit)
    return out


class SharedModels:
    """The Bokeh models that all figures of a board share, for one choice of scales.

    Parameters
    ----------
    scales : AxisScales
    sources : Sources
        Of the runs' lines, whose ranges the figures' follow.
    marks : mapping of str to ColumnDataSource
        Data of each kind of mark.
    runs : ShownRuns
        Its ``picked`` becomes the place of every double click on a figure.
    """

    def __init__(
        self, scales: AxisScales, sources: Sources, marks: Mapping[str, ColumnDataSource], runs: ShownRuns
    ) -> None:
        self.scales, self.sources, self._marks, self._runs_shown = scales, sources, marks, runs
        self.x_range = opening_range(0.97 if scales.log_x else -5.0, 1005.0, sources.fit)
        self.x_range.js_on_change("name", CustomJS(code=_FOLLOW))
        sources.fit.args = {"x_range": self.x_range}
        self.x_scale, self.y_scales = scale_of(scales.log_x), {log: scale_of(log) for log in (False, True)}
        self.x_ticker, self.label_policy = BasicTicker(desired_num_ticks=5), AllLabels()
        self.formatter = CustomJSTickFormatter(code=SHORT)
        self.log_ticker = log_ticker()
        self.log_formatter = CustomJSTickFormatter(code=POWERS)
        self._glyphs: dict[str, Glyph] = {}
        self._handles: Any = BoxZoomTool().overlay.handles  # which each box would have for itself
        self._reader = CustomJSHover(args={"back": _BACK}, code=_READ)
        self._whole = sources.make({"low": [0.0], "high": [1.0]})

    def pick(self, event: DoubleTap) -> None:
        """Record the place of a double click on a plot."""
        if event.x is not None:
            self._runs_shown.picked = (self.scales.axis, float(event.x))

    def relabel(self, axis: str) -> None:
        """Have the figures drawn against another axis: the range of the one before means nothing on it."""
        self.scales = self.scales._replace(axis=axis)
        self.x_range.name = f"against {axis}"

    @cached_property
    def in_frame(self) -> tuple[Range1d, LinearScale]:
        """A range from 0 to 1, and its scale; the tools that move the axes would move it, too."""
        frame, put_back = Range1d(start=0, end=1, syncable=False), CustomJS(code="cb_obj.setv({start: 0, end: 1})")
        for end in ("start", "end"):
            frame.js_on_change(end, put_back)
        return frame, LinearScale()

    @cached_property
    def crosshair(self) -> CrosshairTool:
        """A tool that draws one vertical line through all figures where one is pointed at."""
        crossline = Span(dimension="height", line_color="#8a8f98", line_width=1, line_dash="dotted")
        return CrosshairTool(overlay=crossline, visible=False)

    @cached_property
    def wheel(self) -> WheelZoomTool:
        """A tool that zooms all figures along x; without the key the wheel scrolls the page."""
        return WheelZoomTool(dimensions="width", modifiers={"ctrl": True})

    def tools(self) -> tuple[list[Tool], GlyphRenderer]:
        """Return the tools of one figure with lines, and an area of the whole frame, not seen, which one of them reads.

        What one figure alone is moved by, or what it alone shows, is its own; the others are those of all figures.
        """
        unseen = self._glyph("area", HStrip, y0="low", y1="high", fill_alpha=0.0, line_alpha=0.0, hatch_alpha=0.0)
        area = self.sources.draw(self._whole, unseen, y_range_name=FRAME)
        zoom = BoxZoomTool()
        zoom.overlay.handles = self._handles
        hover = HoverTool(
            renderers=[area],
            tooltips="<div style='font-size:12px;white-space:pre'>@low{custom}</div>",
            formatters={"@low": self._reader},
            point_policy="follow_mouse",
            visible=False,
            description="Values",
        )
        return [PanTool(), zoom, self.wheel, self.crosshair, hover], area

    def _glyph(self, name: str, kind: type[Glyph], **look: Any) -> Glyph:
        """Return the glyph that all figures have in common by this name."""
        if name not in self._glyphs:
            self._glyphs[name] = kind(**look)
        return self._glyphs[name]

    def zero_strip(self) -> tuple[ColumnDataSource, CustomJSTicker, list[GlyphRenderer]]:
        """Return the strip of zeros below a figure's axis: its source, the axis's ticker, and what is drawn of it."""
        source = self.sources.make(strip_columns(None))
        source.js_on_change("data", self.sources.fit)
        look: dict[str, Any] = {"line_color": REFERENCE, "line_dash": [4, 3], "hatch_alpha": 0.0}
        ground = self._glyph("strip", HStrip, y0="bottom", y1="top", fill_color=REFERENCE, fill_alpha=0.13, **look)
        middle: dict[str, Any] = {"text_align": "center", "text_baseline": "middle", "text_color": REFERENCE}
        sign = self._glyph("break", Text, x="left", y="top", text={"value": "≈"}, text_font_size="17px", **middle)
        parts = [
            self.sources.draw(source, ground),
            self.sources.draw(source, sign, x_range_name=FRAME, level="annotation"),
        ]
        return source, log_ticker(source), parts

    def line_labels(self, source: ColumnDataSource) -> GlyphRenderer:
        """Return the words of a source beside the ends of a figure's lines."""
        beside: dict[str, Any] = {"text_align": "side", "text_baseline": "middle", "x_offset": "off"}
        words: dict[str, Any] = {"text": "text", "text_font_size": "11px", **_FONT}  # in the ink of the page's theme
        label = self._glyph("label", Text, x="x", y="y", **beside, **words)
        return self.sources.draw(source, label, x_range_name=FRAME, level="annotation")

    def printed_line(self, reference: Reference) -> GlyphRenderer:
        """Return the line of a number that a paper prints, for one figure: across all of it, or through points."""
        look: dict[str, Any] = {"line_color": PRINTED, "line_dash": _PRINTED_DASH, "line_width": 1.8}
        points = {name: list(values) for name, values in (("x", reference.x), ("y", reference.y)) if values}
        glyph: Glyph
        if len(points) == 2:
            glyph = LineGlyph(x="x", y="y", **look)
        else:
            glyph = HSpan(y="y", **look) if reference.y else VSpan(x="x", **look)
        return self.sources.draw(self.sources.make(points), glyph)

    def marks(self, name: str, labelled: bool) -> list[GlyphRenderer]:
        """Return the marks of a kind, for one figure: a line, a head, and where ``labelled`` what was changed."""
        _, colour, marker, dash, size = MARKS[name]
        own = "colour" if name == STEERING else colour
        line = self._glyph(f"line {name}", VSpan, x="x", line_color=own, line_dash=dash, line_width=1.2)
        glyphs: list[Glyph] = []
        if name == STEERING:
            look: dict[str, Any] = {"text_baseline": "middle", "x": "x", "y": "y", **_FONT}
            badge: dict[str, Any] = {"outline_shape": "circle", "background_fill_color": "colour", "padding": 1}
            number: dict[str, Any] = {"text": "number", "text_color": "ink", "text_font_size": "10px", **badge}
            glyphs = [self._glyph("number", Text, text_align="center", **number, **look)]
            words: dict[str, Any] = {"text": "label", "text_color": "colour", "text_font_size": "11px"}
            glyphs += [self._glyph("change", Text, text_align="side", x_offset="off", **words, **look)] * labelled
        else:
            look = {"marker": marker, "size": size, "line_color": own, "fill_color": own}
            glyphs = [self._glyph(f"head {name}", Scatter, x="x", y="y", **look)]
        source, draw = self._marks[name], self.sources.draw
        return [draw(source, line), *(draw(source, glyph, y_range_name=FRAME) for glyph in glyphs)]


def scale_of(logarithmic: bool) -> Scale:
    """Return a scale."""
    return LogScale() if logarithmic else LinearScale()
