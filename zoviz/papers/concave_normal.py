"""A problem on which only methods with proximal terms come to rest: concave along the normal of its constraint."""

from __future__ import annotations

from typing import cast

import numpy as np
import param

from zoviz.core.types import Constants
from zoviz.problems.quadratic.base import QuadraticProblem, Quadratics


class ConcaveNormal(QuadraticProblem):
    """A quadratic objective that is concave along the normal of its one linear constraint, in a box.

    f = 1/2 x'Qx + d'x, Q with the eigenvalue -1 along a unit vector b and others uniform in [1, 4]; h = b'x - 1. The
    only stationary point inside is on b'x = 1, with a multiplier of 2 at least.
    """

    __abstract = True

    title = "Quadratic that is concave along the normal of a linear constraint"
    n = param.Integer(default=10, bounds=(2, 2000), doc="Dimension of x.")
    seed = param.Integer(default=0, bounds=(0, 2**31), doc="Seed of Q, d and b.")
    half_width = param.Number(default=10.0, bounds=(1.0, 1e6), doc="Half-width of the box around 0.")
    start_radius = param.Number(default=1.0, bounds=(0, 1e6), doc="x0 is uniform in [-start_radius, start_radius]^n.")

    def build(self) -> Quadratics:
        rng = np.random.default_rng(self.seed)
        basis, _ = np.linalg.qr(rng.standard_normal((self.n, self.n)))
        spectrum = np.append(-1.0, rng.uniform(1.0, 4.0, self.n - 1))
        q, b = (basis * spectrum) @ basis.T, basis[:, 0]
        d = rng.standard_normal(self.n)
        d -= (d @ b + 1.0) * b
        return self.instance((0.5 * (q + q.T), np.zeros_like(q)), (d, b), (0.0, -1.0))

    @property
    def constants(self) -> Constants:
        """The instance's constants."""
        return cast(Quadratics, self.data).constants
