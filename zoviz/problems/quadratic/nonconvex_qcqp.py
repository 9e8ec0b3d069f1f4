"""The nonconvex quadratically constrained quadratic programme of paper splm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import param

from zoviz.problems.quadratic.base import QuadraticProblem, Quadratics


class NonconvexQCQP(QuadraticProblem):
    r"""An indefinite quadratic objective under one convex quadratic constraint and a box.

    .. math:: \min_{-10 \le x \le 10} \tfrac12 x^\top Q x + d^\top x \quad\text{s.t.}\quad
              \tfrac12 x^\top A x + b^\top x + c_0 \le 0

    with Q = M'M - delta I such that its smallest eigenvalue is -0.1, A = M1'M1, and M, M1 (n x n), d, b standard
    normal; c0 = -1, so that x = 0 is strictly feasible.

    Notes
    -----
    The paper prints neither the starting point nor the shape of M: M is n x n and x0 uniform in [-1, 1]^n here.
    The known optimum comes from the dual of the problem without the box, which is tight for one quadratic
    constraint (S-lemma); where that solution leaves the box, no optimum is claimed.

    References
    ----------
    Paper splm, §4.1.
    """

    title = "Nonconvex QCQP"
    order = 0

    n = param.Integer(default=50, bounds=(2, 2000), softbounds=(2, 200), label="Variables n", doc="Dimension of x.")
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of Q, d, A and b.")
    half_width = param.Number(
        default=10.0, bounds=(1e-3, 1e6), label="Box half-width", doc="Half-width of the box around 0."
    )
    start_radius = param.Number(
        default=1.0, bounds=(0, 1e6), label="Start radius", doc="x0 is uniform in [-start_radius, start_radius]^n."
    )

    def build(self) -> Quadratics:
        n, rng = self.n, np.random.default_rng(self.seed)
        factor, factor_a = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        vectors = rng.standard_normal(n), rng.standard_normal(n)
        q = factor.T @ factor
        q -= (np.linalg.eigvalsh(q)[0] + 0.1) * np.eye(n)
        matrices = q, factor_a.T @ factor_a
        instance = self.instance(matrices, vectors, (0.0, -1.0))
        # The rule of steps reads 0.1 itself, not its rounded eigenvalue.
        return instance._replace(constants=replace(instance.constants, weak_convexity=0.1))
