"""A run's data in the browser: sent as one packed array, and unpacked where it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS

from zoviz.core.types import Array
from zoviz.runs.engine.trace import Snapshot
from zoviz.views.plots.line_data import LANES, LineData, Series, ZeroStrip, keys_of, line_data, with_strips

_UNPACK = """
    const packed = cb_obj.data.p, names = src.tags[1], rows = packed.length / names.length, data = {};
    for (let i = 0; i < names.length; i++)
        data[names[i]] = new Float32Array(packed.buffer, packed.byteOffset + 4 * i * rows, rows);
    for (const name of Object.keys(src.data)) if (!(name in data)) data[name] = new Float32Array(rows).fill(NaN);
    Object.assign(src.data, data);
    src.change.emit();
"""


class PackedSource:
    """A data source for the lines of one run, packed for sending.

    An update sends one float32 array, whatever the number of lines: every column of a Bokeh data source costs two
    websocket messages, and each message waits for the solver's thread to give way.

    Attributes
    ----------
    source : ColumnDataSource
        What the lines are drawn from; its columns change in the browser only, until ``settle``.
    wire : ColumnDataSource
        What travels; it is in the document because the source's tags refer to it.
    data : LineData
        What ``read`` found, its zeros as shares of a strip's height.
    series : list of Series
        The lines that were declared.
    """

    def __init__(self, name: str, lane: float = LANES[0]) -> None:
        self._lane = lane
        self.source = ColumnDataSource({"x": np.empty(0, np.float32)}, name=f"source-{name}")
        self.wire = ColumnDataSource({"p": np.empty(0, np.float32)}, name=f"wire-{name}")
        self.wire.js_on_change("data", CustomJS(args={"src": self.source}, code=_UNPACK))
        self.source.tags = [self.wire, ["x"]]
        self.series: list[Series] = []
        self.data = LineData(["x"], np.empty((1, 0), np.float32))

    def declare(self, series: Sequence[Series]) -> None:
        """Declare the lines of the run; ``settle`` gives them their first data."""
        self.series = list(series)
        self.source.tags = [self.wire, keys_of(self.series)]

    def read(self, snapshot: Snapshot, axis: str, band: str, log_x: bool, log_y: bool) -> None:
        """Work out what is drawn of the trace now."""
        self.data = line_data(snapshot, self.series, axis, band, log_x, log_y, self._lane)

    def send(self, strips: Mapping[str, ZeroStrip | None]) -> None:
        """Send the browser what was read last; zeros stand in the strips of their plots, by the keys of lines."""
        self.wire.data = {"p": with_strips(self.data, self.series, strips).values.ravel()}

    def settle(self, strips: Mapping[str, ZeroStrip | None]) -> None:
        """Put the data into ``source`` itself, for a run that has ended or figures that are made anew."""
        self.source.data = with_strips(self.data, self.series, strips).columns()


def all_series(columns: Mapping[str, Array], views: Sequence) -> list[Series]:
    """Return the lines of every plot for a trace with these columns."""
    return [one for view in views for one in view.lines(columns)]
