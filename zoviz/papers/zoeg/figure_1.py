"""Paper zoeg, Fig. 1: its claims about ZOEG, SZO-ConEX and ZOGDA on load tracking, with two schedules of steps.

One direction in each estimate, as published: 4, 4 and 2 oracle calls per iteration; equal budgets of calls. Figures are
means over replicas and the last tenth of the budget. Every method has its best constant steps of one grid: those with
the smallest sum of the relative error and the violation (as a share of its start); and, of another, the diminishing
steps with the smallest larger one of the two ratios, error to error and violation to violation, to those: so that both
are improved where any can do it. The grids are searched with other starts than the runs reported; a star marks their
edge.

    python -m zoviz.papers.zoeg.figure_1      # some minutes
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.estimators import Gaussian, GradientEstimator, Sphere
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import ITERATION, RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver

METHODS: dict[str, tuple[type[GradientEstimator], dict[str, Any]]] = {
    "ZOEG": (Sphere, {}),
    "SZOConEX": (Gaussian, {"directions": "separate"}),
    "ZOGDA": (Sphere, {}),
}
SCHEDULES = ("constant", "diminishing")
PRIMAL = {"constant": (2e-4, 5e-4, 1e-3, 2e-3, 4e-3), "diminishing": (5e-3, 0.01, 0.02, 0.05, 0.1)}
RATIO = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Primal steps, and dual step over primal step."""
LEVEL = 5.0
"""Violation in kW whose first hit says how fast a method is in violation: a third of a per cent of D."""


class Outcome(NamedTuple):
    """Relative error and violation at the end of the budget, and calls to the first hits of LEVEL and 5 %; each (R,).

    And the sum of the relative error and of the violation as a share of its mean at the start.
    """

    error: np.ndarray
    violation: np.ndarray
    feasible_at: np.ndarray
    near_at: np.ndarray
    sum: np.ndarray


def solve(
    method: str, schedule: str, steps: tuple[float, float], problem: LoadTracking, replicas: int, seed: int, calls: int
) -> Outcome:
    """Run one method with one schedule at one grid point."""
    family, options = METHODS[method]
    solver = discover("zoviz.solvers", Solver)[method](
        primal_step=steps[0],
        dual_step=steps[0] * steps[1],
        schedule=schedule,
        estimator=family(smoothing_radius=1e-3, batch_size=1),
        **options,
    )
    targets = {VIOLATION: LEVEL, RELATIVE_GAP: 0.05}
    run = Run(problem=problem, solver=solver, replicas=replicas, seed=seed, calls=calls, targets=targets)
    run.run()
    end = max(1, len(run.trace[ITERATION]) // 10)
    error, violation = (run.trace[name][-end:].mean(axis=0) for name in (RELATIVE_GAP, VIOLATION))
    hits = {hit.metric: hit.calls for hit in run.hits}
    both = error + violation / run.trace[VIOLATION][0].mean()
    return Outcome(error, violation, hits[VIOLATION], hits[RELATIVE_GAP], both)


Steps = tuple[float, float]
SEARCHERS = 10
"""Replicas of a grid search."""
FLOOR = 1.0
"""Violation in kW below which a search makes no difference, a level of the paper's Table 2."""


def search(
    method: str, schedule: str, rival: Outcome | None, problem: LoadTracking, calls: int
) -> tuple[Steps, Outcome]:
    """Return the best grid point and its outcome: by the sum, or by the larger ratio to a rival's figures."""
    grid = list(itertools.product(PRIMAL[schedule], RATIO))
    trials = {steps: solve(method, schedule, steps, problem, SEARCHERS, 1, calls) for steps in grid}

    def score(steps: Steps) -> float:
        one = trials[steps]
        if rival is None:
            return float(np.nan_to_num(one.sum.mean(), nan=np.inf))
        in_error = one.error.mean() / rival.error.mean()
        in_violation = (one.violation.mean() + FLOOR) / (rival.violation.mean() + FLOOR)
        return float(np.nan_to_num(max(in_error, in_violation), nan=np.inf))

    best = min(grid, key=score)
    return best, trials[best]


def report_at(method: str, schedule: str, steps: Steps, problem: LoadTracking, replicas: int, calls: int) -> Outcome:
    """Run a method at a grid point, print its figures, and return the outcome."""
    outcome = solve(method, schedule, steps, problem, replicas, 0, calls)
    edge = steps[0] in (PRIMAL[schedule][0], PRIMAL[schedule][-1]) or steps[1] in (RATIO[0], RATIO[-1])
    cells = [figure(values) for values in outcome[:4]]
    print(f"{method:>9} {schedule:>12} {steps!s:>14}{'*' if edge else ' '} " + " ".join(f"{c:>20}" for c in cells))
    return outcome


def figure(values: np.ndarray) -> str:
    """Return "mean ± standard error" of ``values`` (R,) as text, with the number of replicas that are missing."""
    there = values[np.isfinite(values)]
    if there.size < 2:
        return f"{there.size} of {values.size} got there"
    text = f"{there.mean():.4g} ± {there.std(ddof=1) / np.sqrt(there.size):.2g}"
    return text if there.size == values.size else f"{text} ({there.size}/{values.size})"


def difference(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return the mean of a - b over replicas that share their starts, each (R,), and its standard error."""
    gap = a - b
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(gap.size))


def below(a: np.ndarray, b: np.ndarray) -> str:
    """Return whether a (R,) is below b (R,) by two standard errors: "yes", "no" (above), or "undecided"."""
    mean, error = difference(a, b)
    return "undecided" if not abs(mean) > 2.0 * error else "yes" if mean < 0 else "no"


def verdicts(outcomes: dict[tuple[str, str], Outcome], calls: int) -> None:
    """Print the paper's three claims, each with the figures that decide on it."""
    present = sorted({method for method, _ in outcomes})
    print("\nclaim 1: diminishing steps improve all (difference DS - CS at the end)")
    for method in present:
        cs, ds = outcomes[method, "constant"], outcomes[method, "diminishing"]
        for name in ("error", "violation"):
            a, b = getattr(ds, name), getattr(cs, name)
            mean, error = difference(a, b)
            print(f"  {method:>9} {name:>10}: {mean:+.3g} ± {error:.2g}, improved: {below(a, b)}")
    print("claim 2: SZO-ConEX is faster in violation and worse in relative error")
    for other, schedule in itertools.product([m for m in present if m != "SZOConEX"], SCHEDULES):
        mine, its = outcomes["SZOConEX", schedule], outcomes[other, schedule]
        a, b = (np.where(np.isnan(one.feasible_at), calls, one.feasible_at) for one in (mine, its))
        fast, near = below(a, b), below(its.error, mine.error)
        print(
            f"  against {other:>5}, {schedule}: faster to {LEVEL:g} kW: {fast} ({figure(a)} and {figure(b)} calls); "
            f"worse in error: {near} ({figure(mine.error)} and {figure(its.error)})"
        )
    if "ZOGDA" in present:
        print("claim 3: ZOEG is about as good as ZOGDA (ratio of mean errors within a factor 1.5)")
        for schedule in SCHEDULES:
            a, b = outcomes["ZOEG", schedule].error, outcomes["ZOGDA", schedule].error
            ratio = a.mean() / b.mean()
            same = "yes" if 1 / 1.5 <= ratio <= 1.5 else "no"
            print(f"  {schedule}: {figure(a)} and {figure(b)}, ratio {ratio:.2f}: {same}")


def report(instance: int, replicas: int, calls: int = 10_000) -> None:
    """Search the grids, then print the figures and whether they agree with the paper's claims."""
    problem = LoadTracking(seed=instance)
    heads = ("error at the end", "violation at the end", f"calls to {LEVEL:g} kW", "calls to 5 %")
    print(f"{'method':>9} {'schedule':>12} {'(step, ratio)':>14}  " + " ".join(f"{head:>20}" for head in heads))
    outcomes = {}
    for method in METHODS:
        if method not in discover("zoviz.solvers", Solver):
            print(f"{method:>9} is not among the solvers of this version: left out")
            continue
        rival = None
        for schedule in SCHEDULES:
            steps, rival = search(method, schedule, rival, problem, calls)
            outcomes[method, schedule] = report_at(method, schedule, steps, problem, replicas, calls)
    verdicts(outcomes, calls)


def main() -> None:
    """Print the report for the instance and sizes that the command line gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--calls", type=int, default=10_000, help="budget of oracle calls per run")
    parser.add_argument("--instance", type=int, default=0, help="seed of a, b, u and gamma")
    options = parser.parse_args()
    report(options.instance, options.replicas, options.calls)


if __name__ == "__main__":
    main()
