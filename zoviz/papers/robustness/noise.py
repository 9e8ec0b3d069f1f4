r"""Every solver of our own on paper conex's quadratic programme under its own noise, told nothing but its defaults.

100 replicas of each on ``ConexQCQP`` with n = 50 and noise of standard deviation 1 on every value, normal or Student's
with 5 degrees of freedom, drawn anew for every value (independent) or once an iteration (common). Printed are the
replicas that the guard stopped, and those whose last objective is farther from the optimal value than the start's or
whose violation is larger than the start's largest, beside the median and the worst share of the start's gap that is
left. The gap of a point that is not feasible may be negative: its size counts.

With seed 1 none of the 4400 is stopped or ends worse: in the median 0.02 to 0.23 of the gap is left under independent
noise (DSZOG 0.5) and 0.001 to 0.05 under common noise (DSZOG 0.1).

    zoviz reproduce robustness-noise --full                          # 5000 calls a replica, some minutes
    zoviz reproduce robustness-noise --full --only solver=ZOSPLM contract=independent
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from zoviz import solvers
from zoviz.core.errors import OracleError
from zoviz.papers.robustness.guard import CONSTRAINED
from zoviz.problems import ConexQCQP
from zoviz.runs.engine.columns import GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

N, SIGMA, REPLICAS = 50, 1.0, 100
Contract = Literal["independent", "common"]
Law = Literal["normal", "student_t"]
CONTRACTS: tuple[Contract, ...] = ("independent", "common")
LAWS: tuple[Law, ...] = ("normal", "student_t")
SOLVERS = (*(one.__name__ for one in CONSTRAINED), "ProximalPoint")


def outcome(
    solver: Solver, contract: Contract, law: Law, calls: int, seed: int = 1, replicas: int = REPLICAS
) -> Figures:
    """Run a solver by its defaults, and count.

    Returns
    -------
    dict
        ``stopped`` by the guard, or failed; ``worse``: ended farther from the optimal value than begun, or outside of
        all starts' violations; ``median`` and ``worst`` share of the start's gap that is left.
    """
    problem = ConexQCQP(n=N, noise=contract, noise_scale=SIGMA, noise_distribution=law)
    run = Run(problem, solver, replicas=replicas, calls=calls, seed=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.run()
    except OracleError:
        if run.state is None:
            return {"stopped": replicas, "worse": replicas, "median": np.inf, "worst": np.inf}
    gap, violation = np.abs(run.trace[GAP]), run.trace[VIOLATION]
    share = np.where(np.isfinite(gap[-1]), gap[-1] / gap[0], np.inf)
    worse = ~(share <= 1.0) | ~(violation[-1] <= max(violation[0].max(), SIGMA))
    left = {"median": float(np.median(share)), "worst": float(share.max())}
    return {"stopped": run.frozen, "worse": int(worse.sum()), **left}


class Noise(Trials):
    """Every solver of our own under paper conex's noise."""

    title = "robustness noise"
    subject = "Solvers of our own by their defaults under paper conex's noise"
    protocol = (
        f"{REPLICAS} replicas of each: those stopped, those that end worse than they began, shares of the gap left."
    )
    sizes: ClassVar = {
        "quick": {"contract": ("common",), "law": LAWS, "solver": ("ZOSPLM",), "calls": (300,)},
        "full": {"contract": CONTRACTS, "law": LAWS, "solver": SOLVERS, "calls": (5000,)},
    }
    lines = ("contract", "law", "solver")

    def trial(self, contract: Contract, law: Law, solver: str, calls: int) -> Figures:
        return outcome(getattr(solvers, solver)(), contract, law, calls)

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        (one,) = rows
        counts = {name: str(one[name]) for name in ("stopped", "worse")}
        return counts | {"median left": f"{one['median']:.2g}", "worst": f"{one['worst']:.2g}"}
