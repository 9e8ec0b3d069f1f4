"""What each of several lines of a run is, written beside its end on a plot: there is no legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.views.plots.line_data import Series
from zoviz.views.plots.packed_source import Sources

LETTER = 0.02
"""Width of a label's letter, as a share of a narrow plot's frame."""
NEAR = 0.07
"""Share of the range of the lines within which their ends have one label."""
_WORD = 0.09
"""Share of it that the letters of a word are high on a small plot."""
_ROOM = 0.03
"""Share of it by which an axis reaches further than its lines."""
_OFFSETS = _WORD * np.arange(0.0, 4.2, 0.2)
"""How far from a line's end the middle of its word may stand, as shares of the range: of more nobody would see whose
it is."""
_WHOLE = 0.95
"""Share of the rows up to which a line has to go for its end to be named."""
_MOVED = 0.02
"""Share of the range from which on labels are sent anew: lines move a little with every refresh."""


class Path(NamedTuple):
    """A line as it is drawn: what it is of, its colour, places (T,) along the axis as shares, and values (T,).

    ``reach`` has the ends of its band and of itself.
    """

    series: Series
    colour: str
    places: Array
    values: Array
    reach: tuple[float, float]


class Label(NamedTuple):
    """A label: where its words end along the axis, the height of their middle in the axis's numbers, and the words."""

    place: float
    height: float
    words: str


class _End(NamedTuple):
    """The end of a line: where it stands along the axis, its height, and the rise of the line to it."""

    path: Path
    place: float
    height: float
    rise: float


def _end_of(path: Path) -> _End | None:
    """Return the end of a line; None where it stops before the others, as one that has come to 0."""
    finite = np.flatnonzero(np.isfinite(path.values))
    if not finite.size or finite[-1] < _WHOLE * path.values.size - 1:
        return None
    last = finite[-1]
    rise = path.values[last] - path.values[finite[int(0.8 * finite.size)]]
    return _End(path, float(path.places[last]), float(path.values[last]), float(rise))


def _grouped(ends: Sequence[_End], span: float) -> list[list[_End]]:
    """Return ends from the lowest to the highest, those together that are of one colour and near each other."""
    groups: list[list[_End]] = []
    for end in sorted(ends, key=lambda end: end.height):
        near = groups and end.height - groups[-1][-1].height < NEAR * span
        if near and end.path.colour == groups[-1][0].path.colour:
            groups[-1].append(end)
        else:
            groups.append([end])
    return groups


class Layout:
    """The places of labels on one plot.

    Parameters
    ----------
    lines, others : sequence of Path
        The lines that are named, and others that no word may stand on.
    log : bool
        Whether the vertical axis is logarithmic.
    floor : float, optional
        The end of a strip of zeros below it.
    before : mapping of str to float, optional
        The ``offsets`` of the last time.

    Attributes
    ----------
    labels : list of Label
        From the lowest to the highest; none where one line is alone.
    span : float
        The range of the lines with their bands and zeros, in decades where ``log``.
    """

    def __init__(
        self,
        lines: Sequence[Path],
        others: Sequence[Path],
        log: bool,
        floor: float | None = None,
        before: Mapping[str, float] | None = None,
    ) -> None:
        with np.errstate(all="ignore"):
            paths = [one._replace(values=np.log10(one.values) if log else one.values) for one in (*lines, *others)]
            known = np.array([end for one in (*lines, *others) if not one.series.muted for end in one.reach])
            known = np.log10(known) if log else known
        known = known[np.isfinite(known)]
        self._low, self._high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        strip = 0.0 if floor is None else self._low - float(np.log10(floor))
        self.span = max(self._high - self._low + strip, 1e-12)
        self.offsets: dict[str, float] = {}
        """How far each word stands from its lines' ends, as shares of the range."""
        self.labels: list[Label] = []
        self._paths, self._taken = paths, list[tuple[float, float, float]]()  # from, to, middle
        own = paths[: len(lines)]
        ends = [end for end in map(_end_of, own) if end is not None and self._in_sight(end.height)]
        several = sum(bool(np.isfinite(one.values).any()) for one in own) > 1
        groups = _grouped(ends, self.span) if several else []  # one alone needs no word to tell it from others
        for group in groups:
            rest = [end.path for other in groups if other is not group for end in other]
            place, height, words = self._put(group, rest, {} if before is None else before)
            self.labels.append(Label(place, 10.0**height if log else height, words))

    def _in_sight(self, height: float) -> bool:
        """Return whether a reference ends where the axis, which follows what was measured, reaches."""
        return self._low - NEAR * self.span <= height <= self._high + NEAR * self.span

    def _put(
        self, group: Sequence[_End], rest: Sequence[Path], before: Mapping[str, float]
    ) -> tuple[float, float, str]:
        """Return where the word of some ends stands, which is nearer to their lines than to the rest.

        Else as near as can be without standing on other words or on lines, if there is such a place.
        """
        words = ", ".join(end.path.series.label for end in sorted(group, key=lambda end: end.path.series.index or 0))
        width = LETTER * len(words)
        place = min(max(end.place for end in group) + width + LETTER, 1.0)
        height = float(np.mean([end.height for end in group]))
        first = -1.0 if group[0].rise < 0.0 else 1.0
        offsets = np.stack([first * _OFFSETS, -first * _OFFSETS], axis=1).ravel()
        apart = np.abs(offsets)
        if words in before:  # it stays while no place is nearer by a word's height: one that jumps cannot be read
            offsets, apart = np.append(before[words], offsets), np.append(abs(before[words]) - _WORD, apart)
        middles = height + self.span * offsets
        half = 0.5 * _WORD * self.span
        room = _ROOM * (self._high - self._low)
        inside = (middles - half >= self._low - room) & (middles + half <= self._high + room)
        own, other = (_away(middles, paths, place - width, place) for paths in ([end.path for end in group], rest))
        low, high = _between(self._paths, place - width, place)
        on_lines = ((high > middles[:, None] - half) & (low < middles[:, None] + half)).sum(axis=1)
        on_words = np.zeros(middles.size)
        for begin, end, middle in self._taken:
            if begin < place and end > place - width:
                on_words += np.abs(middles - middle) < 2.0 * half
        best = int(np.lexsort((apart, on_lines, on_words, own > other, ~inside))[0])  # a stable order
        self._taken.append((place - width, place, float(middles[best])))
        self.offsets[words] = float(offsets[best])
        return place, float(middles[best]), words


def _between(paths: Sequence[Path], begin: float, end: float) -> tuple[Array, Array]:
    """Return the lower and the upper ends of all parts of lines between two places along the axis."""
    lows, highs = [np.empty(0)], [np.empty(0)]
    for one in paths:
        places, values = one.places, one.values
        if values.size < 2:
            continue
        here = (places[1:] > begin) & (places[:-1] < end) & np.isfinite(values[1:]) & np.isfinite(values[:-1])
        lows.append(np.minimum(values[1:], values[:-1])[here])
        highs.append(np.maximum(values[1:], values[:-1])[here])
    return np.concatenate(lows), np.concatenate(highs)


def _away(middles: Array, paths: Sequence[Path], begin: float, end: float) -> Array:
    """Return how far heights (H,) are from the nearest of lines between two places; where none is, infinity."""
    low, high = _between(paths, begin, end)
    ends = np.array([end.height for end in map(_end_of, paths) if end is not None and end.place <= begin])
    low, high = np.append(low, ends), np.append(high, ends)  # of lines that end before
    apart = np.maximum(low - middles[:, None], middles[:, None] - high)
    return np.maximum(apart, 0.0).min(axis=1, initial=np.inf)


class LineLabels:
    """The labels on one plot.

    Attributes
    ----------
    source : ColumnDataSource
        ``x``, ``y`` and ``text``, and ``side`` and ``off``: which end of a word stands there, and how many pixels off.
    """

    def __init__(self, sources: Sources) -> None:
        self.source = sources.make({name: [] for name in ("x", "y", "text", "side", "off")})
        self._shown: list[Label] = []
        self._offsets: dict[str, float] = {}

    def show(self, lines: Sequence[Path], others: Sequence[Path], log: bool, floor: float | None = None) -> None:
        """Show the labels of lines, clear of others; nothing is sent where they hardly moved."""
        layout = Layout(lines, others, log, floor, self._offsets)
        labels, self._offsets = layout.labels, layout.offsets
        if [one.words for one in labels] == [one.words for one in self._shown]:
            pairs = [(new.height, old.height) for new, old in zip(labels, self._shown, strict=True)]
            moves = [abs(np.log10(new / old) if log else new - old) / layout.span for new, old in pairs]
            moves += [abs(new.place - old.place) for new, old in zip(labels, self._shown, strict=True)]
            if max(moves, default=0.0) < _MOVED:
                return
        self._shown = labels
        self.source.data = {
            # From its line on, however wide the frame is; at the right edge up to it.
            "x": [one.place if one.place == 1.0 else one.place - LETTER * (len(one.words) + 1) for one in labels],
            "y": [one.height for one in labels],
            "text": [one.words for one in labels],
            "side": ["right" if one.place == 1.0 else "left" for one in labels],
            "off": [-3 if one.place == 1.0 else 3 for one in labels],
        }
