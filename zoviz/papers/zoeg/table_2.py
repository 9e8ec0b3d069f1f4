"""Paper zoeg, Table 2: evaluations of ZOBCEG on load tracking, by block size, with the best constant step.

Counting is the paper's, 2 (tau_x + tau_y + 1) evaluations of the saddle function per iteration; the smoothing radius is
min{5 / (k + 1)^1.1, 1e-3}. "Reach" is read as the first hit: the first iterate whose |f - f*| / f*, or whose violation,
is no larger than the level. The last entry (after which the measure stays below to the end) stands beside it.

    python -m zoviz.papers.zoeg.table_2                 # the whole grid, a few minutes
    python -m zoviz.papers.zoeg.table_2 --blocks 5      # one block size
    python -m zoviz.papers.zoeg.table_2 --claims        # what Fig. 1 claims of ZOEG, SZO-ConEX and ZOGDA, some minutes
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from zoviz.estimators import Block
from zoviz.papers.zoeg import figure_1
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import ITERATION, RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG

LEVELS = [(RELATIVE_GAP, 0.05), (RELATIVE_GAP, 0.01), (RELATIVE_GAP, 0.001)]
LEVELS += [(VIOLATION, 5.0), (VIOLATION, 1.0), (VIOLATION, 0.1)]
"""Relative errors and violations in kW that Table 2 counts evaluations to."""
PAPER = {
    1: (2460.6, 4247.1, 5664.9, 210.6, 359.7, 1309.2),
    5: (905.8, 1479.1, 1786.4, 183.4, 466.2, 1488.9),
    100: (581.4, 1458.6, 2723.4, 2152.2, 2876.4, 4324.8),
}
"""Evaluations that Table 2 prints, by block size, in the order of ``LEVELS``."""
GRID = {
    1: ((0.2, 0.3, 0.4, 0.5), (1e-3, 3e-3, 1e-2, 0.03, 0.1)),
    5: ((0.2, 0.3, 0.4, 0.5), (3e-3, 1e-2, 0.02, 0.03, 0.1)),
    100: ((0.15, 0.2, 0.25, 0.3), (0.02, 0.03, 0.05, 0.055, 0.06, 0.07, 0.1)),
}
"""Steps of x and of y that are searched, by block size."""
ITERATIONS = {1: 3000, 5: 1500, 100: 400}
"""Iterations of a run, by block size: enough for the paper's largest figure."""


Pair = tuple[np.ndarray, np.ndarray]
"""First hits and last entries in evaluations as the paper counts, each (levels, R); NaN where none."""


def solve(block: int, step: float, dual: float, problem: LoadTracking, replicas: int, seed: int) -> Pair:
    """Run one block size at one grid point, and return the hits of all levels."""
    solver = ZOBCEG(
        primal_step=step,
        dual_step=dual,
        radius_scale=5.0,
        radius_power=1.1,
        estimator=Block(smoothing_radius=1e-3, block_size=block, scaled=False),
    )
    levels: dict[str, list[float]] = {}
    for metric, level in LEVELS:
        levels.setdefault(metric, []).append(level)
    run = Run(
        problem=problem, solver=solver, replicas=replicas, seed=seed, iterations=ITERATIONS[block], targets=levels
    )
    run.run()
    first = {(hit.metric, hit.threshold): hit.iteration for hit in run.hits}
    per_iteration = 2 * (block + 1 + 1)
    entries = [last_entry(run.trace[ITERATION], run.trace[metric], level) for metric, level in LEVELS]
    return per_iteration * np.array([first[key] for key in LEVELS]), per_iteration * np.array(entries)


def last_entry(iteration: np.ndarray, values: np.ndarray, level: float) -> np.ndarray:
    """Return the first recorded iteration (R,) from which all values stay within the level."""
    outside = values > level
    last = len(iteration) - 1 - np.argmax(outside[::-1], axis=0)
    entry = np.where(outside.any(axis=0), np.append(iteration, np.nan)[last + 1], iteration[0])
    return entry


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of ``values`` (R,) and its standard error; infinite where a replica has none."""
    if np.isnan(values).any():
        return np.inf, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def report(block: int, results: dict[tuple[float, float], Pair]) -> None:
    """Print each cell at its own best grid point, then all at the single step with the smallest worst ratio."""
    paper = PAPER[block]
    print(f"\nblock size {block}: {len(results)} grid points, eta x dual step", flush=True)
    print("               level  first hit  ± s.e.   paper  ratio  at (eta, dual)  last entry")
    for i, (metric, level) in enumerate(LEVELS):
        best = min(results, key=lambda steps: mean_and_error(results[steps][0][i])[0])
        line(metric, level, results[best], i, paper[i], best)
    single = min(results, key=lambda s: max(mean_and_error(results[s][0][i])[0] / paper[i] for i in range(len(LEVELS))))
    print("  the best single step:")
    for i, (metric, level) in enumerate(LEVELS):
        line(metric, level, results[single], i, paper[i], single)


def line(metric: str, level: float, hits: Pair, i: int, paper: float, steps: tuple) -> None:
    """Print one cell of the table beside the paper's figure."""
    (mean, error), (last, _) = mean_and_error(hits[0][i]), mean_and_error(hits[1][i])
    name = f"{metric} {level:g}"
    cells = f"{name:>20} {mean:10.1f} {error:7.1f} {paper:7.1f} {mean / paper:6.2f}"
    print(f"{cells}  {steps!s:<15} {last:10.1f}", flush=True)


def main() -> None:
    """Run the grid and print Table 2 beside the paper's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, nargs="+", default=[1, 5, 100], choices=sorted(GRID))
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of starting points and blocks")
    parser.add_argument("--instance", type=int, default=0, help="seed of a, b, u and gamma")
    parser.add_argument("--claims", action="store_true", help="Fig. 1 instead of Table 2")
    options = parser.parse_args()
    if options.claims:
        figure_1.report(options.instance, options.replicas)
        return
    problem = LoadTracking(seed=options.instance)
    for block in options.blocks:
        grid = itertools.product(*GRID[block])
        report(block, {steps: solve(block, *steps, problem, options.replicas, options.seed) for steps in grid})


if __name__ == "__main__":
    main()
