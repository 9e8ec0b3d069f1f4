"""Paper sogd, Theorem 4.2: the regret of ZO-SOGD beside itself without its recursion, and without its batches.

The rates of Theorem 3.6, on a follower that is not quadratic, so that smoothing has a bias, with radii and batches of
(26). There the weights fall as the steps do, so that the recursion averages over as many rounds as x takes to move, at
any T: what falls faster is the batches' noise. n = d = 1, where the printed batches are more than 1 at these T.
"""

from __future__ import annotations

import math
from typing import Any

from zoviz.core.types import Array
from zoviz.estimators import CentralSphere
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.sogd.theorem_3_6 import (
    DRIFTS,
    EXPONENTS,
    FACTORS,
    FIRST_SEED,
    LATER_REGRET,
    NOISE,
    NONE,
    RAW,
    SLOW,
    WEIGHTS_1,
    measured,
)
from zoviz.problems import CurvedBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.solvers import ZOSOGD

OFFSET = 10.0
"""ZO-SOGD's offset c."""
WEIGHT_FACTOR = 1.0
"""ZO-SOGD's c_gamma, c_lambda and c_eta. With the rule's, whose first weight is 0.9, the recursion forgets before x has
moved, and hardly does anything at any T."""
PRINTED = "as printed"
ABLATIONS: dict[str, dict[str, Any]] = {WEIGHTS_1: RAW, "batches of 1": {"outer_batch": 1, "inner_batch": 1}}
"""ZO-SOGD without what Theorem 4.2 credits, by name."""


def of_theory(
    problem: OnlineBilevel, horizon: int, cls: type[ZOSOGD] = ZOSOGD, directions: int = 10, **settings: Any
) -> ZOSOGD:
    """Return ZO-SOGD with schedule, radii and batches of (26), and the same c in every dimension.

    Batches are at least 1; ``settings`` are other values of some parameters.
    """
    n, d = problem.domain.n, problem.inner_domain.n
    radii = (1.0 / (size * math.sqrt(horizon)) for size in (d, n))
    inner, outer = (CentralSphere(smoothing_radius=radius, batch_size=directions) for radius in radii)
    values: dict[str, Any] = {
        "outer_step": cls().scale(n, d) * OFFSET ** (-1.0 / 3.0),
        "outer_batch": math.ceil(horizon ** (1 / 3) / (n + d) ** 1.5),
        "inner_batch": math.ceil(horizon ** (2 / 3) / (n + d) ** 0.75),
        "estimator": inner,
        "outer_estimator": outer,
        **dict.fromkeys(FACTORS, WEIGHT_FACTOR),
    }
    return cls(schedule="theory", **values | settings)


class Theorem42(RateExperiment):
    """Theorem 4.2's rates in T, under slow drift and without drift."""

    first_seed = FIRST_SEED
    title = "sogd Theorem 4.2"
    subject = "Later regret of ZO-SOGD against rounds, without its recursion, and without its batches"
    printed = "Bounds: average regret of order T^(-1/3) under slow drift, T^(-2/3) without, with batches of (26)."
    protocol = (
        "CurvedBilevel, n = d = 1, drawn instances, noise 1, steps, radii and batches of (26), ten directions; slow "
        "drift is a random walk with steps of order 1 / t; nothing is tuned."
    )
    sizes = {
        "quick": {"horizons": [60, 240], "instances": 2, "replicas": 6},
        "full": {"horizons": [250, 435, 758, 1320, 2297, 4000], "instances": 5, "replicas": 12},
    }

    def rates(self) -> list[Rate]:
        says = {
            NONE: "without drift ZO-SOGD's regret falls as T^(-2/3), and not so with",
            SLOW: "under slow drift ZO-SOGD's regret falls as T^(-1/3), and not so with",
        }
        return [
            Rate("Theorem 4.2", f"{says[case]} {ablation}", case, LATER_REGRET, power, PRINTED, ablation)
            for case, power in EXPONENTS.items()
            for ablation in ABLATIONS
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the later regret of ZO-SOGD by (26), with what a method leaves out."""
        problem = CurvedBilevel(n=1, d=1, drift=DRIFTS[case], sampling_noise=NOISE, conditioning=2.0, seed=seed)
        solver = of_theory(problem, horizon, **ABLATIONS.get(method, {}))
        return {LATER_REGRET: measured(solver, problem, horizon, self.settings["replicas"], seed)}
