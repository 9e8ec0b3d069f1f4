"""What each of several lines of a run is, written beside its end on a plot: there is no legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.views.plots.line_data import Series
from zoviz.views.plots.packed_source import Sources

NEAR = 0.07
"""Share of the range of a run's lines within which their ends have one label."""
_LOW = 0.12
"""Share of it above its lowest end within which a label below would stand on the axis."""
_WORD = 0.09
"""Share of it that the letters of a word are high on a small plot."""
_WHOLE = 0.95
"""Share of the rows up to which a line has to go for its end to be named."""
_MOVED = 0.02
"""Share of it from which on labels are sent anew: lines move a little with every refresh."""


class Label(NamedTuple):
    """A label: its height in the axis's numbers, words, and whether it stands below its line, which falls."""

    height: float
    words: str
    below: bool


class End(NamedTuple):
    """The end of a line: its last finite value, its rise to it, and the highest that a label is as wide as."""

    height: float
    rise: float
    highest: float

    def has_room_below(self, low: float, high: float) -> bool:
        """Return whether a label goes below it, on lines from low to high: it fell, or is level at their top."""
        span = high - low
        level_at_top = self.rise < _WORD * span and self.height > high - _WORD * span
        return (self.rise < 0.0 or level_at_top) and self.height - low > _LOW * span


def end_of(values: Array) -> End:
    """Return the end of a line of values (T,), NaN where it stops before the others, as one that has come to 0."""
    finite = np.isfinite(values)
    known = values[finite]
    if not known.size or np.flatnonzero(finite)[-1] < _WHOLE * values.size - 1:
        return End(np.nan, 0.0, np.nan)
    rise = float(known[-1] - known[int(0.8 * known.size)])
    return End(float(known[-1]), rise, float(known[-(known.size // 3) :].max()))


def labels_of(ends: Sequence[tuple[Series, Array, str]], log: bool) -> tuple[list[Label], float]:
    """Return the labels of lines from the lowest to the highest, and the range of the lines, in decades where ``log``.

    Parameters
    ----------
    ends : sequence of (Series, Array, str)
        Each line with its values (T,) as they are drawn, and its colour.
    log : bool
        Whether the axis is logarithmic.
    """

    def placed(values: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.log10(values.astype(float)) if log else values.astype(float)

    drawn = [placed(values) for one, values, _ in ends if not one.muted]
    known = np.concatenate([np.empty(0), *drawn])
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    span = max(high - low, 1e-12)
    lines = [(end_of(placed(values)), one, colour) for one, values, colour in ends]
    several = sum(bool(np.isfinite(values).any()) for _, values, _ in ends) > 1
    lines = sorted((line for line in lines if np.isfinite(line[0].height)), key=lambda line: line[0].height)
    groups: list[list[tuple[End, Series, str]]] = []
    for line in lines if several else ():  # one alone needs no word to tell it from others
        if not low - NEAR * span <= line[0].height <= high + NEAR * span:
            continue  # a reference that ends where the axis, which follows what was measured, does not reach
        if groups and line[0].height - groups[-1][-1][0].height < NEAR * span and line[2] == groups[-1][0][2]:
            groups[-1].append(line)
        else:
            groups.append([line])
    labels, top = list[Label](), -np.inf
    for group in groups:
        words = ", ".join(one.label for one in sorted((line[1] for line in group), key=lambda one: one.index or 0))
        height = float(np.mean([end.height for end, *_ in group]))
        below = group[0][0]._replace(height=height).has_room_below(low, high)
        height = height if below else max(height, *(end.highest for end, *_ in group if end.rise < 0.0), height)
        if height - below * _WORD * span < top:  # clear of the word under it
            height, below = max(height, top), False
        top = height if below else height + _WORD * span
        labels.append(Label(10.0**height if log else height, words, below))
    return labels, span


class LineLabels:
    """The labels on one plot.

    Attributes
    ----------
    source : ColumnDataSource
        ``y``, ``text``, and ``side`` and ``off``: on which side of its end a word stands, and how far.
    """

    def __init__(self, sources: Sources) -> None:
        self.source = sources.make({"y": [], "text": [], "side": [], "off": []})
        self._shown: list[Label] = []

    def show(self, ends: Sequence[tuple[Series, Array, str]], log: bool) -> None:
        """Show the labels of lines, as of ``labels_of``; nothing is sent where they hardly moved."""
        labels, span = labels_of(ends, log)
        if [one[1:] for one in labels] == [one[1:] for one in self._shown]:
            pairs = [(new.height, old.height) for new, old in zip(labels, self._shown, strict=True)]
            moves = [abs(np.log10(new / old) if log else new - old) for new, old in pairs]
            if max(moves, default=0.0) < _MOVED * span:
                return
        self._shown = labels
        y, text, below = ([one[part] for one in labels] for part in range(3))
        side, off = ["top" if one else "bottom" for one in below], [2 if one else -2 for one in below]
        self.source.data = {"y": y, "text": text, "side": side, "off": off}
