"""The toy problem of Gramacy and others: a linear objective, a wavy and a quadratic constraint."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.types import Array, Evaluation
from zoviz.problems.engineering.base import DesignProblem, column, stacked


class Gramacy(DesignProblem):
    r"""A linear objective over the part of the unit square that a wavy and a quadratic constraint leave.

    .. math:: \min_{x \in [0, 1]^2}\ & x_1 + x_2 \\
              \text{s.t.}\ & \tfrac32 - x_1 - 2 x_2 - \tfrac12 \sin\big(2\pi(x_1^2 - 2 x_2)\big) \le 0,\quad
              x_1^2 + x_2^2 - \tfrac32 \le 0

    The least value 0.5997881 is taken at (0.195123, 0.404665), on the wavy constraint; the other is never active
    there. Local minima that are no global ones: 0.75 at (0, 0.75) and 0.8609 at (0.7196, 0.1413).

    References
    ----------
    Gramacy, Gray, Le Digabel, Lee, Ranjan, Wells and Wild (2016), Modeling an augmented Lagrangian for blackbox
    constrained optimization, Technometrics 58(1), 1-11, (2): the problem that later papers call LSQ.
    """

    title = "Toy of Gramacy and others (LSQ)"
    order = 24

    scaled = param.Boolean(default=False)

    n = 2
    m = 2
    lower = (0.0, 0.0)
    upper = (1.0, 1.0)
    published_point = (0.1954, 0.4044)
    published_value = 0.5998
    active = (0,)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return the objective (...) and both constraints (..., 2) at x (..., 2)."""
        x1, x2 = np.moveaxis(x, -1, 0)
        wave = 1.5 - x1 - 2.0 * x2 - 0.5 * np.sin(2.0 * np.pi * (x1**2 - 2.0 * x2))
        return Evaluation(x1 + x2, column(x, [wave, x1**2 + x2**2 - 1.5]))

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return the partial derivatives of the objective (..., 2) and of the constraints (..., 2, 2)."""
        x1, x2 = np.moveaxis(x, -1, 0)
        slope = np.pi * np.cos(2.0 * np.pi * (x1**2 - 2.0 * x2))
        return column(x, [1.0, 1.0]), stacked(x, [-1.0 - 2.0 * x1 * slope, -2.0 + 2.0 * slope], [2.0 * x1, 2.0 * x2])
