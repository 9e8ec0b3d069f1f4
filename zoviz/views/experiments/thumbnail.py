"""A small drawing of an experiment's first panel, without axes, as SVG."""

from __future__ import annotations

import itertools

import numpy as np

from zoviz.core.types import Array
from zoviz.studies.experiment import Panel, array
from zoviz.views.common.colours import PALETTE, REFERENCE

WIDTH, HEIGHT = 260, 84
"""Of the drawing, in its own units."""
_POINTS = 40
"""Of a line, at most."""


def thumbnail(panel: Panel) -> str:
    """Return the lines of a panel as SVG, each in the colour that it has in the figure."""
    lines = [(placed(x, panel.log_x), placed(y, panel.log_y)) for x, y in panel.lines.values()]
    across, up = (spread(np.concatenate([line[axis] for line in lines])) for axis in (0, 1))
    parts = []
    for (x, y), colour in zip(lines, inks(panel), strict=True):
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        rows = known[np.unique(np.linspace(0, known.size - 1, min(known.size, _POINTS)).astype(int))]
        points = zip(WIDTH * share(x[rows], across), HEIGHT * (1.0 - share(y[rows], up)), strict=True)
        text = " ".join(f"{left:.0f},{top:.0f}" for left, top in points)
        parts.append(f"<polyline points='{text}' stroke='{colour}'/>")
    box = f"viewBox='-4 -4 {WIDTH + 8} {HEIGHT + 8}' preserveAspectRatio='none'"
    return f"<svg {box} aria-hidden='true'>{''.join(parts)}</svg>"


def inks(panel: Panel) -> list[str]:
    """Return the colour of each line of a panel; what is claimed is no measurement, and is grey."""
    measured = [not panel.parts or bool(panel.parts.get(name)) for name in panel.lines]
    return [colour if own else REFERENCE for own, colour in zip(measured, itertools.cycle(PALETTE), strict=False)]


def placed(values: list[float], log: bool) -> Array:
    """Return values (T,) as they stand on an axis, NaN where they have no place on it."""
    out = array(values)
    if not log:
        return out
    with np.errstate(all="ignore"):
        return np.where(out > 0.0, np.log10(out), np.nan)


def spread(values: Array) -> tuple[float, float]:
    """Return the ends of the finite of values (T,); 0 and 1 without any."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def share(values: Array, ends: tuple[float, float]) -> Array:
    """Return where values (T,) are between two ends, from 0 to 1; in the middle where these are one."""
    low, high = ends
    return (values - low) / (high - low) if high > low else np.full(values.shape, 0.5)
