"""Paper zoeg, (8): the bound on the variance of an estimate along one direction on the sphere.

9 d^2 G^2 / (d + 2) + 3 d^2 L^2 r^2 / 4, G the slope on the ball that is probed. Of a quadratic the mean of the estimate
is the slope itself, so that the squared error is the variance. What is judged are shares of the bound, means over
instances, points and directions; beside the bound stand the same without its 9 and without a factor of d.
"""

from __future__ import annotations

import numpy as np

from zoviz.core.streams import Streams
from zoviz.estimators import Sphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, array, mean_text, plain
from zoviz.studies.verdict import Evidence

PRINTED, NO_NINE, NO_DIMENSION = "as printed", "without the factor 9", "without a factor d"
SIZE = 20
FIRST_SEED = 7000
"""Of the instances, points and directions; nothing is chosen."""


def bounds(slope: float, curvature: float, radius: float) -> dict[str, float]:
    """Return the bound as printed and without two of its factors, of a slope G on the ball and a curvature L."""
    first = 9.0 * SIZE**2 * slope**2 / (SIZE + 2.0)
    second = 0.75 * (SIZE * curvature * radius) ** 2
    return {
        PRINTED: first + second,
        NO_NINE: first / 9.0 + second,
        NO_DIMENSION: (first + second) / SIZE,
    }


def shares(seed: int, radius: float, draws: int) -> dict[str, float]:
    """Return the mean squared error of estimates at a drawn point of a drawn instance over the bounds."""
    problem, streams = NonconvexQCQP(n=SIZE, seed=seed), Streams(seed, draws)
    points = np.repeat(problem.initial(Streams(seed, 1)), draws, axis=0)
    slope = problem.gradient(points[:1])[0][0]
    estimator = Sphere(smoothing_radius=radius, batch_size=1)
    estimate = estimator.estimate(objective, points, Oracle(problem, streams), streams)
    variance = float(np.square(estimate.gradient - slope).sum(axis=1).mean())
    curvature = problem.data.constants.curvature
    steepest = float(np.linalg.norm(slope)) + curvature * radius
    return {name: variance / bound for name, bound in bounds(steepest, curvature, radius).items()}


class VarianceBound(Experiment):
    """(8): the variance of estimates over its bound."""

    title = "zoeg (8)"
    subject = "Variance of an estimate along one direction over the bound (8), at three radii"
    printed = "E||G - grad h^r||^2 <= 9 d^2 G^2 / (d + 2) + 3 d^2 L^2 r^2 / 4."
    protocol = (
        "f of NonconvexQCQP, d = 20, drawn instances and points; the squared error over the bound, G the slope at the "
        "point and L r; nothing is tuned."
    )
    sizes = {
        "quick": {"radii": [1e-3, 1.0], "instances": 10, "draws": 2000},
        "full": {"radii": [1e-5, 1e-3, 0.1, 1.0, 10.0], "instances": 50, "draws": 5000},
    }

    def parts(self) -> list[str]:
        return [f"r = {radius:g}" for radius in self.settings["radii"]]

    def measure(self, part: str) -> Figures:
        """Return the variance of every instance over each bound."""
        radius, draws = float(part.removeprefix("r = ")), self.settings["draws"]
        rows = [shares(seed, radius, draws) for seed in self.instance_seeds(FIRST_SEED)]
        return {name: plain(np.array([row[name] for row in rows])) for name in rows[0]}

    def claims(self) -> list[Claim]:
        says = "the variance is below the bound at every radius, and not"
        return [Claim("(8)", f"{says} {name}", below_the_bound, PRINTED, name) for name in (NO_NINE, NO_DIMENSION)]

    def tables(self, measured: Measured) -> list[Table]:
        rows = [(part, *(mean_text(array(one[name])) for name in one)) for part, one in measured.items()]
        return [
            Table("Variance over the bound, means over instances", ("Radius", PRINTED, NO_NINE, NO_DIMENSION), rows)
        ]


def below_the_bound(measured: Measured, bound: str) -> Evidence:
    """Test that shares of a bound are below 1 at every radius."""
    rows = np.array([array(one[bound]) for one in measured.values()])
    return Evidence(1.0 - rows, ", ".join(map(mean_text, rows)), {bound: 1.0})
