"""Paper sogd, Remark 4.4: recursive directions without a leader, beside online descent from two-point estimates.

The remark claims a regret of order T^(-2/3) for a stream without a leader, where zeroth-order online descent with steps
of order t^(-1/2) (Roy et al., 2022; Guan et al., 2023) has T^(-1/2). What is measured is the mean squared gradient of
g_t at y_t over the later half of T rounds, on the quadratic stream whose leader stands still, without drift. ZO-SOGD's
single-level form follows theory's schedule, with the mini-batches of (26), of order T^(2/3); beside it the same steps
along raw estimates, and ZO-GD with diminishing steps, from the same first step, with the same batches and with one
sample a round, as its papers have it: the last tells what the batches do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere
from zoviz.oracle import Oracle
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.sogd.theorem_3_6 import FIRST_SEED, NOISE, RECURSION, WEIGHTS_1
from zoviz.problems import QuadraticBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.solvers import ZOGD, Solver, ZORecursiveGD

SIZE = 8
"""n = d."""
FIRST_STEP = 0.1
DIRECTIONS = 8
DESCENT, ONE_SAMPLE = "ZO-GD, t^(-1/2)", "ZO-GD, one sample"
LATER_SLOPES = "later squared gradient"


def later_slopes(solver: Solver, problem: OnlineBilevel, horizon: int, replicas: int, seed: int) -> Array:
    """Return the mean of ||grad_y g_t(x, y_t)||^2, exact, over rounds T/2 to T, (R,)."""
    streams, total = Streams(seed, replicas), np.zeros(replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    for t in range(horizon):
        played = solver.iterate(state)
        state, _ = solver.step(state, oracle, streams)
        if played.inner is not None and t >= horizon // 2:
            slope = problem.inner_gradient(played.x, played.inner, problem.exact(oracle.sample))
            total += np.square(slope).sum(axis=1) / (horizon - horizon // 2)
    return total


def solver_for(method: str, horizon: int) -> Solver:
    """Return one of the methods for a horizon."""
    both: dict[str, Any] = {
        "inner_step": FIRST_STEP,
        "estimator": CentralSphere(smoothing_radius=1e-3, batch_size=DIRECTIONS),
    }
    batch = math.ceil(horizon ** (2.0 / 3.0) / SIZE**0.75)
    if method in (RECURSION, WEIGHTS_1):
        weight = 0.99 if method == RECURSION else 1.0
        return ZORecursiveGD(schedule="theory", weight=weight, inner_batch=batch, **both)
    return ZOGD(schedule="diminishing", inner_batch=1 if method == ONE_SAMPLE else batch, **both)


class Remark44(RateExperiment):
    """Remark 4.4's rate without a leader, and that of the methods it is compared with."""

    first_seed = FIRST_SEED
    title = "sogd Remark 4.4"
    subject = "Later squared gradients of the single-level form against rounds, beside ZO-GD"
    printed = "Bounds: T^(-2/3) for the recursive directions, T^(-1/2) for Roy et al. and Guan et al."
    protocol = "QuadraticBilevel with a leader at rest, d = 8, drawn instances, noise 1, no drift, eight directions."
    sizes = {
        "quick": {"horizons": [100, 400], "instances": 2, "replicas": 2},
        "full": {"horizons": [100, 174, 303, 528, 919, 1600], "instances": 6, "replicas": 8},
    }

    def rates(self) -> list[Rate]:
        case, ours = "no leader", "without a leader the regret falls as T^(-2/3)"
        place, exponent = "Remark 4.4", -2.0 / 3.0
        return [
            Rate(place, ours, case, LATER_SLOPES, exponent, RECURSION, WEIGHTS_1),
            Rate(
                place, f"{ours}, and not with the same batches alone", case, LATER_SLOPES, exponent, RECURSION, DESCENT
            ),
            Rate(place, f"{ours}, and not with one sample", case, LATER_SLOPES, exponent, RECURSION, ONE_SAMPLE),
            Rate(place, "ZO-GD's regret falls as T^(-1/2)", case, LATER_SLOPES, -0.5, ONE_SAMPLE, ""),
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the later squared gradients of a method."""
        problem = QuadraticBilevel(n=SIZE, d=SIZE, drift="none", sampling_noise=NOISE, seed=seed)
        solver = solver_for(method, horizon)
        return {LATER_SLOPES: later_slopes(solver, problem, horizon, self.settings["replicas"], seed)}
