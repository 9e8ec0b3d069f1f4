"""Random instances on which the stable ends of steps are tried: within them nothing diverges, far beyond most does.

``python -m zoviz.diagnosis.stable_steps`` prints, for 100 instances and steps of 0.5, 0.9 and 4 times the stable end at
the solution's multipliers, the share whose gap or violation rose beyond 10 times the start; two minutes or so.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.core.types import Iterate
from zoviz.estimators import Sphere
from zoviz.problems.base import Problem
from zoviz.runs.engine import columns
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver

FACTORS = (0.5, 0.9, 4.0)
WORSE = 10.0
"""Times the start, from which on a run has diverged."""
ITERATIONS = 300


def instances(count: int, n: int = 8) -> list[Problem]:
    """Return random instances whose solution and constants are known, nonconvex and convex ones in turn."""
    known = discover("zoviz.problems", Problem)
    drawn = (known[name](n=n, seed=seed) for seed in itertools.count() for name in ("NonconvexQCQP", "ConexQCQP"))
    return list(itertools.islice((one for one in drawn if one.known_optimum is not None), count))


def plain(**parameters: Any) -> Solver:
    """Return the method as published, without the safeguards that keep long steps from diverging."""
    exact = Sphere(smoothing_radius=1e-5, batch_size=8, sweep=True)
    form: dict[str, Any] = {"restoration": 0, "augmentation": False, "step_reach": 1e9}
    return discover("zoviz.solvers", Solver)["ZOSPLM"](estimator=exact, **(form | parameters))


def diverges(problem: Problem, factor: float) -> bool:
    """Return whether a run with a step of so many times the stable end at the solution diverges."""
    first = Run(problem, plain(), replicas=1, iterations=0, seed=1)
    first.run()
    solver, optimum, constants = plain(), problem.known_optimum, problem.constants
    for name, value in first.resolved.items():
        solver.set(name, value)
    if optimum is None or constants is None:
        raise ZovizError(f"Expected an instance whose solution is known, got a {type(problem).__name__}.")
    solution = Iterate(optimum.point[None], dual=optimum.multipliers[None])
    solver.set("primal_step", factor * solver.limits(constants, solution)["primal_step"].stable)
    run = Run(problem, solver, replicas=1, iterations=ITERATIONS, seed=1)
    run.run()
    rows = run.trace.snapshot().columns
    gap, violation = np.abs(rows[columns.GAP][:, 0]), rows[columns.VIOLATION][:, 0]
    # A start that is feasible has no violation to compare with: what a typical point of X has stands for it.
    typical = problem.evaluate(problem.initial(Streams(0, 64))).h
    scale = max(violation[0], float(np.abs(typical).max(axis=1, initial=0.0).mean()))
    return bool(run.divergences or np.nanmax(gap) > WORSE * gap[0] or np.nanmax(violation) > WORSE * scale)


def share(factor: float, count: int) -> float:
    """Return the share of ``count`` instances that diverge."""
    return float(np.mean([diverges(problem, factor) for problem in instances(count)]))


def main(arguments: list[str] | None = None) -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100)
    count: int = parser.parse_args(arguments).instances
    for factor in FACTORS:
        print(f"{factor:g} times the stable end: {share(factor, count):.0%} of {count} instances diverge", flush=True)


if __name__ == "__main__":
    main()
