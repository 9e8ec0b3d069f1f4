"""ZOCEG: zeroth-order extra-gradient with coordinate differences."""

from __future__ import annotations

from zoviz.core.parameters import Part
from zoviz.core.streams import Streams
from zoviz.estimators import Coordinate, GradientEstimator
from zoviz.estimators.known_part import estimated
from zoviz.oracle import ProblemOracle
from zoviz.solvers import theorem_steps
from zoviz.solvers.saddle.extragradient import ExtraGradient, Field, Point
from zoviz.solvers.saddle.safeguards import Safeguards


class ZOCEG(ExtraGradient):
    r"""An extra-gradient method whose field comes from differences along every coordinate of x.

    .. math:: \hat F_x = \big([\varphi(x + r e_i, y) - \varphi(x, y)] / r\big)_{i \le n}, \qquad \hat F_y = -h(x)

    n + 1 oracle calls per half step: phi is linear in y, so its difference along y is h(x) exactly, already paid for.
    Under independent noise differences are central (``Coordinate``), at 2n + 1 calls.

    References
    ----------
    Paper zoeg, Algorithm 2 (which counts 2d evaluations; n + 1 joint calls do, errata 42).
    """

    title = "ZOCEG"
    source = "paper zoeg, Algorithm 2"
    theorems = {"4.1": theorem_steps.all_coordinates}
    families = (Coordinate,)

    longest = 10.0  # curvature is measured where a run starts (chosen by us)

    estimator = Part(GradientEstimator, default=Coordinate(smoothing_radius=None))

    @property
    def testable(self) -> bool:  # type: ignore[override]
        """Whether every coordinate is probed: another estimator's field is random."""
        return type(self.estimator) is Coordinate

    def field(self, at: Point, radius: float, safe: Safeguards, oracle: ProblemOracle, streams: Streams) -> Field:
        """Estimate the field: differences along all coordinates of x, and h(x) along y."""
        x, y, value = at
        phi = safe.lagrangian(y, value, radius)
        estimate = estimated(self.estimator, phi, x, oracle, streams, base=value, radius=radius)
        return Field(estimate.gradient, safe.slope(y, value.h), estimate.variance)
