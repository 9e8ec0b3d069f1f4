"""Paper salm, §6: its applications, for which it prints no figures, beside general solvers on the full problems.

Fair classification (§6.3): Algorithm 1, and Algorithm 3 on request, for bounds c from loose to tight, against SciPy's
SLSQP on all data from the same start, and for losses that are not convex from where the method ended, too. Network
slicing (§6.2): the assignment that is read off, its routes by linear programming, and the best binary plan by branch
and bound. Distributed optimisation (§6.1): 50 nodes and edges with probability 0.1, Algorithm 2, against the
centralised solution.

Steps are constants of order 1 / L, not the theorem's: see ``cases.long_steps``, and ``WEIGHTS`` there for the loss
where mu is less than L_f. ``--steps default`` leaves every parameter to the methods, mini-batches of 1 among them.

    python -m zoviz.papers.salm.applications                       # all three, minutes
    python -m zoviz.papers.salm.applications --only fair --loss "smoothed 0-1"
    python -m zoviz.papers.salm.applications --steps default --iterations 50000
"""

from __future__ import annotations

import argparse
import itertools
from typing import get_args

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.papers.salm.cases import METHODS, Steps, consensus, fair, slices
from zoviz.problems import NetworkSlicing
from zoviz.problems.margin_losses import LOSSES, Loss
from zoviz.runs.engine.columns import ITERATION, OBJECTIVE

PARTS = ("fair", "slices", "consensus")
BOUNDS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)
"""c, from one that does not bind to a tight one."""


def report_fair(loss: Loss, method: str, replicas: int, iterations: int, steps: Steps = "long") -> None:
    """Print the accuracy and covariance of fair classification, a line for every bound on the covariance."""
    print(f"\nfair classification, {loss} loss, {method}, {steps} steps, {replicas} replicas, {iterations} iterations")
    print("      c  covariance (largest)  accuracy  of SLSQP      f  f / SLSQP's from the start (range)  from here")
    for bound in BOUNDS:
        outcomes = fair(bound, loss, method, iterations, replicas=replicas, steps=steps)
        ratio, here = outcomes.objective / outcomes.general, outcomes.objective / outcomes.from_here
        print(
            f"{bound:7.3g} {outcomes.covariance.max():21.4f} {outcomes.accuracy.mean():9.4f} "
            f"{outcomes.general_accuracy.mean():9.4f} {outcomes.objective.mean():6.4f} "
            f"{ratio.min():18.4f} to {ratio.max():.4f} {here.min():10.4f} to {here.max():.4f}",
            flush=True,
        )


def report_slices(seeds: int, replicas: int, iterations: int, steps: Steps = "long") -> None:
    """Print costs of network slicing beside the cheapest plan's, a line for every network."""
    print(f"\nnetwork slicing, Alg. 1, {steps} steps, {replicas} replicas, {iterations} iterations")
    print("network  binary within 1e-3  assignment allowed  cost / cheapest plan's       ||Ax - b||  of the rounded")
    for seed in range(seeds):
        outcomes = slices(NetworkSlicing(seed=seed), iterations, replicas, steps)
        ratio = np.sort(outcomes.routed / outcomes.best)
        print(
            f"{seed:7} {(outcomes.binary_distance < 1e-3).sum():12} of {replicas} {np.isfinite(ratio).sum():14} of "
            f"{replicas}   {' '.join(f'{r:6.3f}' for r in ratio)} {outcomes.violation.max():12.1e} "
            f"{outcomes.assignment_violation.max():12.1e}",
            flush=True,
        )


def report_consensus(replicas: int, iterations: int, steps: Steps = "long") -> None:
    """Print the gap of distributed optimisation on the random graph, a line for each quarter of the run."""
    run = consensus(replicas=replicas, iterations=iterations, steps=steps)
    optimum = run.problem.known_optimum
    if optimum is None:
        raise ZovizError(f"Expected a problem whose optimum is known, got {run.problem.title}: the errors need f*.")
    best = optimum.value
    print(f"\ndistributed optimisation, 50 nodes, p = 0.1, Alg. 2, {steps} steps, {replicas} replicas; f* = {best:.6f}")
    print("iteration  consensus error (largest)  |f - f*| / f*  the mean's")
    columns = run.trace.snapshot().columns
    for share in (0.25, 0.5, 0.75, 1.0):
        row = np.searchsorted(columns[ITERATION], share * iterations, side="right") - 1
        error, own, mean = (columns[name][row] for name in ("consensus_error", OBJECTIVE, "mean_objective"))
        print(
            f"{columns[ITERATION][row]:9.0f} {error.max():26.2e} {np.abs(own / best - 1.0).max():14.1e} "
            f"{np.abs(mean / best - 1.0).max():11.1e}",
            flush=True,
        )


def report(
    only: list[str], losses: list[Loss], methods: list[str], replicas: int, iterations: int, steps: Steps = "long"
) -> None:
    """Print the tables that ``only`` names; slices and consensus take half the iterations."""
    if "fair" in only:
        for loss, method in itertools.product(losses, methods):
            report_fair(loss, method, replicas, iterations, steps)
    if "slices" in only:
        report_slices(4, replicas, iterations // 2, steps)
    if "consensus" in only:
        report_consensus(replicas, iterations // 2, steps)


def main() -> None:
    """Print the tables of the applications that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=PARTS, help="which of the three")
    parser.add_argument("--loss", nargs="+", default=list(LOSSES), choices=LOSSES)
    parser.add_argument("--method", nargs="+", default=["Alg. 1"], choices=list(METHODS))
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=8000, help="for the classifier; half of it for the others")
    parser.add_argument("--steps", default="long", choices=get_args(Steps))
    options = parser.parse_args()
    report(options.only, options.loss, options.method, options.replicas, options.iterations, options.steps)


if __name__ == "__main__":
    main()
