"""The strip below the break of a logarithmic axis in which zeros stand, since the axis itself has no place for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.views.plots.line_data import LineData, Series

LANES = (0.5, 0.36, 0.64, 0.22, 0.78, 0.43, 0.57, 0.29)
"""Heights in the strip, as shares of its own, at which the zeros of several runs stand, the first at the tick."""
_SHARE = 0.16
"""Height of the strip, as a share of what is above it."""
_STEPS = 16
"""So many places of a break for the range of what is drawn: it moves seldom while lines grow."""


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
        """Return the place on the axis of a share of the strip's height."""
        return np.asarray(self.bottom * (self.top / self.bottom) ** share)


def lane(number: int) -> float:
    """Return the share of the strip's height at which the zeros of a run stand, by the run's number."""
    return LANES[number % len(LANES)]


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
    if not zeros:
        return None
    known = np.concatenate(values).astype(float)
    known = known[np.isfinite(known) & (known > 0.0)]
    if not known.size:
        return ZeroStrip(10.0**-_SHARE, 1.0, empty=True)
    low, high = np.log10(known.min()), np.log10(known.max())
    step = 2.0 ** np.ceil(np.log2(max(high - low, 0.5) / _STEPS))
    # At least a third of a step below the lowest line.
    top, end = step * np.floor(low / step - 1 / 3), step * np.ceil(high / step)
    return ZeroStrip(float(10.0 ** (top - _SHARE * (end - top))), float(10.0**top))


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
