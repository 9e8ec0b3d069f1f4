"""The welded beam of Rao."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.problems.engineering.base import DesignProblem, column, stacked

_LOAD, LENGTH = 6000.0, 14.0
"""P in lb and L in in."""
_SHEAR, _BENDING, _DEFLECTION = 13600.0, 30000.0, 0.25
"""Limits tau_max and sigma_max in psi, and delta_max in in."""
_YOUNG, _RIGIDITY = 30e6, 12e6
"""Moduli E and G in psi."""
_BUCKLING = 4.013 * _YOUNG / (6.0 * LENGTH**2)
_SLENDERNESS = np.sqrt(_YOUNG / (4.0 * _RIGIDITY)) / (2.0 * LENGTH)
"""Constants of the buckling load P_c."""


class WeldedBeam(DesignProblem):
    r"""The cheapest beam welded to a wall that carries 6000 lb at 14 in; seven constraints.

    .. math:: \min\ & 1.10471\,x_1^2 x_2 + 0.04811\,x_3 x_4 (14 + x_2) \\
              \text{s.t.}\ & \tau(x) \le 13600,\quad \sigma(x) \le 30000,\quad x_1 \le x_4,\quad
              0.10471\,x_1^2 + 0.04811\,x_3 x_4 (14 + x_2) \le 5, \\
              & 0.125 \le x_1,\quad \delta(x) \le 0.25,\quad P \le P_c(x)

    x1: thickness of the weld, x2: its length, x3: height, x4: width of the beam, all in inches, x1 and x4 in
    [0.1, 2], x2 and x3 in [0.1, 10]; cost in dollars; P = 6000 lb, L = 14 in, E = 30e6, G = 12e6 psi. With
    tau' = P / (sqrt(2) x1 x2), M = P (L + x2/2), s = (x1 + x3)/2, R^2 = x2^2/4 + s^2,
    J = 2 sqrt(2) x1 x2 (x2^2/12 + s^2) and tau'' = M R / J, the shear stress is
    tau^2 = tau'^2 + tau' tau'' x2 / R + tau''^2; sigma = 6 P L / (x4 x3^2); delta = 4 P L^3 / (E x3^3 x4);
    P_c = 4.013 E sqrt(x3^2 x4^6 / 36) / L^2 (1 - x3/(2L) sqrt(E/(4G))).

    Notes
    -----
    Other variants in print have x2^2/4 in J, a torsion constant of their own, or five constraints: their best values
    (1.6702, 1.6952, 2.38) are no match for this one. Stresses are in psi: the units of the constraints differ by a
    factor of 10^5. x0 is uniform in [0.3, 1.5] x [2, 8] x [4, 9] x [0.3, 1.5]: where weld or beam are thinnest, the
    stresses exceed their limits several hundred times.

    References
    ----------
    Rao (1996), Engineering Optimization; formulation of Coello Coello and Montes (2002), Adv. Eng. Informatics
    16(3), 193-203. Best known value 1.724852 at (0.205730, 3.470489, 9.036624, 0.205730): Cagnina, Esquivel and
    Coello Coello (2008), Informatica 32(3), 319-326; Mezura-Montes and Coello Coello (2005), MICAI, 652-662.
    """

    title = "Welded beam design"
    order = 21

    n = 4
    m = 7
    lower = (0.1, 0.1, 0.1, 0.1)
    upper = (2.0, 10.0, 10.0, 2.0)
    start = ((0.3, 2.0, 4.0, 0.3), (1.5, 8.0, 9.0, 1.5))
    published_point = (0.205730, 3.470489, 9.036624, 0.205730)
    published_value = 1.724852
    active = (0, 1, 2, 6)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return cost (...) and the seven published constraints (..., 7) of designs x (..., 4)."""
        x1, x2, x3, x4 = np.moveaxis(x, -1, 0)
        beam = 0.04811 * x3 * x4 * (14.0 + x2)
        direct, bending, _ = _stresses(x1, x2, x3)
        arm = x2**2 / 4.0 + (x1 + x3) ** 2 / 4.0
        h = [
            np.sqrt(direct**2 + direct * bending * x2 + bending**2 * arm) - _SHEAR,
            6.0 * _LOAD * LENGTH / (x4 * x3**2) - _BENDING,
            x1 - x4,
            0.10471 * x1**2 + beam - 5.0,
            0.125 - x1,
            4.0 * _LOAD * LENGTH**3 / (_YOUNG * x3**3 * x4) - _DEFLECTION,
            _LOAD - _BUCKLING * x3 * x4**3 * (1.0 - _SLENDERNESS * x3),
        ]
        return Evaluation(1.10471 * x1**2 * x2 + beam, column(x, h))

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return the derivatives of cost and constraints, (..., 4) and (..., 7, 4), by the chain rule."""
        x1, x2, x3, x4 = np.moveaxis(x, -1, 0)
        beam = [0.0, 0.04811 * x3 * x4, 0.04811 * x4 * (14.0 + x2), 0.04811 * x3 * (14.0 + x2)]
        of_f = [2.20942 * x1 * x2, 1.10471 * x1**2 + beam[1], *beam[2:]]
        sigma = 6.0 * _LOAD * LENGTH / (x4 * x3**2)
        delta = 4.0 * _LOAD * LENGTH**3 / (_YOUNG * x3**3 * x4)
        rows = [
            _shear_slope(x1, x2, x3),
            [0.0, 0.0, -2.0 * sigma / x3, -sigma / x4],
            [1.0, 0.0, 0.0, -1.0],
            [0.20942 * x1, *beam[1:]],
            [-1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, -3.0 * delta / x3, -delta / x4],
            [
                0.0,
                0.0,
                -_BUCKLING * x4**3 * (1.0 - 2.0 * _SLENDERNESS * x3),
                -3.0 * _BUCKLING * x3 * x4**2 * (1.0 - _SLENDERNESS * x3),
            ],
        ]
        return column(x, of_f), stacked(x, *rows)


def _stresses(x1: Array, x2: Array, x3: Array) -> tuple[Array, Array, Array]:
    """Return tau', tau''/R = M/J, and J: R cancels from tau' tau'' x2 / R."""
    direct = _LOAD / (np.sqrt(2.0) * x1 * x2)
    inertia = 2.0 * np.sqrt(2.0) * x1 * x2 * (x2**2 / 12.0 + (x1 + x3) ** 2 / 4.0)
    return direct, _LOAD * (LENGTH + x2 / 2.0) / inertia, inertia


def _shear_slope(x1: Array, x2: Array, x3: Array) -> list[Array | float]:
    """Return the derivatives of tau by x1 to x4, from those of tau^2 = a^2 + a c x2 + c^2 R^2."""
    a, c, inertia = _stresses(x1, x2, x3)
    half, root = (x1 + x3) / 2.0, 2.0 * np.sqrt(2.0) * x1 * x2
    arm = x2**2 / 4.0 + half**2
    tau = np.sqrt(a**2 + a * c * x2 + c**2 * arm)
    # By x1, x2, x3: of a, of J, of M, of R^2 and of the factor x2.
    of_a = (-a / x1, -a / x2, 0.0)
    of_j = (inertia / x1 + root * half, inertia / x2 + root * x2 / 6.0, root * half)
    of_moment, of_arm, of_length = (0.0, _LOAD / 2.0, 0.0), (half, x2 / 2.0, half), (0.0, 1.0, 0.0)
    slope: list[Array | float] = []
    for i in range(3):
        of_c = (of_moment[i] - c * of_j[i]) / inertia
        square = 2.0 * a * of_a[i] + (of_a[i] * c + a * of_c) * x2 + a * c * of_length[i]
        slope.append((square + 2.0 * c * of_c * arm + c**2 * of_arm[i]) / (2.0 * tau))
    return [*slope, 0.0]
