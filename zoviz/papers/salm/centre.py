"""Paper salm, §2: the proximal centre of Algorithm 1 moves to x_t, and not to x_{t+1} as with Zhang and Luo.

The paper needs it for its analysis, in which the next point is random; it does not claim that the method is the better
for it. Both are measured as Theorem 3.1 has it, with the same steps: ||grad Psi(z)|| at random iterations against T.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.salm.rates import FIRST_SEED, NEAR, near_stationarity, problem_for
from zoviz.solvers import SmoothedALM
from zoviz.solvers.linear.smoothed_base import NEW, OLD

BEFORE, AFTER = "centre to x_t", "centre to x_{t+1}"
UPDATES = {BEFORE: OLD, AFTER: NEW}
DRAWS = 16
"""Random iterations of each run."""


class Centre(RateExperiment):
    """The centre's two updates in the measure of Theorem 3.1."""

    first_seed = FIRST_SEED
    title = "salm centre"
    subject = "||grad Psi|| of Algorithm 1 against T with the centre moved to x_t and to x_{t+1}"
    printed = "The centre moves to x_t so that the analysis with bounded variance goes through; no figures."
    protocol = "StochasticQP, n = 10, three rows, drawn instances; the same default steps of both; nothing is tuned."
    sizes = {
        "quick": {"horizons": [500, 2000], "instances": 2, "replicas": 5},
        "full": {"horizons": [1000, 1741, 3031, 5278, 9190, 16_000], "instances": 6, "replicas": 8},
    }

    def rates(self) -> list[Rate]:
        says = "with the centre moved to x_t ||grad Psi|| is of order T^(-1/4), and with x_{t+1} not"
        return [Rate("§2, centre", says, "known rows", NEAR, -1.0 / 4.0, BEFORE, AFTER)]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the means over random iterations (R,)."""
        update: Any = UPDATES[method]
        solver = SmoothedALM(horizon=horizon, centre_update=update)
        problem = problem_for(sampled=False, seed=seed)
        near = near_stationarity(solver, problem, horizon, self.settings["replicas"], DRAWS, seed)
        return {NEAR: np.asarray(near.mean(axis=0))}
