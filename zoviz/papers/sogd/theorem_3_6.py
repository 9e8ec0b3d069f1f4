"""Paper sogd, Theorem 3.6 and Remark 3.7: the regret of SOGD beside itself without recursive directions.

Without drift the noise's part of the average regret of SOGD is claimed to fall as T^(-2/3), and under slow drift the
whole as T^(-1/3). With all weights 1 the same steps follow the raw directions. What is measured is the mean squared
hypergradient over the later half of T rounds, which leaves the start out: over all rounds a start that is forgotten
falls as 1 / T under any method. The outer step of the first round is such that theory's alpha_t falls by two thirds
from round 500 to 8000; the rule's own hardly falls there.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.problems import QuadraticBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.runs.engine.columns import ITERATION, REGRET
from zoviz.runs.run import Run
from zoviz.solvers import SOGD, Solver

Drift = Literal["none", "slow"]
EXPONENTS: dict[Drift, float] = {"none": -2.0 / 3.0, "slow": -1.0 / 3.0}
"""What is claimed without drift and under slow drift."""
FIRST_STEP = 0.3
"""SOGD's alpha_1; theory's offset c, which follows, is 36."""
NOISE = 1.0
"""Deviation of a batch of one: so large that it, not the start, is what the later regret is made of."""
FACTORS = ("inner_factor", "system_factor", "outer_factor")
RAW: dict[str, Any] = dict.fromkeys(FACTORS, 1e9)
"""Factors with which every weight is 1: no recursion."""
RECURSION, WEIGHTS_1 = "recursion", "weights 1"
LATER_REGRET = "later regret"
STREAMS: dict[str, Drift] = {"drift none": "none", "drift slow": "slow"}
"""Cases, with the problem's drift."""


def later_regret(run: Run, horizon: int) -> Array:
    """Return the mean squared hypergradient over rounds T/2 to T of a run that is over, (R,)."""
    rows, sums = run.trace[ITERATION], run.trace[REGRET]
    start, end = (np.flatnonzero(rows == T)[0] for T in (horizon // 2, horizon))
    return (sums[end] - sums[start]) / (horizon - horizon // 2)


def measured(solver: Solver, problem: OnlineBilevel, horizon: int, replicas: int, seed: int = 0) -> Array:
    """Return the later regret (R,) of a method on a problem after T rounds."""
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=horizon, seed=seed)
    run.run()
    return later_regret(run, horizon)


class Theorem36(RateExperiment):
    """Theorem 3.6 under slow drift and Remark 3.7 without drift."""

    title = "sogd Theorem 3.6"
    subject = "Later regret of SOGD against rounds, with recursive directions and with raw ones"
    printed = "Bounds: average regret of order T^(-1/3) under slow drift, T^(-2/3) sigma^2 without drift (Remark 3.7)."
    protocol = "QuadraticBilevel, n = d = 10, noise 1, theory's schedule with alpha_1 = 0.3; nothing is tuned."
    sizes = {
        "quick": {"horizons": [200, 800], "replicas": 5},
        "full": {"horizons": [500, 2000, 8000], "replicas": 20},
    }

    def rates(self) -> list[Rate]:
        """Return the remark's claim without drift and the theorem's under slow drift."""
        texts = {
            "none": ("Remark 3.7", "without drift the average regret falls as T^(-2/3)"),
            "slow": ("Theorem 3.6", "under slow drift the average regret falls as T^(-1/3)"),
        }
        return [
            Rate(*texts[drift], case, LATER_REGRET, EXPONENTS[drift], RECURSION, WEIGHTS_1)
            for case, drift in STREAMS.items()
        ]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the later regret of SOGD with the weights of theory's schedule or with weights 1."""
        problem = QuadraticBilevel(drift=STREAMS[case], sampling_noise=NOISE)
        solver = SOGD(schedule="theory", outer_step=FIRST_STEP, **(RAW if method == WEIGHTS_1 else {}))
        return {LATER_REGRET: measured(solver, problem, horizon, self.settings["replicas"])}
