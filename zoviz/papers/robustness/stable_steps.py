"""Steps within and beyond the stable ends of methods: within them nothing diverges, far beyond most does.

Methods are as published, without the safeguards that keep long steps from diverging, with exact differences. A run
diverges where its gap or violation rises beyond ten times the start.

    zoviz reproduce robustness-stable-steps --full                     # two minutes or so a method
    zoviz reproduce robustness-stable-steps --full --only solver=ZOSPLM factor=0.9
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

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
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across

FACTORS, KINDS = (0.5, 0.9, 4.0), ("NonconvexQCQP", "ConexQCQP")
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


def instance(problem: str, seed: int, name: str = "ZOSPLM", n: int = 8) -> Problem | None:
    """Return a random instance of a kind of problem; None where a method refuses it or its solution is not known."""
    drawn = discover("zoviz.problems", Problem)[problem](n=n, seed=seed)
    return drawn if drawn.known_optimum is not None and plain(name).accepts(drawn) is None else None


def plain(name: str = "ZOSPLM") -> Solver:
    """Return a method as published, without the safeguards that keep long steps from diverging, on exact gradients."""
    kind = discover("zoviz.solvers", Solver)[name]
    exact = Sphere(smoothing_radius=1e-5, batch_size=8, directions="sweep")
    # Differences along coordinates are exact as they are.
    estimator: dict[str, Any] = {"estimator": exact} if Sphere in kind.families else {}
    return kind.published(**estimator, **EXACT[name])


def diverges(problem: Problem, factor: float, name: str = "ZOSPLM") -> bool:
    """Return whether a run with ``factor`` times the largest stable step at the solution diverges."""
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


class StableSteps(Trials):
    """Runs with steps of a multiple of the stable end."""

    title = "robustness stable steps"
    subject = "Runs that diverge, in per cent, by the step in stable ends at the solution's multipliers"
    protocol = f"As published, exact differences, {ITERATIONS} iterations."
    sizes: ClassVar = {
        "quick": {"solver": ("ZOGDA",), "factor": (0.9, 4.0), "problem": ("ConexQCQP",), "seed": (0,)},
        "full": {"solver": tuple(EXACT), "factor": FACTORS, "problem": KINDS, "seed": tuple(range(50))},
    }
    lines = ("solver",)

    def trial(self, solver: str, factor: float, problem: str, seed: int) -> Figures:
        drawn = instance(problem, seed, solver)
        return {"diverges": None if drawn is None else diverges(drawn, factor, solver)}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        tried = [row for row in rows if row["diverges"] is not None]
        return across(tried, "factor", lambda own: f"{100.0 * np.mean([row['diverges'] for row in own]):.0f}")
