"""A drawing of the welded beam from the side and from its end, to scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zoviz.core.types import Array
from zoviz.problems.engineering.welded_beam import LENGTH, WeldedBeam
from zoviz.views.pictures.designs.base import SUPPORT, WELD, DesignPicture, Limit, Part, rectangle

_SUPPORT = 3.0
"""Inches of the support that are drawn beyond the beam's end."""
_APART = 5.0
"""Inches between the two views."""


class BeamDrawing(DesignPicture):
    """A drawing of the beam: lapped onto its support and welded above and below; to the right its cross-section."""

    title = "To scale; dashed: best known"
    kind = WeldedBeam

    @classmethod
    def parts(cls, x: Array) -> Sequence[Part]:
        """Return support, beam and welds from the side, the load as an arrow, and both again in section."""
        weld, lap, height, width = x
        top = 0.5 * height
        end, middle = lap + LENGTH, _middle_of_section(x)
        arrow = np.array([0.0, 0.5, 0.15, 0.15, -0.15, -0.15, -0.5]), np.array([0.0, 1.0, 1.0, 3.0, 3.0, 1.0, 1.0])
        corner = np.array([0.0, weld, 0.0]), np.array([0.0, 0.0, weld])
        half = 0.5 * width
        return [
            rectangle(-_SUPPORT, -6.0, _SUPPORT + lap, 12.0, SUPPORT),
            rectangle(0.0, -top, end, height),
            rectangle(0.0, top, lap, weld, WELD),
            rectangle(0.0, -top - weld, lap, weld, WELD),
            Part(end + arrow[0], top + arrow[1], "#b3261e"),
            # The support behind the beam's section, the welds in the corners between both.
            rectangle(middle - half - 1.0, -6.0, 1.0, 12.0, SUPPORT),
            rectangle(middle - half, -top, width, height),
            Part(middle - half + corner[0], top + corner[1], WELD),
            Part(middle - half + corner[0], -top - corner[1], WELD),
        ]

    @classmethod
    def limits(cls, x: Array) -> Sequence[Limit]:
        """Return stresses, thickness of the weld, cost, deflection and buckling, each where it is greatest or read."""
        weld, lap, height, _ = x
        top, middle = 0.5 * height, _middle_of_section(x)
        return [
            Limit("shear in weld", 0.5 * lap, top + 0.5 * weld),
            Limit("bending stress", lap + 1.0, top),
            Limit("weld ≤ beam", middle, top),
            Limit("cost, weld and bar", lap + 0.5 * LENGTH, 0.0),
            Limit("weld ≥ 0.125", 0.5 * lap, -top - 0.5 * weld),
            Limit("deflection of tip", lap + LENGTH, -top),
            Limit("buckling", middle, 0.0),
        ]


def _middle_of_section(x: Array) -> float:
    """Return where the section of a beam x (4,) is drawn beside it."""
    return float(x[1] + LENGTH + _APART)
