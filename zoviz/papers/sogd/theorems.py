"""Paper sogd: its rates on horizons over which the steps really fall, each method beside itself without recursion.

Theorem 3.6 and Remark 3.7 credit the recursive directions: without drift the noise's part of the average regret of SOGD
is claimed to fall as T^(-2/3), and under slow drift the whole as T^(-1/3). With all weights 1 the same steps follow the
raw directions. What is measured is the mean squared hypergradient over the later half of T rounds, which leaves the
start out: over all rounds a start that is forgotten falls as 1 / T under any method. The outer step of the first round
is such that theory's alpha_t falls by two thirds from round 500 to 8000; the rule's own hardly falls there.

Theorem 4.2 has the same rates for ZO-SOGD, on a follower that is not quadratic, so that smoothing has a bias, with
radii and batches of (26), and a factor (n + d)^(3/4), over dimensions. There the weights fall as the steps do, so that
the recursion averages over as many rounds as x takes to move, at any T: what falls faster is the batches' noise.
Without either it stands beside itself, at n = d = 1, where the printed batches are more than 1 at these T.

    python -m zoviz.papers.sogd.theorems
"""

from __future__ import annotations

import argparse
import math
from typing import Any, Literal

import numpy as np

from zoviz.core.types import Array
from zoviz.estimators import CentralSphere
from zoviz.papers.comparison import Comparison, Slope, compared, report
from zoviz.papers.sogd.regret import variations
from zoviz.problems import CurvedBilevel, QuadraticBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.runs.engine.columns import ITERATION, REGRET
from zoviz.runs.run import Run
from zoviz.solvers import SOGD, ZOSOGD, Solver

Drift = Literal["none", "slow"]
CLAIMS: tuple[tuple[Drift, str, float], ...] = (
    ("none", "no drift, Remark 3.7", -2.0 / 3.0),
    ("slow", "slow drift, Theorem 3.6", -1.0 / 3.0),
)
"""Streams, with the claim on SOGD and its exponent; that of Theorem 4.2 on ZO-SOGD is the same."""
FIRST_STEP = 0.3
"""SOGD's alpha_1; theory's offset c, which follows, is 36."""
OFFSET = 10.0
"""ZO-SOGD's offset c."""
NOISE = 1.0
"""Deviation of a batch of one: so large that it, not the start, is what the later regret is made of."""
FACTORS = ("inner_factor", "system_factor", "outer_factor")
NONE = dict.fromkeys(FACTORS, 1e9)
"""Factors with which every weight is 1: no recursion."""
WEIGHT_FACTOR = 1.0
"""ZO-SOGD's c_gamma, c_lambda and c_eta. With the rule's, whose first weight is 0.9, the recursion forgets before x has
moved, and hardly does anything at any T."""
ABLATIONS: dict[str, dict[str, Any]] = {"weights 1": NONE, "batches of 1": {"outer_batch": 1, "inner_batch": 1}}
"""ZO-SOGD without what Theorem 4.2 credits, by name."""
DIMENSIONS = (2, 4, 8, 16)
"""n = d, over which theory's factor is fitted."""


def later_regret(run: Run, horizons: list[int]) -> Array:
    """Return the mean squared hypergradient over rounds T/2 to T of a run that is over, (horizons, R)."""
    rows, sums = run.trace[ITERATION], run.trace[REGRET]
    ends = {T: np.flatnonzero(rows == T)[0] for T in {*horizons, *(T // 2 for T in horizons)}}
    return np.array([(sums[ends[T]] - sums[ends[T // 2]]) / (T - T // 2) for T in horizons])


def measured(solver: Solver, problem: OnlineBilevel, horizons: list[int], replicas: int, seed: int) -> Array:
    """Return the later regrets (horizons, R) of one run over the longest: theory's schedule of SOGD knows no T."""
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=max(horizons), seed=seed)
    run.run()
    return later_regret(run, horizons)


def first_order(drift: Drift, horizons: list[int], replicas: int, seed: int = 0, noise: float = NOISE) -> Comparison:
    """Compare SOGD in theory's schedule with itself without recursion, n = d = 10."""
    problem = QuadraticBilevel(drift=drift, sampling_noise=noise)
    schedules: list[dict[str, Any]] = [{}, NONE]
    solvers = [SOGD(schedule="theory", outer_step=FIRST_STEP, **settings) for settings in schedules]
    exponent = -2.0 / 3.0 if drift == "none" else -1.0 / 3.0
    rows = [measured(one, problem, horizons, replicas, seed) for one in solvers]
    return compared(exponent, horizons, np.array(rows))


def of_theory(problem: OnlineBilevel, horizon: int, **settings: Any) -> ZOSOGD:
    """Return ZO-SOGD with schedule, radii and batches of (26), ten directions, and the same c in every dimension.

    Batches are at least 1; ``settings`` are other values of some parameters.
    """
    n, d = problem.domain.n, problem.inner_domain.n
    values: dict[str, Any] = {
        "outer_step": (n + d) ** -0.75 * OFFSET ** (-1.0 / 3.0),
        "outer_batch": math.ceil(horizon ** (1 / 3) / (n + d) ** 1.5),
        "inner_batch": math.ceil(horizon ** (2 / 3) / (n + d) ** 0.75),
        "estimator": CentralSphere(smoothing_radius=1.0 / (d * math.sqrt(horizon)), batch_size=10),
        "outer_estimator": CentralSphere(smoothing_radius=1.0 / (n * math.sqrt(horizon)), batch_size=10),
        **dict.fromkeys(FACTORS, WEIGHT_FACTOR),
    }
    return ZOSOGD(schedule="theory", **values | settings)


def zeroth_order(
    drift: Drift, horizons: list[int], replicas: int, seed: int = 0, size: int = 1
) -> dict[str, Comparison]:
    """Compare ZO-SOGD by (26) with itself without each of ``ABLATIONS``, on the curved problem, a run for every T."""
    problem = CurvedBilevel(n=size, d=size, drift=drift, sampling_noise=NOISE, conditioning=2.0)
    rows = {
        name: [measured(of_theory(problem, T, **settings), problem, [T], replicas, seed)[0] for T in horizons]
        for name, settings in {"": {}, **ABLATIONS}.items()
    }
    exponent = -2.0 / 3.0 if drift == "none" else -1.0 / 3.0
    return {name: compared(exponent, horizons, np.array([rows[""], rows[name]])) for name in ABLATIONS}


def dimension_factor(horizon: int, replicas: int, seed: int = 0) -> tuple[Array, Slope]:
    """Return the later regrets (dimensions,) of ZO-SOGD without drift, and their exponent of n + d.

    The claim's other factor, the samples' variance over all coordinates, is the same in every dimension.
    """
    rows = []
    for size in DIMENSIONS:
        problem = CurvedBilevel(n=size, d=size, drift="none", sampling_noise=NOISE / size**0.5, conditioning=2.0)
        rows.append(measured(of_theory(problem, horizon), problem, [horizon], replicas, seed)[0])
    table = np.array(rows)
    both = compared(0.75, [2 * size for size in DIMENSIONS], np.array([table, table]))
    return table.mean(axis=1), both.method


def main() -> None:
    """Print a verdict for each claim."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--horizons", type=int, nargs="+", default=[500, 2000, 8000], help="halved for ZO-SOGD")
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    horizons, replicas, seed = options.horizons, options.replicas, options.seed
    names = ("recursion", "weights 1")
    print(f"later regret at {horizons}, {replicas} replicas, noise {NOISE:g}: means, exponents of T ± standard errors")
    for drift, title, claimed in CLAIMS:
        sums = [variations(QuadraticBilevel(drift=drift), T) for T in horizons]
        for name, values in zip(("H_2,T", "D_T", "G_T"), zip(*sums, strict=True), strict=True):
            print(f"  drift {drift}, {name}: {', '.join(f'{value:.4g}' for value in values)}")
        report(title, first_order(drift, horizons, replicas, seed), names, claimed)
    shorter = [T // 2 for T in horizons]
    print(f"zeroth-order, curved problem, n = d = 1, at {shorter}")
    for drift, _, claimed in CLAIMS:
        for name, outcome in zeroth_order(drift, shorter, replicas, seed).items():
            report(f"Theorem 4.2, drift {drift}", outcome, ("as printed", name), claimed)
    levels, slope = dimension_factor(shorter[1], replicas, seed)
    cells = ", ".join(f"{2 * size}: {level:.4g}" for size, level in zip(DIMENSIONS, levels, strict=True))
    low, high = slope.interval
    verdict = "yes" if low <= 0.75 else "no"
    print(f"Theorem 4.2, later regret by n + d: {cells}; exponent {slope.value:.3f} [{low:.3f}, {high:.3f}]")
    print(f"  at most 3/4: {verdict}")


if __name__ == "__main__":
    main()
