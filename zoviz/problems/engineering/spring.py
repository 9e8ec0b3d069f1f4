"""The tension/compression spring of Arora and Belegundu."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.problems.engineering.base import DesignProblem, column, stacked


class Spring(DesignProblem):
    r"""The lightest tension/compression spring within limits on deflection, stress, surge frequency and size.

    .. math:: \min\ & (x_3 + 2)\,x_2 x_1^2 \\
              \text{s.t.}\ & 1 - \frac{x_2^3 x_3}{71785\,x_1^4} \le 0,\quad
              \frac{4x_2^2 - x_1 x_2}{12566\,(x_2 x_1^3 - x_1^4)} + \frac{1}{5108\,x_1^2} - 1 \le 0, \\
              & 1 - \frac{140.45\,x_1}{x_2^2 x_3} \le 0,\quad \frac{x_1 + x_2}{1.5} - 1 \le 0

    x1: diameter of the wire in [0.05, 2] in; x2: mean diameter of the coil in [0.25, 1.3] in; x3: number of active
    coils in [2, 15], taken as real. The objective is proportional to the weight, in cubic inches; the constraints are
    pure numbers.

    Notes
    -----
    As printed, the second constraint has a pole at x1 = x2, where a spring would be all wire; values near it are
    huge, of either sign.

    References
    ----------
    Arora (1989), Introduction to Optimum Design; Belegundu (1982), PhD thesis, University of Iowa; formulation of
    Coello Coello and Montes (2002), Adv. Eng. Informatics 16(3), 193-203. Best known value 0.012665 at
    (0.051689, 0.356718, 11.288966): Mezura-Montes and Coello Coello (2005), MICAI, 652-662; Zhang, Luo and Wang
    (2008), Information Sciences 178(15), 3043-3074, 0.012665233.
    """

    title = "Tension/compression spring design"
    order = 22

    n = 3
    m = 4
    lower = (0.05, 0.25, 2.0)
    upper = (2.0, 1.3, 15.0)
    published_point = (0.051689, 0.356718, 11.288966)
    published_value = 0.012665233
    active = (0, 1)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return weight (...) and the four published constraints (..., 4) of designs x (..., 3)."""
        x1, x2, x3 = np.moveaxis(x, -1, 0)
        stress = (4.0 * x2**2 - x1 * x2) / (12566.0 * (x2 * x1**3 - x1**4)) + 1.0 / (5108.0 * x1**2)
        h = [
            1.0 - x2**3 * x3 / (71785.0 * x1**4),
            stress - 1.0,
            1.0 - 140.45 * x1 / (x2**2 * x3),
            (x1 + x2) / 1.5 - 1.0,
        ]
        return Evaluation((x3 + 2.0) * x2 * x1**2, column(x, h))

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return the partial derivatives of weight and constraints, (..., 3) and (..., 4, 3)."""
        x1, x2, x3 = np.moveaxis(x, -1, 0)
        of_f = [2.0 * (x3 + 2.0) * x2 * x1, (x3 + 2.0) * x1**2, x2 * x1**2]
        deflection = x2**3 * x3 / (71785.0 * x1**4)
        surge = 140.45 * x1 / (x2**2 * x3)
        above, below = 4.0 * x2**2 - x1 * x2, x2 * x1**3 - x1**4
        ratio = above / below
        by_1 = (-x2 - ratio * (3.0 * x2 * x1**2 - 4.0 * x1**3)) / (12566.0 * below) - 2.0 / (5108.0 * x1**3)
        by_2 = (8.0 * x2 - x1 - ratio * x1**3) / (12566.0 * below)
        rows = [
            [4.0 * deflection / x1, -3.0 * deflection / x2, -deflection / x3],
            [by_1, by_2, 0.0],
            [-surge / x1, 2.0 * surge / x2, surge / x3],
            [1.0 / 1.5, 1.0 / 1.5, 0.0],
        ]
        return column(x, of_f), stacked(x, *rows)
