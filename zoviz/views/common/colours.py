"""Colours: one for each solver, the same on every plot and in every session, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Collection

from zoviz.core.registry import discover
from zoviz.solvers.base import Solver

PALETTE = (
    *("#0f86d0", "#d5691e", "#0a9e74", "#c26aa0", "#b48a00", "#7a6fd0", "#3aa6b9", "#b5533c"),
    *("#694b78", "#6900ff", "#9600b4", "#c396ff", "#d2a50f", "#a51e1e", "#87b487", "#f01eff"),
)
"""The first eight after Okabe and Ito (2008), without yellow and black; each further one as far as possible from all
before it to normal sight and with protanopia, deuteranopia and tritanopia (at least 0.07 in Oklab), and with a contrast
of at least 2.3 to white and 2.5 to the dark page."""

PALE = tuple(
    f"#{int(238 - 150 * i / 47):02x}{int(243 - 110 * i / 47):02x}{int(249 - 70 * i / 47):02x}" for i in range(48)
)
"""Blues of a picture's plane, from low to high."""
EDGE = "#5b2333"
"""Of the feasible part: dark enough on the palest blue, and on the grey outside."""
REFERENCE = "#8a8f98"
EVENT = "#8a8f98"
TARGET = "#2e9e5b"
PHASE = "#a6762f"


def solver_colour(solver: Solver) -> str:
    """Return the solver's colour, by its place among all that the registry finds."""
    names = list(discover("zoviz.solvers", Solver))
    # The headline solvers come last in the alphabet: counting from the end keeps their colours when solvers are added.
    at = len(names) - 1 - names.index(type(solver).__name__) if type(solver).__name__ in names else len(names)
    return PALETTE[at % len(PALETTE)]


def free_colour(solver: Solver, used: Collection[str]) -> str:
    """Return a colour for one more run: the solver's own where it is free, else the first of the palette that is.

    Parameters
    ----------
    solver : Solver
    used : collection of str
        Colours that are taken.
    """
    own = solver_colour(solver)
    candidates = [own, *PALETTE, *(shade(colour, step) for step in (1, 2) for colour in PALETTE)]
    return next((colour for colour in candidates if colour not in used), own)


def shade(colour: str, step: int) -> str:
    """Return the ``step``-th variant of a colour, alternately lighter and darker."""
    if step == 0:
        return colour
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    towards, amount = (255, 0.3 * ((step + 1) // 2)) if step % 2 else (0, 0.3 * (step // 2))
    amount = min(amount, 0.6)
    mixed = (round(channel + (towards - channel) * amount) for channel in (red, green, blue))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
