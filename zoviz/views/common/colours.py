"""Colours of runs and of what stands beside them, readable on light and on dark pages."""

from __future__ import annotations

from zoviz.diagnosis.verdict import Word

PALETTE = ("#1e6fbe", "#dd7c0a", "#5f9f90", "#af348c", "#bb54f5", "#94685c", "#9d89d0", "#dc1c15")
"""Of the runs in turn, found by a search: a contrast of at least 3 to white and to the dark page, and a distance in
Oklab, lightness counted 0.8, of 0.139 to normal sight and 0.08 with protanopia, deuteranopia or tritanopia."""
DASHES: tuple[list[int], ...] = ([], [9, 3], [2, 3], [9, 3, 2, 3], [16, 4], [4, 4])
"""Of curves in turn, which are told apart without colours, too."""
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
PRINTED = "#e02424"
"""Of numbers that a paper prints."""

RED, AMBER, GREEN, GREY = "#b3261e", "#8a5a00", "#1b7a3d", "#5f6368"
"""Behind white words: each with a contrast of at least 4.5 to it."""
TONES = dict.fromkeys(Word, AMBER)
"""Of verdicts: green for nothing but what goes well."""
TONES |= dict.fromkeys((Word.SOLVED, Word.CONVERGING, Word.NOISE_FLOOR), GREEN)
TONES |= dict.fromkeys((Word.EARLY, Word.SETTLED, Word.BUDGET_ENDED), GREY)
TONES |= dict.fromkeys((Word.DIVERGING, Word.FAILED), RED)


def ink_on(colour: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    light = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in light)
    return "#ffffff" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 else "#000000"
