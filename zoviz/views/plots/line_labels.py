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
_MOVED = 0.02
"""Share of it from which on labels are sent anew: lines move a little with every look."""


class Label(NamedTuple):
    """A label: its height in the axis's numbers, words, colour, and whether it stands below its line, which falls."""

    height: float
    words: str
    colour: str
    below: bool


def end_of(values: Array) -> tuple[float, bool]:
    """Return the last finite one of values (T,), NaN where there is none, and whether they fell to it."""
    known = values[np.isfinite(values)]
    return (float(known[-1]), bool(known[-1] < known[int(0.8 * known.size)])) if known.size else (np.nan, False)


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

    known = np.concatenate([np.empty(0), *(placed(values) for _, values, _ in ends)])
    known = known[np.isfinite(known)]
    span = max(float(np.ptp(known)), 1e-12) if known.size else 1.0
    lines = [(*end_of(placed(values)), one, colour) for one, values, colour in ends]
    lines = sorted((line for line in lines if np.isfinite(line[0])), key=lambda line: line[0])
    groups: list[list[tuple[float, bool, Series, str]]] = []
    for line in lines if len(lines) > 1 else ():  # which needs no word to tell it from others
        if groups and line[0] - groups[-1][-1][0] < NEAR * span and line[3] == groups[-1][0][3]:
            groups[-1].append(line)
        else:
            groups.append([line])
    labels = []
    for group in groups:
        words = ", ".join(one.label for one in sorted((line[2] for line in group), key=lambda one: one.index or 0))
        height = float(np.mean([height for height, *_ in group]))
        labels.append(Label(10.0**height if log else height, words, group[0][3], group[0][1]))
    return labels, span


class LineLabels:
    """The labels on one plot.

    Attributes
    ----------
    source : ColumnDataSource
        ``y``, ``text``, ``colour``, and ``side`` and ``off``: on which side of its end a word stands, and how far.
    """

    def __init__(self, sources: Sources) -> None:
        self.source = sources.make({"y": [], "text": [], "colour": [], "side": [], "off": []})
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
        y, text, colour, below = ([one[part] for one in labels] for part in range(4))
        side, off = ["top" if one else "bottom" for one in below], [2 if one else -2 for one in below]
        self.source.data = {"y": y, "text": text, "colour": colour, "side": side, "off": off}
