"""A drawing of the pressure vessel: a section along its axis, to scale."""

from __future__ import annotations

from collections.abc import Sequence

from zoviz.core.types import Array
from zoviz.problems.engineering.pressure_vessel import PressureVessel
from zoviz.views.pictures.designs.base import INSIDE, DesignPicture, Limit, Part, half_ring, rectangle


class VesselSection(DesignPicture):
    """A drawing of the vessel cut open along its axis: shell, heads, and what it holds."""

    title = "To scale; dashed: best known"
    kind = PressureVessel

    @classmethod
    def parts(cls, x: Array) -> Sequence[Part]:
        """Return the inside, the shell's walls and the heads: thicknesses x1 and x2, inner radius x3, length x4."""
        shell, head, radius, length = x
        inside = [half_ring(0.0, 0.0, radius, -1, INSIDE), half_ring(length, 0.0, radius, 1, INSIDE)]
        return [
            rectangle(0.0, -radius, length, 2.0 * radius, INSIDE),
            *inside,
            rectangle(0.0, radius, length, shell),
            rectangle(0.0, -radius - shell, length, shell),
            half_ring(0.0, radius, radius + head, -1),
            half_ring(length, radius, radius + head, 1),
        ]

    @classmethod
    def limits(cls, x: Array) -> Sequence[Limit]:
        """Return least thicknesses of shell and heads, least volume, and greatest length."""
        shell, head, radius, length = x
        return [
            Limit("shell thickness", 0.5 * length, radius + 0.5 * shell),
            Limit("head thickness", length + radius + 0.5 * head, 0.0),
            Limit("volume", 0.5 * length, 0.0),
            Limit("length", 0.0, -radius - shell),
        ]
