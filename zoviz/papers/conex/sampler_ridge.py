"""Paper conex, HMC tuning: where the best settings lie, by brute force, and what a trial costs.

The effective sample size over a grid of leapfrog steps, step sizes and burn-in shares at mass 1 (step and mass act
through step / sqrt(mass) only), means over trials that are none of a solver's; and the processor's time of trials
beside that of their leaps alone.

    python -m zoviz.papers.conex.sampler_ridge            # some minutes
    python -m zoviz.papers.conex.sampler_ridge --quick    # seconds
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Array
from zoviz.problems.learning.hmc_tuning import HIGHEST, LOWEST, START, HMCTuning

LEAPS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12)
STEPS = (0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08)
BURN_IN = (0.0, 0.05, 0.2)


class Cell(NamedTuple):
    """One setting: leaps, step, burn-in share; mean and deviation of ESS; the share of trials within the limits."""

    leaps: int
    step: float
    burn_in: float
    size: float
    spread: float
    feasible: float


def point(leaps: float, step: float, mass: float, burn_in: float) -> Array:
    """Return the point of the unit box, (4,), with these settings."""
    return (np.array([*np.log10([leaps, step, mass]), burn_in]) - LOWEST) / (HIGHEST - LOWEST)


def ridge(
    problem: HMCTuning, leaps: Sequence[int], steps: Sequence[float], burn_in: Sequence[float], trials: int
) -> list[Cell]:
    """Return all cells of the grid, the largest effective sample size first."""
    cells = []
    for one in itertools.product(leaps, steps, burn_in):
        outcomes = problem.trials(point(one[0], one[1], 1.0, one[2]), trials)
        within = (outcomes.score <= problem.score_limit) & (outcomes.reduction <= problem.reduction_limit)
        cells.append(Cell(*one, float(outcomes.size.mean()), float(outcomes.size.std(ddof=1)), float(within.mean())))
    return sorted(cells, key=lambda cell: -cell.size)


def overhead(problem: HMCTuning, trials: int, repeats: int) -> float:
    """Return the time of trials at the start over that of as many bare leaps: the median of pairs, one after another.

    The clock is the thread's own, and what else the machine does strikes both of a pair alike.
    """
    posterior, x, numbers = problem.data, np.tile(START, (trials, 1)), np.arange(trials)

    def leaps() -> None:
        at = np.full((trials * problem.chains, posterior.signed.shape[1]), 1e-3)
        half = np.zeros_like(at)
        for _ in range(problem.gradients):
            half = half - 0.02 * posterior.slope(posterior.weights(posterior.margins(at)), at)
            at = at + 0.02 * half

    with SingleBlasThread():
        pairs = [(_spent(lambda: problem.evaluate(x, numbers)), _spent(leaps)) for _ in range(repeats)]
    return float(np.median([whole / bare for whole, bare in pairs]))


def _spent(work: Callable[[], object]) -> float:
    """Return the seconds of this thread that a piece of work takes."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the ten best cells, and the overhead."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few cells, few trials, short chains")
    quick = parser.parse_args(arguments).quick
    problem = HMCTuning(gradients=500 if quick else 2000)
    grid = ((4, 6), (0.04, 0.07), (0.0,)) if quick else (LEAPS, STEPS, BURN_IN)
    cells = ridge(problem, grid[0], grid[1], grid[2], trials=3 if quick else 12)
    print(f"{problem.gradients} gradients; ESS of the worst variable, two chains together")
    print("  L   step  burn-in    ESS   sd  feasible")
    for cell in cells[:10]:
        print(
            f"{cell.leaps:3d}  {cell.step:5.3f}  {cell.burn_in:7.2f}  {cell.size:5.0f} {cell.spread:4.0f}  "
            f"{cell.feasible:8.2f}"
        )
    print(f"a trial among ten takes {overhead(problem, 10, 1 if quick else 25):.2f} times its leaps alone")


if __name__ == "__main__":
    main()
