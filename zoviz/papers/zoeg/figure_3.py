"""Paper zoeg, Figure 3: ZOEG and ZOBCEG, by block size, on load tracking with AC power flow.

The figure's numbers are not printed; its two claims are: ZOBCEG converges faster than ZOEG, and faster with larger
blocks. Both are tested per iteration, as the figure draws them, and per oracle call, which is what a user pays for.

The error of a point is max(|f - f*| / f*, [p_c - D]_+ / D). What is counted is the last entry: the first recorded
iteration from which the error stays below the level to the end of the run. Every method has constant steps, its best
pair of a grid (the paper prints no steps for ZOBCEG); ZOEG with the paper's step 3e-6 for both x and y stands beside
it. Radii are the paper's: min{0.1 / (k + 1)^1.2, 2e-4} for ZOBCEG; ZOEG's, which falls from 1.1e-6 to 3e-7 over 8,000
iterations, is 1e-6 throughout. The margin delta is left out: power flows are defined around X too.

    python -m zoviz.papers.zoeg.figure_3                          # half an hour
    python -m zoviz.papers.zoeg.figure_3 --blocks 20 168          # ZOBCEG only, some block sizes, some minutes
    python -m zoviz.papers.zoeg.figure_3 --replicas 50            # as many as the paper's
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.estimators import Block, Sphere
from zoviz.papers.zoeg.table_2 import last_entry, mean_and_error
from zoviz.problems import ACLoadTracking
from zoviz.runs.engine.columns import ITERATION, RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG, ZOEG, Solver

LEVELS = (0.3, 0.1)
ZOEG_ALONE, PUBLISHED = 0, -1
"""Stand for a block size where there is none: ZOEG at its best step, and at the paper's."""
PAPER_STEP = 3e-6
GRID = {
    PUBLISHED: ((PAPER_STEP,), (PAPER_STEP,)),
    ZOEG_ALONE: ((1e-6, 2e-6), (0.02,)),
    1: ((7e-3, 1.4e-2), (0.1, 0.3)),
    5: ((1.4e-3, 2.8e-3), (0.2, 0.5)),
    20: ((3.4e-4, 6.8e-4), (1.0, 3.0)),
    168: ((8e-5, 1.6e-4), (10.0, 30.0)),
}
"""Steps of x and of y; those of x are near 0.3 / (44 tau) and twice that: 44 is the curvature along one coordinate."""
ITERATIONS = {PUBLISHED: 8000, ZOEG_ALONE: 8000, 1: 3000, 5: 1000, 20: 400, 168: 100}
"""Iterations of a run, by block size."""


Steps = tuple[float, float]
"""Of x and of y."""


class Result(NamedTuple):
    """Iterations to stay within each level, (levels, R), NaN where none; final errors (R,); calls per iteration."""

    entries: Array
    errors: Array
    calls: float


def solver_of(block: int, primal: float, dual: float) -> Solver:
    """Return the method for a block size with given steps and the paper's radii."""
    steps: dict[str, Any] = {"primal_step": primal, "dual_step": dual, "dual_cap": 100.0}
    if block <= ZOEG_ALONE:
        return ZOEG(estimator=Sphere(smoothing_radius=1e-6, batch_size=1), radius_scale=1.0, **steps)
    estimator = Block(smoothing_radius=2e-4, block_size=block, scaled=False)
    return ZOBCEG(estimator=estimator, radius_scale=0.1, radius_power=1.2, **steps)


def solve(block: int, steps: Steps, problem: ACLoadTracking, replicas: int, seed: int) -> Result:
    """Run one block size at one grid point."""
    run = Run(
        problem=problem, solver=solver_of(block, *steps), replicas=replicas, seed=seed, iterations=ITERATIONS[block]
    )
    run.run()
    trace = run.trace
    error = np.maximum(trace[RELATIVE_GAP], trace[VIOLATION] / problem.target)
    entries = np.array([last_entry(trace[ITERATION], error, level) for level in LEVELS])
    return Result(entries, error[-1], float(run.result.calls.mean()) / ITERATIONS[block])


class Figure(NamedTuple):
    """Mean and standard error of the cost of a level, infinite where a replica missed it; and lower bounds.

    In the bounds a replica that never got there counts with its whole budget.
    """

    mean: float
    error: float
    least: float
    least_error: float

    def times(self, calls: float) -> Figure:
        """Return the figure in calls instead of iterations."""
        return Figure(*(calls * part for part in self))


def figure(entries: Array, budget: int) -> Figure:
    """Summarise the iterations (R,) that one level took."""
    return Figure(*mean_and_error(entries), *mean_and_error(np.where(np.isnan(entries), budget, entries)))


def best(results: dict[Steps, Result], level: int, budget: int) -> Steps:
    """Return the steps with the least mean at a level, or with the least final error where none reaches it."""

    def rank(steps: Steps) -> tuple[float, float]:
        return figure(results[steps].entries[level], budget).least, float(results[steps].errors.mean())

    return min(results, key=rank)


def report(block: int, results: dict[Steps, Result]) -> dict[str, list[Figure]]:
    """Print a line per level; return the figures in iterations and in calls."""
    name = {PUBLISHED: "ZOEG, 3e-6", ZOEG_ALONE: "ZOEG"}.get(block, f"ZOBCEG {block}")
    figures: dict[str, list[Figure]] = {"iterations": [], "calls": []}
    for i, level in enumerate(LEVELS):
        steps = best(results, i, ITERATIONS[block])
        entries, errors, calls = results[steps].entries[i], results[steps].errors, results[steps].calls
        now = figure(entries, ITERATIONS[block])
        figures["iterations"].append(now)
        figures["calls"].append(now.times(calls))
        missing = int(np.isnan(entries).sum())
        note = f"{missing} of {entries.size} not within {ITERATIONS[block]}" if missing else ""
        print(
            f"{name:>11} {level:6.2f} {now.mean:10.1f} {now.error:7.1f} {calls * now.mean:10.0f} "
            f"{calls * now.error:8.0f}  {steps!s:<17} {errors.mean():9.4f} {mean_and_error(errors)[1]:8.4f}  {note}",
            flush=True,
        )
    return figures


def verdict(slower: Figure, faster: Figure) -> str:
    """Return as text whether the second figure lies below the first by more than two standard errors."""
    if faster.mean + 2.0 * np.hypot(slower.least_error, np.nan_to_num(faster.error)) < slower.least:
        return "reproduced"
    if slower.mean + 2.0 * np.hypot(np.nan_to_num(slower.error), faster.least_error) < faster.least:
        return "not reproduced"
    return "not decided" if np.isinf([slower.mean, faster.mean]).any() else "no difference beyond two standard errors"


def verdicts(figures: dict[int, dict[str, list[Figure]]]) -> None:
    """Print whether both claims hold at every level, per iteration and per call."""
    blocks = [block for block in figures if block > ZOEG_ALONE]
    pairs = [(ZOEG_ALONE, block) for block in blocks if ZOEG_ALONE in figures] + list(itertools.pairwise(blocks))
    for i, level in enumerate(LEVELS):
        for slow, fast in pairs:
            slowest = "ZOEG" if slow == ZOEG_ALONE else f"ZOBCEG with block {slow}"
            outcomes = {
                unit: verdict(figures[slow][unit][i], figures[fast][unit][i]) for unit in ("iterations", "calls")
            }
            print(
                f"error {level:g}: ZOBCEG with block {fast} is faster than {slowest}: {outcomes['iterations']} per "
                f"iteration, {outcomes['calls']} per call"
            )


def main() -> None:
    """Run the grid, then print the table and whether the claims hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, nargs="+", default=list(GRID), choices=list(GRID))
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of starting points and directions")
    parser.add_argument("--instance", type=int, default=0, help="seed of the costs")
    parser.add_argument("--loads", default="case", choices=["case", "drawn"], help="initial loads; see ACLoadTracking")
    options = parser.parse_args()
    problem = ACLoadTracking(seed=options.instance, loads=options.loads)
    print("     method  level iterations  ± s.e.      calls   ± s.e.  (eta, eta_y)       final error  ± s.e.")
    figures = {}
    for block in sorted(options.blocks):
        grid = itertools.product(*GRID[block])
        figures[block] = report(block, {s: solve(block, s, problem, options.replicas, options.seed) for s in grid})
    verdicts(figures)


if __name__ == "__main__":
    main()
