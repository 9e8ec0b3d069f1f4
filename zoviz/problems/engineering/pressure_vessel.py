"""The pressure vessel of Sandgren, with real thicknesses."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.problems.engineering.base import DesignProblem, column, stacked


class PressureVessel(DesignProblem):
    r"""The cheapest cylindrical vessel with hemispherical heads that holds 750 cubic feet; continuous variant.

    .. math:: \min\ & 0.6224\,x_1 x_3 x_4 + 1.7781\,x_2 x_3^2 + 3.1661\,x_1^2 x_4 + 19.84\,x_1^2 x_3 \\
              \text{s.t.}\ & 0.0193\,x_3 \le x_1,\quad 0.00954\,x_3 \le x_2,\quad
              \pi x_3^2 x_4 + \tfrac43 \pi x_3^3 \ge 1296000,\quad x_4 \le 240

    x1, x2: thickness of shell and heads in [0.0625, 6.1875] in; x3: inner radius, x4: length of the cylinder, both in
    [10, 200] in; the cost is in dollars; the third constraint is in cubic inches.

    Notes
    -----
    x1 and x2 are real here. As multiples of 0.0625 in, as in the original, the best known cost is 6059.714 instead
    of 5885.3328, and with x4 up to 240 in the continuous one falls to 5804.376: results of the three variants are
    often compared by mistake. The fourth constraint is implied by the box and kept as printed. The units of the
    constraints differ by a factor of 10^6.

    References
    ----------
    Sandgren (1990), J. Mech. Design 112(2), 223-229; formulation of Coello Coello and Montes (2002), Adv. Eng.
    Informatics 16(3), 193-203, their first example. Best known continuous value 5885.3328 at
    (0.7782, 0.3846, 40.3196, 200), found by many; here solved exactly.
    """

    title = "Pressure vessel design"
    order = 20

    n = 4
    m = 4
    lower = (0.0625, 0.0625, 10.0, 10.0)
    upper = (6.1875, 6.1875, 200.0, 200.0)
    published_point = (0.7782, 0.3846, 40.3196, 200.0)
    published_value = 5885.3328
    active = (0, 1, 2)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return cost (...) and the four published constraints (..., 4) of designs x (..., 4)."""
        x1, x2, x3, x4 = np.moveaxis(x, -1, 0)
        f = 0.6224 * x1 * x3 * x4 + 1.7781 * x2 * x3**2 + 3.1661 * x1**2 * x4 + 19.84 * x1**2 * x3
        volume = np.pi * x3**2 * x4 + 4.0 / 3.0 * np.pi * x3**3
        h = column(x, [0.0193 * x3 - x1, 0.00954 * x3 - x2, 1296000.0 - volume, x4 - 240.0])
        return Evaluation(f, h)

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return the partial derivatives of cost and constraints, (..., 4) and (..., 4, 4)."""
        x1, x2, x3, x4 = np.moveaxis(x, -1, 0)
        of_f = [
            0.6224 * x3 * x4 + 6.3322 * x1 * x4 + 39.68 * x1 * x3,
            1.7781 * x3**2,
            0.6224 * x1 * x4 + 3.5562 * x2 * x3 + 19.84 * x1**2,
            0.6224 * x1 * x3 + 3.1661 * x1**2,
        ]
        of_volume = [0.0, 0.0, -2.0 * np.pi * x3 * x4 - 4.0 * np.pi * x3**2, -np.pi * x3**2]
        constant = [-1.0, 0.0, 0.0193, 0.0], [0.0, -1.0, 0.00954, 0.0]
        return column(x, of_f), stacked(x, *constant, of_volume, [0.0, 0.0, 0.0, 1.0])
