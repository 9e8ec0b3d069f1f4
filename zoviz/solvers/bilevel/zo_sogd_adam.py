"""ZO-SOGD (Adam): the zeroth-order method with adaptive steps in every coordinate."""

from __future__ import annotations

from typing import Any, NamedTuple

import param

from zoviz.core.parameters import Scale
from zoviz.problems.bilevel import BilevelConstants
from zoviz.solvers.bilevel.base import COORDINATE_STEP, FIRST_WEIGHT, Triple
from zoviz.solvers.bilevel.zo_sogd import ZOSOGD
from zoviz.solvers.step_rules import mean_square, root_mean_square


class Moments(NamedTuple):
    """The running means of the three directions and of their squares."""

    mean: Triple
    square: Triple


class ZOSOGDAdam(ZOSOGD):
    r"""ZO-SOGD whose three recursive directions are preconditioned as in Adam.

    .. math::
        m_t = \beta_1 m_{t-1} + (1 - \beta_1)\,d_t, \quad s_t = \beta_2 s_{t-1} + (1 - \beta_2)\,d_t^2, \qquad
        d_t \leftarrow \frac{m_t / (1 - \beta_1^t)}{\sqrt{s_t / (1 - \beta_2^t)} + \epsilon}

    for each of y, v and x; otherwise ``ZOSOGD``.

    Notes
    -----
    The paper says no more than "adaptive stepsize, similar to that of (Kingma & Ba, 2014)": the above is that.

    References
    ----------
    Paper sogd, §5.1; Kingma and Ba (2014), Adam.
    """

    title = "ZO-SOGD (Adam)"
    live = (*ZOSOGD.live, "mean_decay", "square_decay", "floor")

    mean_decay = param.Number(
        default=0.9, bounds=(0, 0.9999), label="Mean decay β₁", doc="Decay of the mean direction."
    )
    square_decay = param.Number(
        default=0.999, bounds=(0, 0.999999), label="Square decay β₂", doc="Decay of the mean squared direction."
    )
    floor = Scale(1e-8, softbounds=(1e-10, 1e-2), label="Floor ε", doc="Number added to the root mean square.")

    def from_constants(self, problem: Any, constants: BilevelConstants) -> dict[str, Any]:
        """Return steps of 0.02 in y, v and x: each coordinate moves by about so much in a round."""
        values = super().from_constants(problem, constants)
        steps = dict.fromkeys(("inner_step", "system_step", "outer_step"), COORDINATE_STEP)
        alpha = self.outer_step or steps["outer_step"]
        offset = (self.scale(problem.domain.n, problem.inner_domain.n) / alpha) ** 3
        names = ("inner_factor", "system_factor", "outer_factor")
        return values | steps | {"offset": offset} | dict.fromkeys(names, FIRST_WEIGHT / alpha**self.weight_power)

    def remember(self, nothing: Triple) -> Moments:
        """Return the running means at the start, all 0."""
        return Moments(nothing, nothing)

    def improve(self, directions: Triple, moments: Moments, t: int) -> tuple[Triple, Moments]:
        """Return Adam's directions, each of order 1 in every coordinate."""
        first, second = self.mean_decay, self.square_decay
        mean = Triple(*(first * m + (1.0 - first) * d for m, d in zip(moments.mean, directions, strict=True)))
        square = Triple(*(mean_square(s, d, second) for s, d in zip(moments.square, directions, strict=True)))
        along = (
            m / (1.0 - first**t) / root_mean_square(s, second, t, self.floor) for m, s in zip(mean, square, strict=True)
        )
        return Triple(*along), Moments(mean, square)
