"""A drawing of the tension/compression spring: a section along its axis, to scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zoviz.core.types import Array
from zoviz.problems.engineering.spring import Spring
from zoviz.views.pictures.designs.base import DesignPicture, Limit, Part, disc

_PITCH = 2.0
"""Diameters of the wire from coil to coil, by convention: the problem has no pitch."""


class SpringSection(DesignPicture):
    """A drawing of the spring cut open along its axis: the wire of every coil twice, above and below."""

    title = "To scale; dashed: best known"
    kind = Spring

    @classmethod
    def parts(cls, x: Array) -> Sequence[Part]:
        """Return the wire, of diameter x1, of x3 coils of mean diameter x2; the part of a coil counts as one."""
        wire, coil, count = x
        ups = [disc(at, 0.5 * coil, 0.5 * wire) for at in _PITCH * wire * np.arange(np.ceil(count))]
        downs = [disc(at, -0.5 * coil, 0.5 * wire) for at in _PITCH * wire * (np.arange(np.ceil(count)) + 0.5)]
        return [*ups, *downs]

    @classmethod
    def limits(cls, x: Array) -> Sequence[Limit]:
        """Return deflection at the end, stress in the wire, surge frequency, and outer diameter."""
        wire, coil, count = x
        end = _PITCH * wire * float(np.ceil(count))
        return [
            Limit("deflection", end, 0.0),
            Limit("shear stress", 0.0, 0.5 * coil),
            Limit("surge frequency", 0.5 * end, 0.0),
            Limit("outer diameter", 0.5 * wire, -0.5 * (coil + wire)),
        ]
