"""A run's data in the browser: sent as one packed array, and unpacked where it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import AllIndices, CDSView, ColumnDataSource, CustomJS, Selection, UnionRenderers
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

from zoviz.core.types import Array
from zoviz.runs.engine.trace import Snapshot
from zoviz.views.common.log_axis import LANES, ZeroStrip
from zoviz.views.plots.line_data import LineData, Series, keys_of, line_data, with_strips

_UNPACK = """
    const [names, packed] = cb_obj.tags;
    if (!packed?.length) return;
    const rows = packed.length / names.length, data = {};
    for (let i = 0; i < names.length; i++)
        data[names[i]] = new Float32Array(packed.buffer, packed.byteOffset + 4 * i * rows, rows);
    for (const name of Object.keys(cb_obj.data)) if (!(name in data)) data[name] = new Float32Array(rows).fill(NaN);
    Object.assign(cb_obj.data, data);
    cb_obj.change.emit();
    fit.execute(cb_obj);
"""

# The ranges that a figure had from here are those to which its tool for a reset goes back, so that they tell whether a
# person has moved one since: such a range stays, until it is reset. Bokeh's own ranges that follow data ask the views,
# which a hidden room does not have.
_FIT = """
    const across = [Infinity, -Infinity];
    const follow = (range, [low, high], log, margin, opening) => {
        if (!(low <= high)) [low, high] = opening;
        const [place, back] = log ? [Math.log10, x => 10 ** x] : [x => x, x => x];
        const [first, last] = [place(low), place(high)];
        const room = last > first ? margin * (last - first) : log ? 0.5 : 1;
        const [start, end] = [back(first - room), back(last + room)];
        const moved = range.start !== range.reset_start || range.end !== range.reset_end;
        if (start !== range.reset_start || end !== range.reset_end)
            range.setv({...(moved ? {} : {start, end}), reset_start: start, reset_end: end});
    };
    const fit = () => {
        for (const figure of x_range.tags) {
            const [log_x, log_y] = [figure.x_scale, figure.y_scale].map(scale => scale.type === "LogScale");
            const own = [Infinity, -Infinity];
            for (const {tags: names, data_source: {data}} of figure.renderers) for (const name of names) {
                const values = data[name] ?? [], x = data.x;
                for (let i = 0; i < values.length; i++) {
                    if (!isFinite(values[i]) || (log_y && values[i] <= 0) || (log_x && x[i] <= 0)) continue;
                    own[0] = Math.min(own[0], values[i]);
                    own[1] = Math.max(own[1], values[i]);
                    across[0] = Math.min(across[0], x[i]);
                    across[1] = Math.max(across[1], x[i]);
                }
            }
            const strip = figure.y_range.tags[0]?.data;  // of zeros, below the axis
            if (strip?.bottom.length) {
                own[0] = Math.min(own[0], ...strip.floor);
                own[1] = Math.max(own[1], ...strip.ceiling);
            }
            follow(figure.y_range, own, log_y, 0.03, [0.1, 10]);
        }
        const log = x_range.tags[0]?.x_scale.type === "LogScale";
        follow(x_range, across, log, 0.005, [log ? 1 : 0, 1000]);
    };
    if (x_range.fit_due) return;  // one message has the lines of several runs
    x_range.fit_due = true;
    queueMicrotask(() => {  // once a figure is laid out that has just got its size
        x_range.fit_due = false;
        fit();
    });
"""


class Sources:
    """Data sources of one board, which have in common what none of them uses by itself.

    Attributes
    ----------
    fit : CustomJS
        Has the ranges of all figures of ``fit.args["x_range"].tags`` follow what is drawn, of the columns that the tags
        of their renderers name; a source that is unpacked calls it.
    unpack : CustomJS
        Unpacks the source whose tags have changed.
    """

    def __init__(self) -> None:
        self._selected, self._policy = Selection(), UnionRenderers()
        self._everything = AllIndices()
        self._views: dict[str, CDSView] = {}
        self.fit = CustomJS(code=_FIT)
        self.unpack = CustomJS(args={"fit": self.fit}, code=_UNPACK)

    def make(self, data: Mapping[str, Any], name: str | None = None) -> ColumnDataSource:
        """Return a data source with these columns."""
        return ColumnDataSource(dict(data), name=name, selected=self._selected, selection_policy=self._policy)

    def draw(self, source: ColumnDataSource, glyph: Glyph, **options: Any) -> GlyphRenderer:
        """Return a glyph drawn from all of a source."""
        if source.id not in self._views:
            self._views[source.id] = CDSView(filter=self._everything)
        return GlyphRenderer(data_source=source, glyph=glyph, view=self._views[source.id], **options)


class PackedSource:
    """A data source for the lines of one run, packed for sending.

    An update sends one float32 array, whatever the number of lines: every column of a Bokeh data source costs two
    websocket messages, and each message waits for the solver's thread to give way.

    Attributes
    ----------
    source : ColumnDataSource
        What the lines are drawn from; its columns change in the browser only, until ``settle``. Its tags travel: the
        names of the columns, and their numbers.
    data : LineData
        What ``read`` found, its zeros as shares of a strip's height.
    series : list of Series
        The lines that were declared.
    """

    def __init__(self, name: str, sources: Sources, lane: float = LANES[0]) -> None:
        self._lane = lane
        self.source = sources.make({"x": np.empty(0, np.float32)}, f"source-{name}")
        self.source.js_on_change("tags", sources.unpack)
        self.source.js_on_change("data", sources.fit)
        self.series: list[Series] = []
        self.data = LineData(["x"], np.empty((1, 0), np.float32))

    def declare(self, series: Sequence[Series]) -> None:
        """Declare the lines of the run; ``settle`` gives them their first data."""
        self.series = list(series)

    def read(self, snapshot: Snapshot, axis: str, band: str, log_x: bool, log_y: bool) -> None:
        """Work out what is drawn of the trace now."""
        self.data = line_data(snapshot, self.series, axis, band, log_x, log_y, self._lane)

    def send(self, strips: Mapping[str, ZeroStrip | None]) -> None:
        """Send the browser what was read last; zeros stand in the strips of their plots, by the keys of lines."""
        self.source.tags = [keys_of(self.series), with_strips(self.data, self.series, strips).values.ravel()]

    def settle(self, strips: Mapping[str, ZeroStrip | None]) -> None:
        """Put the data into ``source`` itself, for a run that has ended or figures that are made anew."""
        self.source.data = with_strips(self.data, self.series, strips).columns()


def all_series(columns: Mapping[str, Array], views: Sequence) -> list[Series]:
    """Return the lines of every plot for a trace with these columns."""
    return [one for view in views for one in view.lines(columns)]
