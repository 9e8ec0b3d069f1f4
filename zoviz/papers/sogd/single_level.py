"""Paper sogd, Remark 4.4: recursive directions without a leader, beside online descent from two-point estimates.

The remark claims a regret of order T^(-2/3) for a stream without a leader, where zeroth-order online descent with steps
of order t^(-1/2) (Roy et al., 2022; Guan et al., 2023) has T^(-1/2). What is measured is the mean squared gradient of
g_t at y_t over the later half of T rounds, on the quadratic stream whose leader stands still, without drift. ZO-SOGD's
single-level form follows theory's schedule, with the mini-batches of (26), of order T^(2/3); beside it the same steps
along raw estimates, and ZO-GD with diminishing steps, from the same first step, with the same batches and with one
sample a round, as its papers have it: the last tells what the batches do.

    python -m zoviz.papers.sogd.single_level
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere
from zoviz.oracle import Oracle
from zoviz.papers.comparison import Comparison, compared, report
from zoviz.problems import QuadraticBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.solvers import ZOGD, Solver, ZORecursiveGD

EXPONENT = -2.0 / 3.0
SIZE = 8
"""n = d."""
NOISE = 1.0
"""Deviation of a batch of one."""
FIRST_STEP = 0.1
DIRECTIONS = 8


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


def solvers(horizon: int) -> dict[str, Solver]:
    """Return the methods for a horizon by name, the remark's first."""
    both: dict[str, Any] = {
        "inner_step": FIRST_STEP,
        "estimator": CentralSphere(smoothing_radius=1e-3, batch_size=DIRECTIONS),
    }
    batch = math.ceil(horizon ** (2.0 / 3.0) / SIZE**0.75)
    return {
        "recursion": ZORecursiveGD(schedule="theory", weight=0.99, inner_batch=batch, **both),
        "weights 1": ZORecursiveGD(schedule="theory", weight=1.0, inner_batch=batch, **both),
        "ZO-GD, t^(-1/2)": ZOGD(schedule="diminishing", inner_batch=batch, **both),
        "ZO-GD, one sample": ZOGD(schedule="diminishing", inner_batch=1, **both),
    }


def remark_4_4(horizons: list[int], replicas: int, seed: int = 0) -> dict[str, Comparison]:
    """Compare the recursion with each of the others, by their names."""
    problem = QuadraticBilevel(n=SIZE, d=SIZE, drift="none", sampling_noise=NOISE)
    table = [[later_slopes(one, problem, T, replicas, seed) for one in solvers(T).values()] for T in horizons]
    rows = np.moveaxis(np.array(table), 1, 0)  # method, horizon, replica
    names = list(solvers(1))
    return {name: compared(EXPONENT, horizons, rows[[0, i]]) for i, name in enumerate(names) if i}


def main() -> None:
    """Print a verdict for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--horizons", type=int, nargs="+", default=[250, 1000, 4000])
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name, outcome in remark_4_4(options.horizons, options.replicas, options.seed).items():
        report(f"Remark 4.4, beside {name}", outcome, ("recursion", name), EXPONENT)


if __name__ == "__main__":
    main()
