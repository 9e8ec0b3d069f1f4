"""The radii and difference steps of other libraries' optimisers, from the box, the noise and the curvature."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.types import Constants
from zoviz.problems.base import Problem
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.step_rules import NEGLIGIBLE

_FIRST_SHARE, _LARGEST_SHARE = 0.1, 0.4
"""The first radius over the box's width, and the most that noise may raise it to: from the middle of the box a step of
that length stays inside (chosen by us)."""
_LAST_SHARE, _ROOM_TO_SHRINK = 1e-6, 0.5
"""The last radius over the width, and the most that noise may raise it to over the first (chosen by us)."""
_FREE_WIDTH = 2.0
"""The width where the box has none: that of [-1, 1]."""


class Local(ExternalSolver):
    """An external solver that starts from a radius or a step in units of x, and shrinks it."""

    __abstract = True

    initial_radius = Scale(
        None, softbounds=(1e-6, 1e3), label="Initial radius ρ₀", doc="Initial size of the steps, in units of x."
    )
    final_radius = Scale(
        None, softbounds=(1e-9, 1.0), label="Final radius ρ₁", doc="The library ends when its steps are this small."
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the initial and the final radius, from the box's width, the noise and the curvature (``radii``)."""
        first, last = radii(problem, constants)
        return {"initial_radius": first, "final_radius": last}


def radii(problem: Problem, constants: Constants) -> tuple[float, float]:
    """Return the first and last radius: a tenth of the box's width w, at least 2 r*; and 1e-6 w, at least r*.

    r* = 8^(1/4) sqrt(sigma / L) with L the larger curvature of f and h, and sigma the noise between two steps: also
    under the contract "common". The width is the median of the finite ones; the first radius is at most 0.4 of it,
    so that a step from the middle of the box stays inside, and the last half of the first, so that there is something
    to shrink.

    References
    ----------
    More and Wild (2012), Estimating derivatives of noisy simulations, for r*.
    """
    width, least = width_of(problem), difference_step(constants, noise_of(problem, constants))
    first = min(max(_FIRST_SHARE * width, 2.0 * least), _LARGEST_SHARE * width)
    return first, min(max(_LAST_SHARE * width, least), _ROOM_TO_SHRINK * first)


def width_of(problem: Problem) -> float:
    """Return the median finite width of the box, 2 where there is none."""
    box = Box.of(problem.domain)
    widths = box.upper - box.lower
    widths = widths[np.isfinite(widths) & (widths > 0)]
    return float(np.median(widths)) if widths.size else _FREE_WIDTH


def noise_of(problem: Problem, constants: Constants) -> float:
    """Return the standard deviation of a value's noise from one step to the next, "common" noise included."""
    return float(problem.noise_scale) if problem.contract == "common" else constants.noise


def difference_step(constants: Constants, noise: float) -> float:
    """Return 8^(1/4) sqrt(noise / L), the step of a forward difference that balances noise and curvature.

    References
    ----------
    More and Wild (2012), Estimating derivatives of noisy simulations.
    """
    curvature = max(constants.curvature, constants.constraint_curvature, NEGLIGIBLE)
    return float(8.0**0.25 * np.sqrt(noise / curvature))
