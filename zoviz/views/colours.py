"""Colours: one per solver, the same on every plot and in every session; mid-tones that read in light and in dark."""

from __future__ import annotations

from zoviz.registry import discover
from zoviz.solvers.base import Solver

PALETTE = ("#0f86d0", "#d5691e", "#0a9e74", "#c26aa0", "#b48a00", "#7a6fd0", "#3aa6b9", "#b5533c")
"""After Okabe and Ito (2008), told apart with the common kinds of colour blindness; without yellow and black."""

REFERENCE = "#8a8f98"
EVENT = "#8a8f98"
TARGET = "#2e9e5b"
PHASE = "#a6762f"


def solver_colour(solver: Solver) -> str:
    """The solver's colour, by its place among all that the registry finds."""
    names = list(discover("zoviz.solvers", Solver))
    # The headline solvers come last in the alphabet: counting from the end keeps their colours when solvers are added.
    at = len(names) - 1 - names.index(type(solver).__name__) if type(solver).__name__ in names else len(names)
    return PALETTE[at % len(PALETTE)]


def shade(colour: str, step: int) -> str:
    """The ``step``-th variant of a colour, alternately lighter and darker, for further runs of one solver."""
    if step == 0:
        return colour
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    towards, amount = (255, 0.3 * ((step + 1) // 2)) if step % 2 else (0, 0.3 * (step // 2))
    amount = min(amount, 0.6)
    mixed = (round(channel + (towards - channel) * amount) for channel in (red, green, blue))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
