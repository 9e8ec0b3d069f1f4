"""Paper zoeg, Table 1: the error at oracle calls of order d, of ZOEG beside SZO-ConEX and OGDA-RR.

The table has calls of order d for ZOEG and its kin, d^2 for SZO-ConEX and d^4 for OGDA-RR. All take the same number of
iterations, of order d, on load tracking with d users, with the same steps of order 1 / d and one direction; each is
judged by the test for ZOEG. The orders in eps are those of the theorems (zoeg-theorems).
"""

from __future__ import annotations

from typing import Any

from zoviz.core.types import Array
from zoviz.estimators import Gaussian, Sphere
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.zoeg.convergence import ERROR, FIRST_SEED, RADIUS, USERS, error
from zoviz.problems import LoadTracking
from zoviz.runs.run import Run
from zoviz.solvers import OGDARR, ZOEG, Solver, SZOConEX

OURS, SEPARATE, SHARED, OGDA = "ZOEG", "SZOConEX", "SZOConEX, shared directions", "OGDARR"
ROUNDS, SCALE = 40, 0.2
"""Iterations over d, and the primal step times d: those of the experiment zoeg-dimension."""


def solver_of(method: str, problem: LoadTracking) -> Solver:
    """Return a method with the steps of the experiment zoeg-dimension."""
    step = SCALE / problem.n
    steps: dict[str, Any] = {"primal_step": step, "dual_step": step * USERS / problem.n}
    cap = 4.0 * float(problem.known_optimum.multipliers[0])
    if method in (SEPARATE, SHARED):
        estimator = Gaussian(smoothing_radius=RADIUS, batch_size=1)
        return SZOConEX.published(
            estimator=estimator, dual_cap=cap, directions="shared" if method == SHARED else "separate", **steps
        )
    return (ZOEG if method == OURS else OGDARR).published(
        estimator=Sphere(smoothing_radius=RADIUS, batch_size=1), dual_cap=cap, **steps
    )


class Complexities(RateExperiment):
    """Table 1: what each method's error does at calls of order d."""

    first_seed = FIRST_SEED
    title = "zoeg Table 1"
    subject = "The error of the averaged iterate at oracle calls of order d, of ZOEG, SZO-ConEX and OGDA-RR"
    printed = "Calls of order d / eps^2 of ZOEG, d^2 / eps^2 of SZO-ConEX, d^4 / eps^2 of OGDA-RR; no figures."
    protocol = (
        "LoadTracking with d users, drawn instances and starts, 40 d iterations, steps 0.2 / d, one direction; nothing "
        "is tuned. OGDA-RR is our implementation."
    )
    variable = "d"
    sizes = {
        "quick": {"horizons": [20, 40], "instances": 3},
        "full": {"horizons": [20, 30, 46, 70, 106, 160], "instances": 12},
    }

    def rates(self) -> list[Rate]:
        says = "at calls of order d the error of ZOEG does not grow, and that of"
        return [
            Rate("Table 1", f"{says} {name} does", "at calls of order d", ERROR, 0.0, OURS, name)
            for name in (SEPARATE, SHARED, OGDA)
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the error (1,) with d users, the mean over starts."""
        problem = LoadTracking(n=horizon, seed=seed)
        run = Run(problem=problem, solver=solver_of(method, problem), seed=seed, iterations=ROUNDS * horizon)
        run.run()
        return {ERROR: error(run.result.x, problem).mean(keepdims=True)}
