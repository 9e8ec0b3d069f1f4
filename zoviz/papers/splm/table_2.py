"""Paper splm, Table 2: iterations of ZO-SPLM to stochastic epsilon-stationarity, epsilon < 1, on the nonconvex QCQP.

k = 10000 directions, x0 uniform in [-1, 1]^n, constant steps from the solver's own rule, with the instance's exact
constants, at every n. The start is not printed in the paper, nor are its steps, so what is compared is the count that
the published algorithm needs with one untuned rule.

    python -m zoviz.papers.splm.table_2                      # n = 50 and 100, a minute or two
    python -m zoviz.papers.splm.table_2 --n 200              # about half an hour
    python -m zoviz.papers.splm.table_2 --seeds 0 1 2 3 4    # several instances, to see how much the figure owes to one
    python -m zoviz.papers.splm.table_2 --methods --n 50     # beside SZO-ConEX and ZO-ALM, each at its best steps too
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from zoviz.estimators import Sphere
from zoviz.papers.splm import comparison
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.columns import STATIONARITY
from zoviz.runs.run import Run
from zoviz.solvers import ZOSPLM
from zoviz.solvers.step_rules import FAR

CAP = 100.0
"""The dual cap B, which the paper leaves open."""
PAPER = {50: 496, 100: 1309, 200: 1962}
"""Iterations that Table 2 prints for ZO-SPLM, by n."""
LIMIT = {50: 0.2, 100: 0.2, 200: 0.5}
"""Largest share of the paper's iterations that a test allows, by n."""


def hits(n: int, seed: int, replicas: int, batch: int, iterations: int) -> np.ndarray:
    """Return the iterations (R,) until all three stationarity measures are <= 1; NaN where the budget ended first."""
    solver = ZOSPLM(
        estimator=Sphere(smoothing_radius=None, batch_size=batch),
        step_reach=FAR,
        restoration=0,
        augmentation=False,
        dual_cap=CAP,
    )
    run = Run(
        problem=NonconvexQCQP(n=n, seed=seed),
        solver=solver,
        replicas=replicas,
        seed=seed,
        iterations=iterations,
        targets={STATIONARITY: 1.0},
        stop_at_targets=True,
    )
    run.run()
    return run.hits[0].iteration


def main() -> None:
    """Print a line per instance, and per n the mean over all of them beside the paper's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[50, 100], help="variables")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="instances")
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--batch", type=int, default=10_000, help="directions k")
    parser.add_argument("--iterations", type=int, default=3000, help="budget")
    parser.add_argument("--methods", action="store_true", help="compare the three methods of the table")
    options = parser.parse_args()
    if options.methods:
        for n, seed in itertools.product(options.n, options.seeds):
            comparison.compare(n, seed, options.replicas, options.batch)
        return
    print("    n instance iterations  ± s.e. slowest  paper  share  limit")
    for n in options.n:
        everything = []
        for seed in options.seeds:
            started = time.perf_counter()
            counts = hits(n, seed, options.replicas, options.batch, options.iterations)
            everything.append(counts)
            report(n, str(seed), counts, f"{time.perf_counter() - started:.0f} s")
        if len(everything) > 1:
            report(n, "all", np.concatenate(everything), "")


def report(n: int, instance: str, counts: np.ndarray, note: str) -> None:
    """Print one line of the table from iterations to the target (R,); the mean is infinite where one had no hit."""
    missing = int(np.isnan(counts).sum())
    if missing:
        note += f"  {missing} of {counts.size} replicas did not get there"
    if missing == counts.size:
        print(f"{n:5d} {instance:>8} {note}", flush=True)
        return
    # A mean over those that got there would be that of the lucky.
    mean = counts.mean() if not missing else np.inf
    error = np.nan if missing else counts.std(ddof=1) / np.sqrt(counts.size)
    paper = PAPER.get(n, np.nan)
    print(
        f"{n:5d} {instance:>8} {mean:10.1f} {error:7.2f} {np.nanmax(counts):7.0f} {paper:6.0f} {mean / paper:6.3f} "
        f"{LIMIT.get(n, np.nan):6.2f}  {note}",
        flush=True,
    )


if __name__ == "__main__":
    main()
