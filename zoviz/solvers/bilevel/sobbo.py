"""SOBBO: stochastic online Bregman bilevel optimisation."""

from __future__ import annotations

from typing import Any

import param

from zoviz.core.parameters import Scale
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import BilevelConstants
from zoviz.solvers.bilevel.base import COORDINATE_STEP
from zoviz.solvers.bilevel.sobow import SOBOW
from zoviz.solvers.step_rules import mean_square, root_mean_square


class SOBBO(SOBOW):
    r"""SOBOW on mini-batches with a Bregman proximal step of the leader.

    .. math::
        x_{t+1} = \arg\min_{x \in X}\; \langle\hat F_t, x\rangle + \tfrac{1}{2\alpha}\|x - x_t\|_{H_t}^2, \quad
        H_t = \mathrm{diag}(\sqrt{u_t} + \epsilon), \quad u_t = 0.999\,u_{t-1} + 0.001\,\hat F_t^2

    Follower, system and window are those of ``SOBOW``. ``geometry="euclidean"`` has H = I, which is SOBOW itself. On a
    box the step is the plain one, clipped.

    Notes
    -----
    The paper leaves the distance generating function open; the adaptive one here, and its constants, are ours. u is
    corrected for its start at 0, as Adam's is. X has to be a box for the adaptive geometry.

    References
    ----------
    Bohne et al. (2024), arXiv 2409.10470.
    """

    title = "SOBBO"
    live = (*SOBOW.live, "square_decay", "floor")

    geometry: param.Selector[str] = param.Selector(
        default="adaptive", objects=["adaptive", "euclidean"], label="Geometry", doc="Geometry of the step of x."
    )
    square_decay = param.Number(
        default=0.999, bounds=(0, 0.999999), label="Square decay", doc="Decay of the mean square u."
    )
    floor = Scale(1e-8, softbounds=(1e-10, 1e-2), label="Floor ε", doc="Number added to the root mean square.")

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return why SOBBO cannot run on a problem: as for SOBOW, and box domains only in the adaptive geometry."""
        if self.geometry == "adaptive" and not problem.domain.separable:
            kind = type(problem.domain).__name__
            return f"SOBBO's adaptive geometry projects on a box only, not on a {kind}: choose euclidean."
        return super().unsupported_reason(problem)

    def from_constants(self, problem: Problem, constants: BilevelConstants) -> dict[str, Any]:
        """Return steps as the other methods do, but 0.02 for x in the adaptive geometry: about a coordinate's move."""
        values = super().from_constants(problem, constants)
        return values | {"outer_step": COORDINATE_STEP} if self.geometry == "adaptive" else values

    def along(self, mean: Array, square: Array, t: int) -> tuple[Array, Array]:
        """Return the window's mean (R, n), over Adam's scales in the adaptive geometry, and the new mean square."""
        if self.geometry == "euclidean":
            return mean, square
        square = mean_square(square, mean, self.square_decay)
        return mean / root_mean_square(square, self.square_decay, t, self.floor), square
