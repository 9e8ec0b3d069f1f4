"""The zeroth-order forms of the methods for linear constraints, written out."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.linear_by_hand import (
    BETA,
    ETA,
    MU,
    REPLICAS,
    RHO,
    SEED,
    SMOOTH,
    STEPS,
    TAU,
    A,
    Hand,
    hand_over,
    problem,
    smoothed,
    storm,
)
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere, Coordinate, Sphere
from zoviz.problems import StochasticQP
from zoviz.solvers import EliminatedSGD, LinearisedALM, PenaltySGD, SampledALM, SmoothedALM, Solver, StormALM

SPHERE = {"smoothing_radius": 0.05, "batch_size": 4}


class Estimated(Hand):
    """The same with the mean over directions of n [F(x + r d) - F(x)] d / r, or of the central difference."""

    def __init__(self, qp: StochasticQP, replica: int, lot: list[Array], central: bool) -> None:
        super().__init__(qp, replica, [1] * (STEPS + 1))
        self.directions, self.central = [draw[replica] for draw in lot], central

    def gradient(self, x: Array, t: int) -> Array:
        total, r = np.zeros(self.n), SPHERE["smoothing_radius"]
        for u in self.directions[t]:
            d = u / np.linalg.norm(u)
            rise = self.value(x + r * d, t) - self.value(x - r * d if self.central else x, t)
            total += self.n * rise / (2.0 * r if self.central else r) * d
        return total / len(self.directions[t])


@pytest.mark.parametrize("central", [False, True])
def test_zeroth_order_forms_written_out(central: bool) -> None:
    """Algorithms 1 and 3: f alone is estimated, under the iteration's sample; the same directions at both points."""
    qp = problem()
    estimator = (CentralSphere if central else Sphere)(**SPHERE)
    form = {"gradients": "zeroth-order", "estimator": estimator}
    one = hand_over(SmoothedALM(**form, **SMOOTH), qp)
    three = hand_over(StormALM(momentum=A, horizon=1, **form, **SMOOTH), qp)
    draw = Streams(SEED, REPLICAS)
    lot = [draw.normal("directions", 4, 7) for _ in range(STEPS + 1)]
    for r in range(REPLICAS):
        hand = Estimated(qp, r, lot, central)
        x, dual, centre, _ = smoothed(hand)
        for actual, expected in ((one.x, x), (one.dual, dual), (one.centre, centre)):
            np.testing.assert_allclose(actual[r], expected, rtol=0.0, atol=1e-11)
        for actual, expected in zip((three.x, three.dual, three.centre, three.momentum), storm(hand), strict=True):
            np.testing.assert_allclose(actual[r], expected, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("cls", [LinearisedALM, PenaltySGD, SampledALM, EliminatedSGD])
def test_zeroth_order_forms_of_the_others_are_theirs_with_an_estimate(cls: type[Solver]) -> None:
    """On a quadratic, central differences along coordinates are the gradient: both forms take the same steps."""
    qp = problem(free_variables=3, null_curvature=0.3, sampled_rows=cls is SampledALM)
    names = {"primal_step": TAU, "dual_step": ETA, "penalty": RHO, "proximal_weight": MU, "proximal_step": BETA}
    settings = {name: value for name, value in names.items() if name in cls.param} | (
        {"dual_reset": 1e9} if cls is SampledALM else {}
    )
    first = hand_over(cls(**settings), qp)
    exact = Coordinate(smoothing_radius=0.5, differences="central")
    second = hand_over(cls(gradients="zeroth-order", estimator=exact, **settings), qp)
    np.testing.assert_allclose(first.x, second.x, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(first.dual, second.dual, rtol=0.0, atol=1e-12)
