"""An axis of values over replicas: a few plain numbers as ticks, and below a break the place of 0."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from bokeh.models.annotations import Span

from zoviz.core.types import Array
from zoviz.views.common.colours import REFERENCE

MOST = 5
"""Steps between ticks, at most."""
DECADES = 1.5
"""Powers of ten that a range must have for ticks at powers; a shorter one has round numbers."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class ValueAxis(NamedTuple):
    """The range and the ticks of an axis of values.

    Attributes
    ----------
    logarithmic : bool
        Whether values stand at their powers of ten.
    ends : tuple of float
        Of the range.
    ticks : dict of float to str
        Labels by place.
    zero, gap : float
        The places of 0 and of the break above it, of a logarithmic axis with such values; else NaN.
    """

    logarithmic: bool
    ends: tuple[float, float]
    ticks: dict[float, str]
    zero: float = np.nan
    gap: float = np.nan

    def places(self, values: Array) -> Array:
        """Return where finite values (k,) stand."""
        if not self.logarithmic:
            return values
        positive = values > 0.0
        return np.where(positive, np.log10(values, where=positive, out=np.zeros_like(values)), self.zero)

    def mark(self, axis: Any, span: Span) -> None:
        """Put the ticks on a figure's axis, which has a ``FixedTicker``, and a line at the break."""
        axis.ticker.ticks, axis.major_label_overrides = list(self.ticks), self.ticks
        span.update(location=self.gap, visible=bool(np.isfinite(self.gap)))


def break_line(dimension: Literal["width", "height"]) -> Span:
    """Return the line at an axis's break, hidden until there is one."""
    return Span(location=np.nan, dimension=dimension, line_color=REFERENCE, line_dash=[2, 3], visible=False)


def value_axis(values: Array, logarithmic: bool) -> ValueAxis:
    """Return the axis of values (k,), of which those that are not finite have no place."""
    known = values[np.isfinite(values)]
    has_zero = logarithmic and bool((known <= 0.0).any())
    known = np.log10(known[known > 0.0]) if logarithmic else known
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    ticks = {}
    if known.size:
        ticks = _powers(low, high) if logarithmic and high - low >= DECADES else _rounds(low, high, logarithmic)
    low, high = min([low, *ticks]), max([high, *ticks])
    margin = 0.06 * (high - low) or 0.5
    if not has_zero:
        return ValueAxis(logarithmic, (low - margin, high + margin), ticks)
    gap, zero = low - 2.0 * margin, low - 4.0 * margin
    return ValueAxis(logarithmic, (zero - margin, high + margin), {zero: "0"} | ticks, zero, gap)


def _powers(low: float, high: float) -> dict[float, str]:
    """Return ticks at powers of ten around a range of exponents."""
    first, last = int(np.floor(low)), int(np.ceil(high))
    step = -(-(last - first) // MOST)
    exponents = range(last - (last - first) // step * step, last + 1, step)
    return {float(at): f"10{str(at).translate(_RAISED)}" for at in exponents}


def _rounds(low: float, high: float, logarithmic: bool) -> dict[float, str]:
    """Return ticks at round numbers within a range, each with as many digits as tell it from the next."""
    first, last = (10.0**low, 10.0**high) if logarithmic else (low, high)
    if not last - first > 1e-9 * max(abs(first), abs(last)):
        return {low: f"{first:.4g}"}
    size = 10.0 ** np.floor(np.log10((last - first) / MOST))
    step = size * next(one for one in (1, 2, 5, 10) if one * size >= (last - first) / MOST)
    numbers = step * np.arange(np.ceil(first / step), np.floor(last / step) + 1)
    if len(numbers) < 2:
        numbers = np.array([first, last])
    largest = float(np.abs(numbers).max())
    digits = max(1, int(np.floor(np.log10(largest)) - np.floor(np.log10(step))) + 1)
    places = np.log10(numbers) if logarithmic else numbers
    return {float(at): _text(float(number), digits, largest) for at, number in zip(places, numbers, strict=True)}


def _text(number: float, digits: int, largest: float) -> str:
    if number and not 1e-4 <= largest < 1e6:
        return f"{number:.{digits - 1}e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    decimals = max(0, digits - 1 - int(np.floor(np.log10(largest)))) if largest else 0
    return f"{number:.{decimals}f}"
