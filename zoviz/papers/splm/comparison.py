"""Paper splm, Table 2 as a comparison: iterations of ZO-SPLM, SZO-ConEX and ZO-ALM until epsilon-stationary, eps < 1.

All three with the same sphere estimator (k = 10000, r = 1e-5), from the same starts, twice: with the solver's own rule,
and at the best point of one grid of steps. Steps are in units that do not depend on the instance: the primal one of
1 / L_f, the dual one (for ZO-ALM the penalty and the dual step, kept equal) of L_f / G_0^2. The grid is searched with a
twentieth of the directions, 4 replicas and other starts; the two best points are run in full, and the better one shown.

    python -m zoviz.papers.splm.comparison                # n = 50
    python -m zoviz.papers.splm.comparison --n 50 100     # n = 100 takes several times as long
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.estimators import Sphere
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.columns import CALLS, STATIONARITY
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.solvers.step_rules import FAR

PAPER = {
    "ZOSPLM": {50: 496, 100: 1309, 200: 1962},
    "SZOConEX": {50: 1374, 100: 9620, 200: 14283},
    "ZOALM": {50: 2066, 100: 10850, 200: 29073},
}
"""Iterations that Table 2 prints, mean of 20 trials."""
PRIMAL = (0.5, 0.7, 1.0, 1.4, 2.0)
DUAL = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Grids of the primal step, in units of 1 / L_f, and of the dual step, in units of L_f / G_0^2."""
FINALISTS = 2
"""Grid points of the short search that are run in full."""
LIMIT = 3000
"""Iterations after which a run is given up."""
RADIUS = 1e-5
"""Smoothing radius of every method, as in the paper."""


class Trial(NamedTuple):
    """Iterations to the target per replica (R,), NaN where the budget ended first; calls and seconds per iteration."""

    iterations: np.ndarray
    calls: float
    seconds: float


class Settings(NamedTuple):
    """The settings of one instance of the problem and of the runs on it."""

    n: int
    instance: int
    seed: int
    replicas: int
    batch: int


def trial(method: str, steps: tuple[float, float] | None, settings: Settings, limit: int) -> Trial:
    """Run one method at one grid point, or, for None, with the steps of its own rule."""
    problem = NonconvexQCQP(n=settings.n, seed=settings.instance)
    solver = discover("zoviz.solvers", Solver)[method]()
    solver.estimator = Sphere(smoothing_radius=RADIUS, batch_size=settings.batch)
    # Constant steps from the first iteration on, as published.
    for name, value in (("step_reach", FAR), ("restoration", 0), ("augmentation", False)):
        if name in solver.param:
            solver.set(name, value)
    if steps is not None:
        constants = problem.data.constants
        solver.set("primal_step", steps[0] / constants.curvature)
        dual = steps[1] * constants.curvature / constants.start_slope**2
        for name in {"dual_step", "penalty"} & set(solver.param):
            solver.set(name, dual)
    run = Run(
        problem=problem,
        solver=solver,
        replicas=settings.replicas,
        seed=settings.seed,
        iterations=limit,
        targets={STATIONARITY: 1.0},
        stop_at_targets=True,
    )
    result = run.run()
    spent = run.trace[CALLS][-1] - run.trace[CALLS][0]
    per_iteration = float(spent.max()) / max(result.nit, 1)
    return Trial(run.hits[0].iteration, per_iteration, run.progress.seconds / max(result.nit, 1))


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of ``values`` (R,) and its standard error; infinite where a replica has none."""
    if np.isnan(values).any():
        return np.inf, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.nan


def search(method: str, settings: Settings) -> list[tuple[float, float]]:
    """Return the grid points from the fewest iterations up; a run that falls behind is cut short."""
    means: dict[tuple[float, float], float] = {}
    for steps in itertools.product(PRIMAL, DUAL):
        best = min(means.values(), default=np.inf)
        limit = int(min(LIMIT, 300 if np.isinf(best) else 1.5 * best))
        means[steps] = mean_and_error(trial(method, steps, settings, limit).iterations)[0]
    return [steps for steps in sorted(means, key=means.__getitem__) if np.isfinite(means[steps])][:FINALISTS]


def compare(n: int, seed: int, replicas: int, batch: int) -> dict[str, float]:
    """Print the table for one n; return the mean iterations at the best grid point by method."""
    full, best = Settings(n, seed, seed, replicas, batch), {}
    print(f"\nn = {n}, instance {seed}, k = {batch}, {replicas} replicas", flush=True)
    print("      method    steps (primal, dual)  iterations  ± s.e.  slowest  calls/it    s/it   paper", flush=True)
    for method in PAPER:
        if method not in discover("zoviz.solvers", Solver):
            print(f"{method:>12}  not among the solvers of this version: left out", flush=True)
            continue
        line(method, "its own rule", trial(method, None, full, LIMIT), n)
        candidates = search(method, Settings(n, seed, seed + 1, 4, max(batch // 20, 1)))
        trials = {steps: trial(method, steps, full, LIMIT) for steps in candidates}
        if not trials:
            print(f"{method:>12}  no grid point got there within {LIMIT} iterations", flush=True)
            continue
        steps = min(trials, key=lambda key: mean_and_error(trials[key].iterations)[0])
        line(method, f"grid {steps}", trials[steps], n)
        edge = [name for name, i, axis in (("primal", 0, PRIMAL), ("dual", 1, DUAL)) if steps[i] in (axis[0], axis[-1])]
        if edge:
            print(f"{'':>12}  the {' and '.join(edge)} step lies on the edge of the grid", flush=True)
        mean, _ = mean_and_error(trials[steps].iterations)
        if np.isfinite(mean):
            best[method] = mean
    verdict(n, best)
    return best


def line(method: str, steps: str, outcome: Trial, n: int) -> None:
    """Print a method's row; replicas that missed the target are counted in it."""
    mean, error = mean_and_error(outcome.iterations)
    missing = int(np.isnan(outcome.iterations).sum())
    slowest = np.nan if missing == outcome.iterations.size else np.nanmax(outcome.iterations)
    note = f"  {missing} of {outcome.iterations.size} replicas did not get there" if missing else ""
    print(
        f"{method:>12} {steps:>23} {mean:11.1f} {error:7.2f} {slowest:8.0f} {outcome.calls:9.1f} "
        f"{outcome.seconds:7.3f} {PAPER[method].get(n, np.nan):7.0f}{note}",
        flush=True,
    )


def verdict(n: int, best: dict[str, float]) -> None:
    """Print each method's iterations over ZO-SPLM's, all at their best steps, beside the paper's ratio."""
    for method in [name for name in best if name != "ZOSPLM" and "ZOSPLM" in best]:
        ratio, paper = best[method] / best["ZOSPLM"], PAPER[method].get(n, np.nan) / PAPER["ZOSPLM"].get(n, np.nan)
        word = "reproduced" if ratio >= 0.8 * paper else "in kind, not in size" if ratio > 1.05 else "not reproduced"
        print(
            f"{method} needs {ratio:.2f} times ZO-SPLM's iterations; the paper's ratio {paper:.2f}: {word}", flush=True
        )


def main() -> None:
    """Print the comparison for every n that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[50], help="variables")
    parser.add_argument("--seed", type=int, default=0, help="instance")
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--batch", type=int, default=10_000, help="directions k")
    options = parser.parse_args()
    for n in options.n:
        started = time.perf_counter()
        compare(n, options.seed, options.replicas, options.batch)
        print(f"{time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
