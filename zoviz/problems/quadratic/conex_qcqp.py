"""The random quadratically constrained quadratic programmes of paper conex."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.types import Array
from zoviz.problems.quadratic.base import QuadraticProblem, Quadratics


class ConexQCQP(QuadraticProblem):
    r"""A random quadratic objective and constraint, both convex or both indefinite, in a box.

    .. math:: \min_{-10 \le x \le 10} x^\top A_0 x + b_0^\top x + c_0 \quad\text{s.t.}\quad
              h(x) = x^\top A_1 x + b_1^\top x + c_1 - 1 \le 0

    with A_i = M_i'M_i / (2n) for M_i (2n x n) standard normal, whose eigenvalues lie near [0.09, 2.9] for every n
    (convex), or that matrix less a multiple of I such that its smallest eigenvalue is -0.1 (nonconvex); b_i and c_0
    standard normal; c_1 = -|N(0, 1)|. x = 0 is strictly feasible: h(0) = c_1 - 1 <= -1.

    Notes
    -----
    The paper has n = 200 and 500 and prints neither the scale of A_i, nor X, nor a condition on c_1 that would
    leave a feasible point, nor x0: those above are ours, with x0 uniform in [-1, 1]^n. Its noise on every value is
    ``noise="independent"`` with ``noise_scale=1`` and "normal" or "student_t" (5 degrees) as law; its theory asks
    for "common", under which additive noise cancels between the two points of a difference.

    The known optimum comes from the dual of the problem without the box, which is tight for one quadratic
    constraint (S-lemma), also where both matrices are indefinite, if A_0 + lam A_1 is positive definite for some
    multiplier lam; where there is none, or that solution leaves the box, no optimum is claimed.

    References
    ----------
    Paper conex, §4, convex and nonconvex setting.
    """

    title = "Random QCQP (convex, indefinite)"
    order = 2

    n = param.Integer(default=50, bounds=(2, 2000), softbounds=(2, 500), label="Variables n", doc="Dimension of x.")
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of both quadratics.")
    convex = param.Boolean(
        default=True, label="Convex", doc="A_0 and A_1 positive definite; else both with smallest eigenvalue -0.1."
    )
    half_width = param.Number(
        default=10.0, bounds=(1e-3, 1e6), label="Box half-width", doc="Half-width of the box around 0."
    )
    start_radius = param.Number(
        default=1.0, bounds=(0, 1e6), label="Start radius", doc="x0 is uniform in [-start_radius, start_radius]^n."
    )

    def build(self) -> Quadratics:
        n, rng = self.n, np.random.default_rng(self.seed)
        matrices = 2.0 * self._matrix(rng), 2.0 * self._matrix(rng)
        vectors = rng.standard_normal(n), rng.standard_normal(n)
        offsets = float(rng.standard_normal()), -abs(float(rng.standard_normal())) - 1.0
        return self.instance(matrices, vectors, offsets)

    def _matrix(self, rng: np.random.Generator) -> Array:
        factor = rng.standard_normal((2 * self.n, self.n))
        matrix = factor.T @ factor / (2.0 * self.n)
        if not self.convex:
            matrix -= (np.linalg.eigvalsh(matrix)[0] + 0.1) * np.eye(self.n)
        return matrix
