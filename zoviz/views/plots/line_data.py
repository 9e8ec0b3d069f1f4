"""The numbers that a plot draws of a trace: chosen rows, medians and bands over replicas, packed for sending."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.runs.engine.columns import CALLS, ITERATION, SAMPLES, SECONDS, ZETA_SAMPLES
from zoviz.runs.engine.trace import Snapshot
from zoviz.views.common.log_axis import ZeroStrip, strip_below

POINTS = 200
"""Points per line: enough for a screen, few enough for four sessions at 4 updates a second."""

AXES = {
    CALLS: "oracle calls per replica",
    SAMPLES: "samples per replica",
    ZETA_SAMPLES: "ζ samples per replica",
    ITERATION: "iterations",
    SECONDS: "computing time in s",
}
"""What lines are drawn against, with the label; a run without samples has no lines against them."""
FURTHEST = 2.0
"""Factor between neighbours on a logarithmic horizontal axis across which no line is drawn: nothing is known there."""
_STUB = 2.0**0.125
"""Factor by which zeros, which are drawn as a line, reach into such a gap where they have no neighbour."""
_MARGIN = 0.1
"""References are said to be out of range by more than this share of it, as bands and padding widen the axis."""
BANDS = {"Median, quartiles": "quartiles", "Median, min–max": "range", "Median alone": "none", "Mean ± std": "std"}


@dataclass(frozen=True)
class Series:
    """A line of a plot: column, name and kind.

    Attributes
    ----------
    column : str
        Column of the trace.
    label : str
        Legend entry.
    index : int or None
        Component of a vector column.
    muted : bool
        Drawn in grey rather than in the run's colour: a reference, not a measurement.
    zeros : bool
        Whether 0 says something (feasible, at the optimum): on a logarithmic axis it then stands in a strip below it.
    best : bool
        The best so far of each replica: drawn from where all that have a value at the end have one, so that the
        median never rises; on a logarithmic axis what lies below 0 counts as 0, rather than as a magnitude.
    linear : bool
        Drawn with its sign, on an axis that is always linear.
    """

    column: str
    label: str
    index: int | None = None
    muted: bool = False
    zeros: bool = False
    best: bool = False
    linear: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The ends of the names of the line's columns: middle, band, and with ``zeros`` these and lone points."""
        return ("", ".low", ".high", *((".zero", ".lone") if self.zeros else ()))

    @property
    def key(self) -> str:
        """The name of the line's columns in a data source."""
        return self.column if self.index is None else f"{self.column}[{self.index}]"


class AxisScales(NamedTuple):
    """The horizontal axis of the figures, and which axes are logarithmic, a change of which needs new figures."""

    axis: str
    log_x: bool
    log_y: bool


class AxisSpan(NamedTuple):
    """What a horizontal axis reaches from and to, and whether it is logarithmic."""

    low: float
    high: float
    log: bool

    def shares(self, x: Array) -> Array:
        """Return where abscissae (T,) stand, as shares (T,) of the axis's length."""
        if self.log:
            low = max(self.low, 1e-12)
            return np.log(np.maximum(x, low) / low) / max(np.log(self.high / low), 1e-12)
        return (x - self.low) / max(self.high - self.low, 1e-12)


class LineData(NamedTuple):
    """The numbers drawn of one run: names of the columns, and values (len(keys), points)."""

    keys: list[str]
    values: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        """Return the rows of ``values``, (points,) each, by name."""
        return dict(zip(self.keys, self.values, strict=True))


def keys_of(series: Sequence[Series]) -> list[str]:
    """Return the names in a ``LineData``: x, then those of each line's ``parts``."""
    return ["x", *(f"{one.key}{part}" for one in series for part in one.parts)]


def row_indices(x: Array, logarithmic: bool, points: int = POINTS) -> np.ndarray:
    """Return indices of at most ``points`` rows to draw, evenly along abscissae x (T,); the last is among them."""
    rows = len(x)
    if rows <= points:
        return np.arange(rows)
    if logarithmic:
        positive = np.maximum(x, x[x > 0][0] if (x > 0).any() else 1.0)
        places = np.geomspace(positive[0], positive[-1], points)
    else:
        positive, places = x, np.linspace(x[0], x[-1], points)
    return np.unique(np.append(np.searchsorted(positive, places).clip(0, rows - 1), rows - 1))


def axis_values(snapshot: Snapshot, axis: str) -> Array:
    """Return the abscissa of every row, (T,): iterations, seconds, or the counter of a replica that was never frozen.

    Empty where the trace has no such column: samples, of a run without noise.
    """
    if axis not in snapshot.columns:
        return np.empty(0)
    column = snapshot.columns[axis]
    return column if column.ndim == 1 else column.max(axis=1)


def span_of(columns: Iterable[Array], log: bool) -> AxisSpan:
    """Return what the horizontal axis of lines with these abscissae reaches from and to."""
    known = np.concatenate([np.empty(0), *columns])
    known = known[known > 0.0] if log else known
    return AxisSpan(float(known.min()), float(known.max()), log) if known.size else AxisSpan(1.0, 10.0, log)


def line_data(
    snapshot: Snapshot,
    series: Sequence[Series],
    axis: str,
    band: str,
    log_x: bool,
    log_y: bool,
    lane: float = 0.5,
) -> LineData:
    """Return the lines' medians, or means, and bands over replicas, at rows chosen for the axis.

    On a logarithmic axis magnitudes are drawn (|f - f*|), and a band never reaches below its smallest positive replica.
    A middle of 0 has no place there: its ``.zero`` is ``lane``, a share of the height of the strip that ``with_strips``
    puts below the axis. Nor is there a line across more than ``FURTHEST`` on a logarithmic horizontal axis, where rows
    are missing in between. Lines that the trace does not have are NaN.
    """
    x = axis_values(snapshot, axis)
    rows = row_indices(x, log_x)
    rows = rows[x[rows] > 0.0] if log_x else rows
    keys, gaps = keys_of(series), _gaps(x[rows]) if log_x else np.empty(0, int)
    ends = x[rows[gaps - 1]], x[rows[gaps]]
    within = np.stack([_STUB * ends[0], np.sqrt(ends[0] * ends[1]), ends[1] / _STUB], axis=1).ravel()
    along = np.insert(x[rows], np.repeat(gaps, 3), within)
    out = np.full((len(keys), along.size), np.nan, dtype=np.float32)
    out[0] = along
    present = [one for one in series if one.column in snapshot.columns]
    if present and rows.size:
        logs = np.array([log_y and not one.linear for one in present])
        stack = np.stack([_selected(snapshot, one, rows, log) for one, log in zip(present, logs, strict=True)])
        stack[logs] = np.abs(stack[logs])
        stack = np.insert(stack, np.repeat(gaps, 3), np.nan, axis=1)
        means, lows, highs = _summary(stack, band, logs)
        zero = (means == 0.0) & logs[:, None]
        means[zero] = np.nan
        for at, one in enumerate(present):
            first = keys.index(one.key)
            low, high = drawable(means[at], lows[at], highs[at])
            out[first : first + 3] = means[at], low, high
            if one.zeros:
                out[first + 3], out[first + 4] = _zero_line(zero[at], lane), _lone(means[at])
    return LineData(keys, out)


def _gaps(x: Array) -> np.ndarray:
    """Return the indices of rows that are too far from the row before them to be joined to it by a line."""
    return np.flatnonzero(x[1:] > FURTHEST * x[:-1]) + 1


def strip_for(drawn: Iterable[tuple[LineData, Sequence[Series]]]) -> ZeroStrip | None:
    """Return the strip for what is on a plot with a logarithmic axis; None where nothing on it is 0.

    Parameters
    ----------
    drawn : iterable of (LineData, sequence of Series)
        Of each run, with its lines on this plot.
    """
    values, zeros = [np.empty(0)], False
    for data, lines in drawn:
        columns = data.columns()
        for one in lines:
            zeros = zeros or (one.zeros and bool(np.isfinite(columns[f"{one.key}.zero"]).any()))
            values += [] if one.muted else [columns[f"{one.key}{part}"] for part in ("", ".low", ".high")]
    return strip_below(np.concatenate(values).astype(float)) if zeros else None


def with_strips(data: LineData, series: Sequence[Series], strips: Mapping[str, ZeroStrip | None]) -> LineData:
    """Return the numbers with zeros in the strips of their plots; references below a break are left out.

    Parameters
    ----------
    data : LineData
        As ``line_data`` returns it, where zeros are shares of a strip's height.
    series : sequence of Series
        The lines in ``data``.
    strips : mapping of str to ZeroStrip or None
        By the keys of lines; a line without one has no zeros.
    """
    placed = [(one, strip) for one in series if (strip := strips.get(one.key)) is not None]
    if not placed:
        return data
    values = data.values.copy()
    for one, strip in placed:
        at = data.keys.index(one.key)
        if one.muted:
            values[at][values[at] < strip.top] = np.nan
        if one.zeros:
            zero = data.keys.index(f"{one.key}.zero")
            values[zero] = strip.place(values[zero])
    return LineData(data.keys, values)


def _selected(snapshot: Snapshot, one: Series, rows: np.ndarray, log: bool) -> Array:
    """Return a copy of the values (rows, R) of a line at some rows, prepared as its ``best`` says."""
    values = _values(snapshot, one)
    out = np.array(values[rows], dtype=float)
    if one.best:
        known = np.isfinite(values[-1]).sum()
        out[np.isfinite(out).sum(axis=-1) < known] = np.nan
        if log:
            out[out < 0.0] = 0.0
    return out


def _zero_line(zero: np.ndarray, lane: float) -> Array:
    """Return a line (T,) at ``lane`` where ``zero`` (T,) holds, each part of it at least two points long."""
    wide = zero.copy()
    wide[1:] |= zero[:-1]
    wide[-2:-1] |= zero[-1:]
    return np.where(wide, lane, np.nan)


def _lone(mean: Array) -> Array:
    """Return the points (T,) of a line that have no neighbour, and of which a line alone shows nothing; else NaN."""
    there = np.isfinite(mean)
    beside = np.zeros_like(there)
    beside[1:] |= there[:-1]
    beside[:-1] |= there[1:]
    return np.where(there & ~beside, mean, np.nan)


def has_zeros(snapshot: Snapshot, one: Series) -> bool:
    """Return whether some row of a line is 0 for every replica that has a value there."""
    if not one.zeros or one.column not in snapshot.columns:
        return False
    values = _values(snapshot, one)
    gone = values <= 0.0 if one.best else values == 0.0
    missing = ~np.isfinite(values)
    return bool(((gone | missing).all(axis=-1) & ~missing.all(axis=-1)).any())


def has_negatives(snapshot: Snapshot, one: Series) -> bool:
    """Return whether a line of a trace that may stand on a logarithmic axis has a value below 0 somewhere."""
    return one.column in snapshot.columns and not one.linear and bool((_values(snapshot, one) < 0.0).any())


def is_known(snapshot: Snapshot, one: Series) -> bool:
    """Return whether a line of a trace has a value in some row."""
    values = _values(snapshot, one) if one.column in snapshot.columns else np.empty(0)
    # The last row first, as it tells most lines.
    return bool(np.isfinite(values[-1:]).any() or np.isfinite(values).any())


def out_of_range(lines: Sequence[tuple[Snapshot, Series]], log_y: bool) -> dict[str, str]:
    """Return where references are that have no point in the range of what was measured: "↑", "↓", or "–" for nowhere.

    Axes follow what was measured, and references lie decades away at times: their lines are then not to be seen.

    Parameters
    ----------
    lines : sequence of (Snapshot, Series)
        All that is on one plot.
    log_y : bool

    Returns
    -------
    dict of str to str
        By label.
    """
    labels = dict.fromkeys(one.label for _, one in lines if one.muted)
    heights = {label: values_drawn(line for line in lines if line[1].label == label) for label in labels}
    measured = values_drawn(line for line in lines if not line[1].muted) if heights else np.empty(0)
    places = {label: beyond(values, measured, log_y, "↓↑") for label, values in heights.items()}
    return {label: place for label, place in places.items() if place}


def values_drawn(lines: Iterable[tuple[Snapshot, Series]]) -> Array:
    """Return all finite values (k,) of lines of traces."""
    parts = [_values(snapshot, one).ravel() for snapshot, one in lines if one.column in snapshot.columns]
    values = np.concatenate([np.empty(0), *parts])
    return values[np.isfinite(values)]


def beyond(values: Array, measured: Array, log: bool, arrows: str) -> str:
    """Return on which side of the range of what was measured values lie; "" where one is within or nothing is measured.

    Parameters
    ----------
    values, measured : Array
        (k,) and (l,).
    log : bool
        Whether the axis is logarithmic, on which magnitudes are drawn.
    arrows : str
        Two letters, for below and above; "–" stands for values without a place on the axis.
    """

    def placed(numbers: Array) -> Array:
        return np.log10(np.abs(numbers[numbers != 0.0])) if log else numbers

    own, others = placed(values), placed(measured)
    if not others.size:
        return ""
    margin = _MARGIN * float(np.ptp(others))
    if not own.size:
        return "–"
    if own.min() > others.max() + margin:
        return arrows[1]
    return arrows[0] if own.max() < others.min() - margin else ""


def vanishes(snapshot: Snapshot, one: Series) -> bool:
    """Return whether a line of a trace is 0 in every row where it is known."""
    values = _values(snapshot, one) if one.column in snapshot.columns else np.empty(0)
    # The last row first, as it tells most lines.
    if (np.abs(values[-1:]) > 0.0).any():
        return False
    return bool((values == 0.0).any() and not (np.abs(values) > 0.0).any())


def signed(label: str, log_y: bool) -> str:
    """Return a vertical axis's label without bars of a magnitude, for a linear axis that shows signs."""
    return label.strip("|") if label.startswith("|") and not log_y else label


def drawable(mean: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return a band's ends (T,) whose gaps, which an area would bridge, have width 0 at their nearest neighbour."""
    good = np.isfinite(mean) & np.isfinite(low) & np.isfinite(high)
    if good.all() or not good.any():
        return low, high
    at, i = np.flatnonzero(good), np.arange(mean.size)
    right = at[np.minimum(np.searchsorted(at, i), at.size - 1)]
    left = at[np.maximum(np.searchsorted(at, i, side="right") - 1, 0)]
    nearest = np.where(i - left <= right - i, left, right)
    return np.where(good, low, mean[nearest]), np.where(good, high, mean[nearest])


def _values(snapshot: Snapshot, one: Series) -> Array:
    column = snapshot.columns[one.column]
    return column if one.index is None else column[..., one.index]


def _summary(stack: Array, band: str, logs: np.ndarray) -> tuple[Array, Array, Array]:
    """Return median (mean for "std"), lower and upper end (S, T) of values (S, T, R) over replicas, NaN left out.

    Lines of ``logs`` (S,) are drawn on a logarithmic axis: their bands end at the smallest positive value.
    """
    good = np.isfinite(stack)
    whole = bool(good.all())  # nothing to leave out, and nothing to copy for it

    def fill(values: Array, value: float) -> Array:
        return values if whole else np.where(good, values, value)

    count = good.sum(axis=-1)
    with np.errstate(all="ignore"):
        lower, middle, upper = _quartiles(fill(stack, np.inf), count)
        if band == "none" or stack.shape[-1] == 1:
            nothing = np.full_like(middle, np.nan)
            return middle, nothing, nothing
        low, high = fill(stack, np.inf).min(axis=-1), fill(stack, -np.inf).max(axis=-1)
        if band == "quartiles":
            low, high = lower, upper
        elif band == "std":
            middle = np.where(count > 0, fill(stack, 0.0).sum(axis=-1) / count, np.nan)
            deviation = fill(stack - middle[..., None], 0.0)
            spread = np.sqrt(np.square(deviation).sum(axis=-1) / np.maximum(count - 1, 1))
            low, high = np.where(logs[:, None], np.maximum(middle - spread, low), middle - spread), middle + spread
        if (low[logs] <= 0.0).any():
            positive = np.where(stack > 0.0, stack, np.inf).min(axis=-1)
            low = np.where(logs[:, None] & (low <= 0.0), np.minimum(positive, high), low)
        empty = count == 0
        low[empty] = high[empty] = np.nan
    return middle, low, high


def _quartiles(stack: Array, count: Array) -> tuple[Array, Array, Array]:
    """Return the 25th, 50th and 75th percentile by linear interpolation among the ``count`` finite values."""
    ordered = np.sort(stack, axis=-1)
    out = []
    for share in (0.25, 0.5, 0.75):
        position = share * np.maximum(count - 1, 0)
        below = np.floor(position).astype(int)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        start = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
        end = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
        out.append(np.where(count > 0, start + (position - below) * (end - start), np.nan))
    return out[0], out[1], out[2]
