"""The methods of paper zoeg without their extra-gradient: one step along the field at the iterate, half the calls."""

from __future__ import annotations

from typing import ClassVar

from zoviz.core.streams import Streams
from zoviz.oracle import ProblemOracle
from zoviz.solvers.saddle.extragradient import ExtraGradient, ExtraGradientState, Point
from zoviz.solvers.saddle.zobceg import ZOBCEG
from zoviz.solvers.saddle.zoceg import ZOCEG
from zoviz.solvers.saddle.zoeg import ZOEG
from zoviz.solvers.theory import Info


class _SingleStep(ExtraGradient):
    """Descent in x and ascent in y in place of the two steps of ``ExtraGradient``, with the same field and average.

    x and y move together, or y follows the value at the new x, which is paid for.
    """

    __abstract = True

    alternating: ClassVar[bool] = False

    def step(
        self, state: ExtraGradientState, oracle: ProblemOracle, streams: Streams
    ) -> tuple[ExtraGradientState, Info]:
        """Take one step from the iterate."""
        x, y, value, average, k, _, noisy, _, share = state
        eta, eta_y = self.steps_at(k)
        safe, radius = self.guarded(state, oracle), self.radius(k, bool(noisy))
        field = self.field(Point(x, y, value), radius, safe, oracle, streams)
        x_next = safe.projected_step(x, eta, field.x)
        oracle.resample()
        value_next = oracle(x_next)
        slope = value_next.h if self.alternating else field.y
        y_next = safe.bounded(y, y + eta_y * slope)
        average = average + (x_next - average) / (k + 1.0)
        moved = ExtraGradientState(x_next, y_next, value_next, average, k + 1, x_next, noisy, safe.state, share)
        return moved, safe.info(field.variance, radius)


class ZOEGSingle(_SingleStep, ZOEG):
    """ZOEG without the extra-gradient."""

    __abstract = True  # keeps it out of the registry


class ZOCEGSingle(_SingleStep, ZOCEG):
    """ZOCEG without the extra-gradient."""

    __abstract = True


class ZOBCEGSingle(_SingleStep, ZOBCEG):
    """ZOBCEG without the extra-gradient."""

    __abstract = True


class ZOCEGAlternating(ZOCEGSingle):
    """ZOCEG without the extra-gradient, y after x."""

    __abstract = True

    alternating = True


class ZOBCEGAlternating(ZOBCEGSingle):
    """ZOBCEG without the extra-gradient, y after x."""

    __abstract = True

    alternating = True
