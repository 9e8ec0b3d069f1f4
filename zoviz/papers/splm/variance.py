"""Paper splm, (4) and (5): bias and variance of the estimate on the sphere as the radius falls.

(4) bounds the bias by L r, (5) the variance by n^2 L^2 r^2 / (4 k), which vanishes with r: its proof drops the linear
term. At a point whose slope is 0 nothing is dropped.
"""

from __future__ import annotations

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import Oracle
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.studies.experiment import Measured
from zoviz.studies.live import Live

AT_START, AT_REST = "a start", "the point of slope 0"
ERROR = "squared error"
DIRECTIONS, SIZE = 50, 20
LIVE_RADIUS = 0.01
"""Of a run that a person watches, who can move it: the bound is some decades below what is measured."""


def squared_errors(radius: float, place: str, replicas: int, seed: int = 0) -> Array:
    """Return the squared errors (R,) of estimates of f's slope, k = 50, at a start or at the point of slope 0."""
    problem, streams = NonconvexQCQP(n=SIZE, seed=seed), Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, SIZE)
    if place == AT_REST:
        slope = problem.gradient(np.zeros((1, SIZE)))[0][0]
        curvature = problem.gradient(np.eye(SIZE))[0] - slope
        x = np.linalg.solve(curvature, -slope)
    points = np.repeat(x[None], replicas, axis=0)
    estimate = Sphere(smoothing_radius=radius, batch_size=DIRECTIONS).estimate(objective, points, oracle, streams)
    return np.square(estimate.gradient - problem.gradient(points)[0]).sum(axis=-1)


class SphereVariance(RateExperiment):
    """The squared error of an estimate against 1 / r, where there is a slope and where there is none."""

    title = "splm (5)"
    subject = "Squared error of an estimated slope against 1 / r, where there is a slope and where there is none"
    printed = "A bound on the variance of order r^2, which vanishes with r."
    protocol = "f of NonconvexQCQP, n = 20, 50 directions on the sphere; nothing is tuned."
    variable = "1 / r"
    drawn = True
    sizes = {
        "quick": {"horizons": [1, 3, 10, 30, 100, 300], "replicas": 50},
        "full": {"horizons": [1, 10, 100, 1000, 10_000, 100_000], "replicas": 50},
    }

    def rates(self) -> list[Rate]:
        return [
            Rate("(4), (5)", "the variance vanishes as r^2", "sphere", ERROR, -2.0, AT_START, ""),
            Rate("(4), (5)", "(ours) it does where the slope is 0", "sphere", ERROR, -2.0, AT_REST, AT_START),
        ]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the squared errors at the radius 1 / horizon."""
        return {ERROR: squared_errors(1.0 / horizon, method, self.settings["replicas"], self.seed())}

    def live(self, measured: Measured) -> list[Live]:
        """Return ZO-SPLM with this estimator: the plot of the variance has the paper's bound by itself."""
        solver = ZOSPLM(estimator=Sphere(smoothing_radius=LIVE_RADIUS, batch_size=DIRECTIONS))
        parts = tuple(f"sphere / {AT_START} / {horizon}" for horizon in self.settings["horizons"])
        return [
            Live(
                f"ZO-SPLM, n = {SIZE}, r = {LIVE_RADIUS:g}",
                NonconvexQCQP(n=SIZE),
                solver,
                {"replicas": 20, "iterations": 1500},
                parts,
                note=(
                    "The paper's bound is a line of the plot of the variance, beside what is measured; move the radius."
                ),
            )
        ]
