"""The speed reducer of Golinski."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.problems.engineering.base import DesignProblem, column, stacked

# Seven of the constraints, 1 to 4 and 7 to 9, are monomials: the powers of x1 to x7 in each.
_POWERS = (
    (-1, -2, -1, 0, 0, 0, 0),
    (-1, -2, -2, 0, 0, 0, 0),
    (0, -1, -1, 3, 0, -4, 0),
    (0, -1, -1, 0, 3, 0, -4),
    (0, 1, 1, 0, 0, 0, 0),
    (-1, 1, 0, 0, 0, 0, 0),
    (1, -1, 0, 0, 0, 0, 0),
)


class SpeedReducer(DesignProblem):
    r"""The lightest gear box within limits on stresses of teeth and shafts and on deflections; eleven constraints.

    .. math:: \min\ & 0.7854\,x_1 x_2^2 (3.3333\,x_3^2 + 14.9334\,x_3 - 43.0934) - 1.508\,x_1 (x_6^2 + x_7^2) \\
              & + 7.4777\,(x_6^3 + x_7^3) + 0.7854\,(x_4 x_6^2 + x_5 x_7^2) \\
              \text{s.t.}\ & \tfrac{27}{x_1 x_2^2 x_3} \le 1,\ \tfrac{397.5}{x_1 x_2^2 x_3^2} \le 1,\
              \tfrac{1.93 x_4^3}{x_2 x_3 x_6^4} \le 1,\ \tfrac{1.93 x_5^3}{x_2 x_3 x_7^4} \le 1, \\
              & \tfrac{\sqrt{(745 x_4 / (x_2 x_3))^2 + 16.9 \cdot 10^6}}{110 x_6^3} \le 1,\
              \tfrac{\sqrt{(745 x_5 / (x_2 x_3))^2 + 157.5 \cdot 10^6}}{85 x_7^3} \le 1, \\
              & \tfrac{x_2 x_3}{40} \le 1,\ \tfrac{5 x_2}{x_1} \le 1,\ \tfrac{x_1}{12 x_2} \le 1,\
              \tfrac{1.5 x_6 + 1.9}{x_4} \le 1,\ \tfrac{1.1 x_7 + 1.9}{x_5} \le 1

    x1: face width in [2.6, 3.6] cm; x2: module of the teeth in [0.7, 0.8] cm; x3: teeth of the pinion in [17, 28],
    taken as real; x4, x5: length of the shafts between bearings in [7.3, 8.3] cm; x6, x7: diameter of the shafts in
    [2.9, 3.9] and [5, 5.5] cm. The objective is the volume in cubic centimetres, to which the weight is
    proportional; the constraints are pure numbers.

    Notes
    -----
    With x5 >= 7.8, as many papers have it, the best known value is 2996.348 instead of 2994.471.

    References
    ----------
    Golinski (1970), J. Mechanisms 5(3), 287-309; formulation as in Mezura-Montes and Coello Coello (2005), MICAI,
    652-662. Best known value 2994.471066 at (3.5, 0.7, 17, 7.3, 7.715320, 3.350215, 5.286654): Zhang, Luo and Wang
    (2008), Information Sciences 178(15), 3043-3074.
    """

    title = "Speed reducer design"
    order = 23

    n = 7
    m = 11
    lower = (2.6, 0.7, 17.0, 7.3, 7.3, 2.9, 5.0)
    upper = (3.6, 0.8, 28.0, 8.3, 8.3, 3.9, 5.5)
    published_point = (3.5, 0.7, 17.0, 7.3, 7.715320, 3.350215, 5.286654)
    published_value = 2994.471066
    active = (4, 5, 7, 10)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return volume (...) and the eleven constraints (..., 11) of designs x (..., 7)."""
        x1, x2, x3, x4, x5, x6, x7 = np.moveaxis(x, -1, 0)
        teeth = 3.3333 * x3**2 + 14.9334 * x3 - 43.0934
        shafts = 7.4777 * (x6**3 + x7**3) + 0.7854 * (x4 * x6**2 + x5 * x7**2)
        f = 0.7854 * x1 * x2**2 * teeth - 1.508 * x1 * (x6**2 + x7**2) + shafts
        products = _monomials(x)
        first, second = _shaft(x2, x3, x4, x6, 16.9e6, 110.0), _shaft(x2, x3, x5, x7, 157.5e6, 85.0)
        lengths = column(x, [(1.5 * x6 + 1.9) / x4, (1.1 * x7 + 1.9) / x5])
        parts = [products[..., :4], column(x, [first[0], second[0]]), products[..., 4:], lengths]
        return Evaluation(f, np.concatenate(parts, axis=-1) - 1.0)

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return the derivatives of volume and constraints, (..., 7) and (..., 11, 7), by their monomials."""
        x1, x2, x3, x4, x5, x6, x7 = np.moveaxis(x, -1, 0)
        teeth = 3.3333 * x3**2 + 14.9334 * x3 - 43.0934
        of_f = [
            0.7854 * x2**2 * teeth - 1.508 * (x6**2 + x7**2),
            1.5708 * x1 * x2 * teeth,
            0.7854 * x1 * x2**2 * (6.6666 * x3 + 14.9334),
            0.7854 * x6**2,
            0.7854 * x7**2,
            -3.016 * x1 * x6 + 22.4331 * x6**2 + 1.5708 * x4 * x6,
            -3.016 * x1 * x7 + 22.4331 * x7**2 + 1.5708 * x5 * x7,
        ]
        products = _monomials(x)[..., None] * np.array(_POWERS) / x[..., None, :]
        by_2, by_3, by_4, by_6 = _shaft(x2, x3, x4, x6, 16.9e6, 110.0)[1:]
        to_2, to_3, to_5, to_7 = _shaft(x2, x3, x5, x7, 157.5e6, 85.0)[1:]
        shafts = stacked(x, [0.0, by_2, by_3, by_4, 0.0, by_6, 0.0], [0.0, to_2, to_3, 0.0, to_5, 0.0, to_7])
        lengths = stacked(
            x,
            [0.0, 0.0, 0.0, -(1.5 * x6 + 1.9) / x4**2, 0.0, 1.5 / x4, 0.0],
            [0.0, 0.0, 0.0, 0.0, -(1.1 * x7 + 1.9) / x5**2, 0.0, 1.1 / x5],
        )
        return column(x, of_f), np.concatenate([products[..., :4, :], shafts, products[..., 4:, :], lengths], axis=-2)


def _monomials(x: Array) -> Array:
    x1, x2, x3, x4, x5, x6, x7 = np.moveaxis(x, -1, 0)
    teeth = x2 * x3
    volume = x1 * x2 * teeth
    parts = [
        27.0 / volume,
        397.5 / (volume * x3),
        1.93 * x4 * x4 * x4 / (teeth * np.square(x6 * x6)),
        1.93 * x5 * x5 * x5 / (teeth * np.square(x7 * x7)),
        teeth / 40.0,
        5.0 * x2 / x1,
        x1 / (12.0 * x2),
    ]
    return column(x, parts)


def _shaft(x2: Array, x3: Array, length: Array, diameter: Array, square: float, factor: float) -> tuple[Array, ...]:
    """Return the relative stress of a shaft, then its derivatives by x2, x3, length and diameter."""
    bending = 745.0 * length / (x2 * x3)
    root = np.sqrt(bending**2 + square)
    stress = root / (factor * diameter**3)
    slope = stress * bending**2 / root**2
    return stress, -slope / x2, -slope / x3, slope / length, -3.0 * stress / diameter
