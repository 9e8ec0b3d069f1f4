r"""Every solver of our own on paper conex's quadratic programme under its own noise, told nothing but its defaults.

100 replicas of each on ``ConexQCQP`` with n = 50 and noise of standard deviation 1 on every value, normal or Student's
with 5 degrees of freedom, drawn anew for every value (independent) or once an iteration (common). Printed are the
replicas that the guard stopped, and those whose last objective is farther from the optimal value than the start's or
whose violation is larger than the start's largest, beside the median and the worst share of the start's gap that is
left. The gap of a point that is not feasible may be negative: its size counts.

With seed 1 none of the 4400 is stopped or ends worse: in the median 0.02 to 0.23 of the gap is left under independent
noise (DSZOG 0.5) and 0.001 to 0.05 under common noise (DSZOG 0.1).

    python -m zoviz.papers.robustness.noise                          # 5000 calls a replica, some minutes
    python -m zoviz.papers.robustness.noise --solvers ZOSPLM --contracts independent
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from zoviz import solvers
from zoviz.core.errors import OracleError
from zoviz.papers.robustness.guard import CONSTRAINED
from zoviz.problems import ConexQCQP
from zoviz.runs.engine.columns import GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver

N, SIGMA, REPLICAS, CALLS = 50, 1.0, 100, 5000
Contract = Literal["independent", "common"]
Law = Literal["normal", "student_t"]
CONTRACTS: tuple[Contract, ...] = ("independent", "common")
LAWS: tuple[Law, ...] = ("normal", "student_t")
SOLVERS = (*(one.__name__ for one in CONSTRAINED), "ProximalPoint")


class Row(NamedTuple):
    """What became of the replicas of one solver.

    Attributes
    ----------
    stopped : int
        Those that the guard stopped, or that failed.
    worse : int
        Those that ended farther from the optimal value than they began, or outside of all starts' violations.
    median, worst : float
        Shares of the start's gap that are left.
    """

    stopped: int
    worse: int
    median: float
    worst: float


def outcome(solver: Solver, contract: Contract, law: Law, calls: int, seed: int = 1, replicas: int = REPLICAS) -> Row:
    """Run a solver by its defaults, and count."""
    problem = ConexQCQP(n=N, noise=contract, noise_scale=SIGMA, noise_distribution=law)
    run = Run(problem, solver, replicas=replicas, calls=calls, seed=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.run()
    except OracleError:
        if run.state is None:
            return Row(replicas, replicas, np.inf, np.inf)
    gap, violation = np.abs(run.trace[GAP]), run.trace[VIOLATION]
    share = np.where(np.isfinite(gap[-1]), gap[-1] / gap[0], np.inf)
    worse = ~(share <= 1.0) | ~(violation[-1] <= max(violation[0].max(), SIGMA))
    return Row(run.frozen, int(worse.sum()), float(np.median(share)), float(share.max()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and return how many replicas were stopped or ended worse than they began."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solvers", nargs="*", default=SOLVERS)
    parser.add_argument("--contracts", nargs="*", choices=CONTRACTS, default=CONTRACTS)
    parser.add_argument("--calls", type=int, default=CALLS)
    options: Any = parser.parse_args(arguments)
    lost = 0
    print(f"{'noise':<22} {'solver':<14} {'stopped':>7} {'worse':>6} {'median left':>12} {'worst':>9}")
    for contract in options.contracts:
        for law in LAWS:
            for name in options.solvers:
                row = outcome(getattr(solvers, name)(), contract, law, options.calls)
                lost += row.stopped + row.worse
                words = f"{contract + ', ' + law:<22} {name:<14} {row.stopped:>7} {row.worse:>6}"
                print(f"{words} {row.median:12.2g} {row.worst:9.2g}", flush=True)
    return lost


if __name__ == "__main__":
    main()
