"""Additive noise on a problem's values: its contract with the oracle, its distribution, its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import param

from zoviz.core.configurable import Configurable
from zoviz.core.streams import Streams
from zoviz.core.types import Array

UNKNOWN = "unknown"
"""The value of ``noise`` with which a run finds out along the way whether values are noisy."""


class Noisy(Configurable):
    """A mixin with the parameters of additive noise on f and every h: contract, distribution, scale."""

    __abstract = True

    noise: param.Selector[str] = param.Selector(
        default="deterministic",
        objects=["deterministic", "common", "independent"],
        label="Noise of the values",
        doc="deterministic: exact values. common: all points of one iteration share their noise. independent: "
        "every call has its own noise.",
    )
    noise_distribution: param.Selector[str] = param.Selector(
        default="normal", objects=["normal", "student_t"], label="Noise law", doc="Law of the additive noise."
    )
    noise_scale = param.Number(
        default=1.0, bounds=(0, 1e9), label="Noise scale σ", doc="Factor of the additive noise on f and every h."
    )
    noise_constraint_scale = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, 1e9),
        label="Noise scale of h",
        doc="Factor of the additive noise on every h, in the units of h. Auto: that of f.",
    )
    noise_degrees = param.Number(
        default=5.0, bounds=(2.01, 1e6), label="Student-t degrees", doc="Degrees of freedom of the Student-t noise."
    )

    @property
    def contract(self) -> str:
        """The contract that an oracle begins with: ``noise``, but "deterministic" while that is unknown."""
        return "deterministic" if self.noise == UNKNOWN else str(self.noise)

    if TYPE_CHECKING:  # to be read only: a property, a parameter or an attribute of a subclass

        @property
        def m(self) -> int:
            """Number of constraints h."""

    @property
    def noise_scales(self) -> Array:
        """The factors (m + 1,) of the additive noise on f and every h."""
        of_h = self.noise_scale if self.noise_constraint_scale is None else self.noise_constraint_scale
        return np.array([self.noise_scale] + [of_h] * self.m, dtype=float)

    @property
    def noise_variances(self) -> Array:
        """The variances (m + 1,) of the additive noise on f and every h; 0 where pairs of values share it."""
        if self.noise != "independent":
            return np.zeros(self.m + 1)
        heavy = self.noise_degrees / (self.noise_degrees - 2.0) if self.noise_distribution == "student_t" else 1.0
        return np.square(self.noise_scales) * heavy

    def lagrangian_noise(self, dual: Array) -> Array:
        """Return the variance (R,) of the additive noise on f + <y, h>, for y (R, m)."""
        if self.noise != "independent":
            return np.zeros(len(dual))
        variances = self.noise_variances
        return variances[0] + np.square(dual) @ variances[1:]

    def draw_noise(self, streams: Streams, shape: tuple[int, ...]) -> Array:
        """Draw noise of unit factors on f and every h at the points of a batch, (R, *shape, m + 1)."""
        if self.noise_distribution == "student_t":
            return streams.student_t("noise", self.noise_degrees, *shape, self.m + 1)
        return streams.normal("noise", *shape, self.m + 1)
