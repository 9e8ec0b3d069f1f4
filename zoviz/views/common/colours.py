"""Colours: one for each solver, unless it is like another run's beside it, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array
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
_UNLIKE = 0.12
"""A distance in Oklab, lightness counted a quarter, from which on thin lines are told apart at a glance."""
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_FROM_CONES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
REFERENCE = "#8a8f98"
EVENT = "#8a8f98"
TARGET = "#2e9e5b"
PHASE = "#a6762f"
PRINTED = "#e02424"
"""Of numbers that a paper prints."""


def solver_colour(solver: Solver) -> str:
    """Return the solver's colour, by its place among all that the registry finds."""
    names = list(discover("zoviz.solvers", Solver))
    # The headline solvers come last in the alphabet: counting from the end keeps their colours when solvers are added.
    at = len(names) - 1 - names.index(type(solver).__name__) if type(solver).__name__ in names else len(names)
    return PALETTE[at % len(PALETTE)]


def free_colour(solver: Solver, used: Collection[str]) -> str:
    """Return a colour for one more run: the solver's own, or the first of the palette unlike all that are taken.

    Where each of the palette is like some of those, the one farthest from them; then shades of it.

    Parameters
    ----------
    solver : Solver
    used : collection of str
        Colours that are taken.
    """
    own = solver_colour(solver)

    def distance(colour: str) -> float:
        return min((float(np.linalg.norm(_oklab(colour) - _oklab(other))) for other in used), default=np.inf)

    for colour in (own, *PALETTE):
        if distance(colour) >= _UNLIKE:
            return colour
    shades = [shade(colour, step) for step in (1, 2) for colour in PALETTE]
    free = [colour for colour in PALETTE if colour not in used] or [colour for colour in shades if colour not in used]
    return max(free, key=distance) if free else own


def _oklab(colour: str) -> Array:
    """Return a colour's lightness, a quarter of it, and its places from green to red and from blue to yellow, (3,).

    Of Ottosson (2020), A perceptual color space for image processing.
    """
    red_green_blue = np.array([int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    linear = np.where(red_green_blue <= 0.04045, red_green_blue / 12.92, ((red_green_blue + 0.055) / 1.055) ** 2.4)
    return np.array([0.25, 1.0, 1.0]) * (_FROM_CONES @ np.cbrt(_TO_CONES @ linear))


def shade(colour: str, step: int) -> str:
    """Return the ``step``-th variant of a colour, alternately lighter and darker."""
    if step == 0:
        return colour
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    towards, amount = (255, 0.3 * ((step + 1) // 2)) if step % 2 else (0, 0.3 * (step // 2))
    amount = min(amount, 0.6)
    mixed = (round(channel + (towards - channel) * amount) for channel in (red, green, blue))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
