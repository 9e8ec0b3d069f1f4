"""Paper sogd, (21): the variance of an estimated product as the step along v falls.

The product of a second derivative with v is the difference of two estimated gradients over 2 rho_v. With directions and
samples that both share, its variance stays bounded as rho_v tends to 0; with directions of their own, which the text
does not exclude, it is of order rho_v^-2.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.problems import QuadraticBilevel
from zoviz.solvers.bilevel.base import spread_out

SHARED, OWN = "directions shared", "directions of their own"
SPREAD = "squared error"


def product_spread(radius: float, shared: bool, replicas: int = 200, directions: int = 10, seed: int = 0) -> Array:
    """Return the squared errors (R,) of an estimated Hessian-vector product at the radius rho_v."""
    problem = QuadraticBilevel(noise="deterministic", seed=seed)
    streams, rng = Streams(seed + 4, replicas), np.random.default_rng(seed)
    oracle = Oracle(problem, streams)
    rounds = BilevelOracle(oracle)
    x, y, v = (np.repeat(rng.standard_normal((1, 10)), replicas, axis=0) for _ in range(3))
    estimator = CentralSphere(smoothing_radius=5e-3, batch_size=directions)

    def inner(points: Array, sign: float) -> Array:
        return rounds.inner(spread_out(x, points), points + sign * radius * spread_out(v, points))

    if shared:
        view = rounds.view(lambda points: (inner(points, 1.0) - inner(points, -1.0)) / (2.0 * radius))
        estimate = estimator.estimate(objective, y, view, streams).gradient
    else:
        ends = [
            estimator.estimate(objective, y, rounds.view(partial(inner, sign=sign)), streams).gradient
            for sign in (1.0, -1.0)
        ]
        estimate = (ends[0] - ends[1]) / (2.0 * radius)
    return np.square(estimate - rounds.hessian_vector(x, y, v)).sum(axis=-1)


class ProductVariance(RateExperiment):
    """The squared error of a product against 1 / rho_v, with directions shared and not."""

    title = "sogd (21)"
    subject = "Squared error of an estimated Hessian-vector product against 1 / rho_v"
    printed = "The estimator (21) with one step rho_v; whether its two gradients share directions is not said."
    protocol = "QuadraticBilevel, n = d = 10, no noise, ten directions."
    variable = "1 / rho_v"
    drawn = True
    sizes = {
        "quick": {"horizons": [10, 30, 100, 300, 1000, 3000], "replicas": 50},
        "full": {"horizons": [10, 30, 100, 1000, 10_000, 100_000], "replicas": 50},
    }

    def rates(self) -> list[Rate]:
        says = "the variance of a product stays bounded as rho_v falls"
        return [Rate("(21)", says, "quadratic", SPREAD, 0.0, SHARED, OWN)]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the squared errors at rho_v = 1 / horizon."""
        return {SPREAD: product_spread(1.0 / horizon, method == SHARED, self.settings["replicas"], seed=self.seed())}
