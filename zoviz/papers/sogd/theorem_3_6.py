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

NONE, SLOW = "drift none", "drift slow"
EXPONENTS = {NONE: -2.0 / 3.0, SLOW: -1.0 / 3.0}
"""What is claimed without drift and under slow drift."""
DRIFTS: dict[str, Literal["none", "walk"]] = {NONE: "none", SLOW: "walk"}
"""The problem's drift in both cases: the slow one has no period in log T, in which means of regrets would oscillate."""
FIRST_STEP = 0.3
"""SOGD's alpha_1; theory's offset c, which follows, is 36."""
NOISE = 1.0
"""Deviation of a batch of one: so large that it, not the start, is what the later regret is made of."""
FACTORS = ("inner_factor", "system_factor", "outer_factor")
RAW: dict[str, Any] = dict.fromkeys(FACTORS, 1e9)
"""Factors with which every weight is 1: no recursion."""
RECURSION, WEIGHTS_1 = "recursion", "weights 1"
LATER_REGRET = "later regret"
FIRST_SEED = 9000
"""Of the instances and runs; nothing is chosen."""


def later_regret(run: Run, horizon: int) -> Array:
    """Return the mean squared hypergradient over rounds T/2 to T of a run that is over, (R,)."""
    rows, sums = run.trace[ITERATION], run.trace[REGRET]
    start, end = (np.flatnonzero(rows == T)[0] for T in (horizon // 2, horizon))
    return (sums[end] - sums[start]) / (horizon - horizon // 2)


def measured(solver: Solver, problem: OnlineBilevel, horizon: int, replicas: int, seed: int) -> Array:
    """Return the later regret (R,) of a method on a problem after T rounds."""
    return later_regrets(solver, problem, [horizon], replicas, seed)[0]


def later_regrets(solver: Solver, problem: OnlineBilevel, horizons: list[int], replicas: int, seed: int) -> Array:
    """Return the later regrets (horizons, R) of one run of a method on a problem."""
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=horizons[-1], seed=seed)
    run.run()
    return np.array([later_regret(run, horizon) for horizon in horizons])


class RegretsOfInstances(RateExperiment):
    """Later regrets on drawn instances, all T by one run: no method's steps depend on it."""

    __abstract = True

    anytime = True
    first_seed = FIRST_SEED

    def instance(self, case: str, seed: int) -> OnlineBilevel:
        """Return an instance of a case."""
        raise NotImplementedError

    def solver(self, method: str) -> Solver:
        """Return a method."""
        raise NotImplementedError

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the later regrets (horizons, R) of a method."""
        problem, horizons = self.instance(case, seed), self.settings["horizons"]
        return {LATER_REGRET: later_regrets(self.solver(method), problem, horizons, self.settings["replicas"], seed)}


class Theorem36(RegretsOfInstances):
    """Theorem 3.6 under slow drift and Remark 3.7 without drift."""

    title = "sogd Theorem 3.6"
    subject = "Later regret of SOGD against rounds, with recursive directions and with raw ones"
    printed = "Bounds: average regret of order T^(-1/3) under slow drift, T^(-2/3) sigma^2 without drift (Remark 3.7)."
    protocol = (
        "QuadraticBilevel, n = d = 10, drawn instances, noise 1, theory's schedule with alpha_1 = 0.3; slow drift is a "
        "random walk with steps of order 1 / t; nothing is tuned."
    )
    sizes = {
        "quick": {"horizons": [64, 128, 256], "instances": 2, "replicas": 4},
        "full": {"horizons": [256, 512, 1024, 2048, 4096, 8192], "instances": 6, "replicas": 4},
    }

    def rates(self) -> list[Rate]:
        texts = {
            NONE: ("Remark 3.7", "without drift the average regret falls as T^(-2/3)"),
            SLOW: ("Theorem 3.6", "under slow drift the average regret falls as T^(-1/3)"),
        }
        return [
            Rate(*texts[case], case, LATER_REGRET, power, RECURSION, WEIGHTS_1) for case, power in EXPONENTS.items()
        ]

    def instance(self, case: str, seed: int) -> OnlineBilevel:
        return QuadraticBilevel(drift=DRIFTS[case], sampling_noise=NOISE, seed=seed)

    def solver(self, method: str) -> Solver:
        return SOGD(schedule="theory", outer_step=FIRST_STEP, **(RAW if method == WEIGHTS_1 else {}))
