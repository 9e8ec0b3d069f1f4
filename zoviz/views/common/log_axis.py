"""Logarithmic axes: their ticks, the labels of these, and the strip below a break in which zeros stand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTicker

from zoviz.core.types import Array
from zoviz.views.common.figure_frame import SHORT

LANES = (0.5, 0.36, 0.64, 0.22, 0.78, 0.43, 0.57, 0.29)
"""Heights in the strip, as shares of its own, at which the zeros of several runs stand, the first at the tick."""
_STRIP = 0.16
"""Height of the strip, as a share of what is above it."""
_BREAKS = 16
"""So many places of a break for the range of what is drawn: it moves seldom while lines grow."""
_ABOVE_EMPTY = 10.0
"""Where an axis ends above a strip of zeros when nothing else is on it."""

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


# Bokeh's own formatter writes all ticks as 1.000e-2 where two of them, as one of zeros (the lowest) and its neighbour,
# round to one power of ten.
POWERS = (
    """
    const power = Math.round(Math.log10(tick)), sign = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";
    const whole = one => Math.abs(one / 10 ** Math.round(Math.log10(one)) - 1) < 1e-9;
    if (Math.abs(power) > 1 && whole(tick) && ticks.slice(1).every(whole))
        return "10" + `${power}`.replace(/./g, letter => sign["-0123456789".indexOf(letter)]);
"""
    + SHORT
)
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
        return {name: [] for name in ("bottom", "top", "tick", "empty", "left", "floor", "ceiling")}
    far = strip.bottom * (strip.bottom / strip.top) ** 9  # as far as anybody may pan
    ends = (np.nan, np.nan) if strip.empty else (far, strip.top)  # what there is nothing above has no break
    columns = {"bottom": ends[0], "top": ends[1], "tick": strip.tick, "empty": strip.empty, "left": 0.0}
    columns |= {"floor": strip.bottom, "ceiling": _ABOVE_EMPTY if strip.empty else strip.top}  # within the range
    return {name: [value] for name, value in columns.items()}


class ZeroStrip(NamedTuple):
    """A strip on a logarithmic axis, in the axis's own numbers; what is above the break is drawn to scale.

    Attributes
    ----------
    bottom, top : float
        Its ends; ``top`` is the break.
    empty : bool
        Whether nothing is drawn above it.
    """

    bottom: float
    top: float
    empty: bool = False

    @property
    def tick(self) -> float:
        """The place of the tick "0"."""
        return float(self.place(LANES[0]))

    def place(self, share: Array | float) -> Array:
        """Return the places on the axis of shares of the strip's height, of the same shape: (), or (k,)."""
        return np.asarray(self.bottom * (self.top / self.bottom) ** share)


def lane(number: int) -> float:
    """Return the share of the strip's height at which the zeros of a run stand, by the run's number."""
    return LANES[number % len(LANES)]


def strip_below(values: Array) -> ZeroStrip:
    """Return the strip in which zeros stand below the positive of values (k,)."""
    known = values[np.isfinite(values) & (values > 0.0)]
    if not known.size:
        return ZeroStrip(10.0**-_STRIP, 1.0, empty=True)
    low, high = np.log10(known.min()), np.log10(known.max())
    step = 2.0 ** np.ceil(np.log2(max(high - low, 0.5) / _BREAKS))
    # At least a third of a step below the lowest line.
    top, end = step * np.floor(low / step - 1 / 3), step * np.ceil(high / step)
    return ZeroStrip(float(10.0 ** (top - _STRIP * (end - top))), float(10.0**top))
