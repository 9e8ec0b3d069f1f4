"""Durations in words."""

from __future__ import annotations

import math

_UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "s"))


def duration(seconds: float) -> str:
    """Return a time in words, to two digits: ``"80 s"``, ``"10 minutes"``; unknown where it is not finite."""
    if not math.isfinite(seconds):
        return "an unknown time"
    # Two of a unit at least: 90 s, not 1.5 minutes.
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= 2.0 * size), (1e-3, "ms"))
    if unit == "ms" and seconds >= 1.0:
        size, unit = 1.0, "s"
    value = seconds / size
    return f"{value:.0f} {unit}" if value >= 10.0 else f"{float(f'{value:.2g}'):g} {unit}"
