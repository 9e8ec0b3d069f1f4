"""Random instances on which the stable ends of steps are tried: within them nothing diverges, far beyond most does.

``python -m zoviz.diagnosis.stable_steps`` prints, for every method that declares limits, 100 instances and steps of
0.5, 0.9 and 4 times the stable end at the solution's multipliers, the share whose gap or violation rose beyond 10 times
the start; two minutes or so a method.
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
EXACT: dict[str, dict[str, Any]] = {
    "ZOSPLM": {"estimate_proximal": False},
    "SZOConEX": {"directions": "shared", "value": "base", "dual_cap": None, "report": "last"},
    "ZOGDA": {},
    "ZOALM": {},
    "ZOEG": {"dual": "exact", "report": "last"},
    "ZOCEG": {"report": "last"},
    "ZOBCEG": {"report": "last"},
}
"""What methods have beside what is published, for exact gradients, the rule's bounds and the end of the course."""


def instances(count: int, name: str = "ZOSPLM", n: int = 8) -> list[Problem]:
    """Return random instances that a method accepts, whose solution is known, nonconvex and convex ones in turn."""
    known, solver = discover("zoviz.problems", Problem), plain(name)
    drawn = (known[kind](n=n, seed=seed) for seed in itertools.count() for kind in ("NonconvexQCQP", "ConexQCQP"))
    fit = (one for one in drawn if one.known_optimum is not None and solver.accepts(one) is None)
    return list(itertools.islice(fit, count))


def plain(name: str = "ZOSPLM") -> Solver:
    """Return a method as published, without the safeguards that keep long steps from diverging, on exact gradients."""
    kind = discover("zoviz.solvers", Solver)[name]
    exact = Sphere(smoothing_radius=1e-5, batch_size=8, directions="sweep")
    # Differences along coordinates are exact as they are.
    estimator: dict[str, Any] = {"estimator": exact} if Sphere in kind.families else {}
    return kind.published(**estimator, **EXACT[name])


def diverges(problem: Problem, factor: float, name: str = "ZOSPLM") -> bool:
    """Return whether a run with a step of so many times the stable end at the solution diverges."""
    first = Run(problem, plain(name), replicas=1, iterations=0, seed=1)
    first.run()
    solver, optimum, constants = plain(name), problem.known_optimum, problem.constants
    for parameter, value in first.resolved.items():
        solver.set(parameter, value)
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


def share(factor: float, count: int, name: str = "ZOSPLM") -> float:
    """Return the share of ``count`` instances that diverge."""
    return float(np.mean([diverges(problem, factor, name) for problem in instances(count, name)]))


def main(arguments: list[str] | None = None) -> None:
    """Print the share of instances that diverge, for every method and step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--solvers", nargs="+", choices=list(EXACT), default=list(EXACT))
    options = parser.parse_args(arguments)
    for name in options.solvers:
        for factor in FACTORS:
            lost = share(factor, options.instances, name)
            print(
                f"{name}, {factor:g} times the stable end: {lost:.0%} of {options.instances} instances diverge",
                flush=True,
            )


if __name__ == "__main__":
    main()
